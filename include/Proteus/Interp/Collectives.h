//===- Collectives.h - collectives on tensors of ranks ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of the interpreter. Each function computes the result of a
// collective on every rank from the tensors of the ranks alone. No function
// reads the whole tensor, so a wrong collective in a program produces wrong
// results, which the check-lowering pass finds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_COLLECTIVES_H
#define PROTEUS_INTERP_COLLECTIVES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// The tensors of one value on all ranks. The index is the rank number.
using RankTensors = std::vector<Tensor>;

/// The ranks of one stage and their coordinates in the mesh. Rank numbers are 0
/// to size() - 1.
class RankGrid {
public:
  /// Creates the grid of the devices of `mesh` that have the coordinates
  /// `fixed`, a list of (axis, coordinate). The devices are in row-major order.
  /// On the time axis, all of them have the coordinate `micro`.
  RankGrid(const dist::Mesh &mesh,
           llvm::ArrayRef<std::pair<dist::Axis, int64_t>> fixed,
           int64_t micro = 0);
  /// Creates a grid of one device without a mesh.
  RankGrid() : coordinates(1) {}

  unsigned size() const { return coordinates.size(); }
  /// Returns the coordinates of `rank`, one per axis. Entry 0 is the coordinate
  /// on the time axis `micro`.
  llvm::ArrayRef<int64_t> getCoordinates(unsigned rank) const {
    return coordinates[rank];
  }
  /// Returns the group of `rank` along `axes`: `rank` and all ranks that differ
  /// from it only in coordinates of `axes`, ordered by these coordinates (first
  /// axis major).
  llvm::SmallVector<unsigned> getGroup(unsigned rank,
                                       llvm::ArrayRef<dist::Axis> axes) const;
  /// Returns the index of `rank` in its group along `axes`.
  unsigned getPosition(unsigned rank, llvm::ArrayRef<dist::Axis> axes) const;

private:
  std::vector<llvm::SmallVector<int64_t>> coordinates;
  llvm::SmallVector<int64_t> sizes;
};

/// Computes an all-reduce: every rank gets the reduction of the tensors of its
/// group along `axes`.
RankTensors allReduce(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      dist::ReductionKind kind);

/// Computes an all-gather: every rank gets the shards of its group, joined
/// along `dim`. `axes` are in the order in which they shard `dim`, major first.
RankTensors allGather(const RankGrid &grid, const RankTensors &input,
                      unsigned dim, const dist::AxisList &axes);

/// Computes a slice: every rank keeps its shard of dimension `dim`. An
/// all-reduce and a slice are a reduce-scatter. `axes` are
/// in the order in which they shard `dim` of the result, major first.
RankTensors sliceParts(const RankGrid &grid, const RankTensors &input,
                       unsigned dim, const dist::AxisList &axes);

/// Returns `size` elements of `block` from `begin` on, followed by zeros if the
/// block ends. The block counts as one list of elements, or as one for each
/// index of its first `leading` dimensions. The result has these dimensions,
/// then dimensions of size 1, and `size` elements in the last one.
Tensor flatPart(const Tensor &block, unsigned leading, int64_t begin,
                int64_t size);

/// Computes a slice of a flat cut: every rank keeps its part of its block, with
/// `size` elements. `axes` are in the order of the cut, major first.
RankTensors sliceFlat(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes, unsigned leading,
                      int64_t size);

/// Computes an all-gather of a flat cut: every rank gets the parts of its
/// group, joined and without padding, in the shape `shapes[rank]`, in which the
/// first `leading` dimensions have the sizes of the parts.
RankTensors gatherFlat(const RankGrid &grid, const RankTensors &input,
                       llvm::ArrayRef<dist::Axis> axes, unsigned leading,
                       llvm::ArrayRef<Shape> shapes);

/// Computes a ring shift: every rank gets the tensor of the preceding rank of
/// its group along `axes`. The first rank gets the tensor of the last rank.
RankTensors shiftParts(const RankGrid &grid, const RankTensors &input,
                       llvm::ArrayRef<dist::Axis> axes);

/// Computes an all-to-all: every rank cuts its tensor along `toDim`, sends one
/// part to each rank of its group, and joins the received parts along
/// `fromDim`. `fromAxes` shard `fromDim` before the collective; `toAxes` shard
/// `toDim` after it. Both lists contain the same axes, each in the order in
/// which they shard the dimension, major first.
RankTensors allToAll(const RankGrid &grid, const RankTensors &input,
                     unsigned fromDim, const dist::AxisList &fromAxes,
                     unsigned toDim, const dist::AxisList &toAxes);

/// Computes a permutation: every rank gets the block that it holds in the
/// layout `to`, from a rank of its group that holds this block in the layout
/// `from`. If ranks along `axes` hold replicas of a block, replica i in `to`
/// gets it from replica i in `from`.
RankTensors permute(const RankGrid &grid, const RankTensors &input,
                    llvm::ArrayRef<dist::Axis> axes, const dist::Layout &from,
                    const dist::Layout &to);

/// Computes a broadcast: every rank gets the tensor of the rank of its group
/// that has the coordinates `root` along `axes`.
RankTensors broadcast(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      llvm::ArrayRef<int64_t> root);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_COLLECTIVES_H
