//===- Collectives.h - collectives on tensors of ranks ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of the interpreter. Each function computes the result of a
// collective on every rank from the tensors of the ranks alone. It never reads
// the whole tensor, so that a program with a wrong collective gets wrong data.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_COLLECTIVES_H
#define PROTEUS_INTERP_COLLECTIVES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// Tensors of one value, one for each rank.
using RankTensors = std::vector<Tensor>;

/// The ranks of one stage and their coordinates.
class RankGrid {
public:
  /// Creates the grid of the devices of `mesh` at the `fixed` coordinates, in
  /// row-major order. All have the coordinate `micro` on the time axis.
  RankGrid(const dist::Mesh &mesh,
           llvm::ArrayRef<std::pair<dist::Axis, int64_t>> fixed,
           int64_t micro = 0);
  /// Creates a grid of one device without a mesh.
  RankGrid() : coordinates(1) {}

  unsigned size() const { return coordinates.size(); }
  /// Returns the coordinates of `rank`, one per axis, that of the time axis
  /// `micro` first.
  llvm::ArrayRef<int64_t> getCoordinates(unsigned rank) const {
    return coordinates[rank];
  }
  /// Returns the group of `rank` along `axes`: itself and all ranks that differ
  /// from it in coordinates of `axes` only, in row-major order.
  llvm::SmallVector<unsigned> getGroup(unsigned rank,
                                       llvm::ArrayRef<dist::Axis> axes) const;
  /// Returns the position of `rank` in its group along `axes`.
  unsigned getPosition(unsigned rank, llvm::ArrayRef<dist::Axis> axes) const;

private:
  std::vector<llvm::SmallVector<int64_t>> coordinates;
  llvm::SmallVector<int64_t> sizes;
};

/// Computes an all-reduce: every rank gets the reduction over its group.
RankTensors allReduce(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      dist::ReductionKind kind);

/// Computes an all-gather: every rank gets the shards of its group along `dim`,
/// in the order of their elements. `axes` are in the order in which they shard
/// `dim`, major first.
RankTensors allGather(const RankGrid &grid, const RankTensors &input,
                      unsigned dim, const dist::AxisList &axes);

/// Computes a slice: every rank keeps its shard along `dim`. `axes` are in the
/// order in which they shard the result.
RankTensors sliceParts(const RankGrid &grid, const RankTensors &input,
                       unsigned dim, const dist::AxisList &axes);

/// Computes a reduce-scatter: every rank gets its shard along `dim` of the
/// reduction over its group.
RankTensors reduceScatter(const RankGrid &grid, const RankTensors &input,
                          unsigned dim, const dist::AxisList &axes,
                          dist::ReductionKind kind);

/// Computes a ring shift: every rank gets the tensor of the preceding rank
/// along `axes`, and the first rank that of the last.
RankTensors shiftParts(const RankGrid &grid, const RankTensors &input,
                       llvm::ArrayRef<dist::Axis> axes);

/// Computes an all-to-all: every rank sends a part along `toDim` to each rank
/// of its group and concatenates the received parts along `fromDim`. Both lists
/// contain the same axes: `fromAxes` in the order in which they shard `fromDim`
/// before the collective, `toAxes` in the order in which they shard `toDim`
/// after it.
RankTensors allToAll(const RankGrid &grid, const RankTensors &input,
                     unsigned fromDim, const dist::AxisList &fromAxes,
                     unsigned toDim, const dist::AxisList &toAxes);

/// Computes a permutation: every rank gets the block that it holds in the
/// layout `to`, from the rank of its group that holds this block in the layout
/// `from`. If `axes` include replicating axes, the sender is the replica with
/// the position that the receiver has among its replicas.
RankTensors permute(const RankGrid &grid, const RankTensors &input,
                    llvm::ArrayRef<dist::Axis> axes, const dist::Layout &from,
                    const dist::Layout &to);

/// Computes a broadcast: every rank gets the tensor of the rank of its group
/// whose coordinates along `axes` are `root`.
RankTensors broadcast(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      llvm::ArrayRef<int64_t> root);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_COLLECTIVES_H
