//===- Collectives.h - data moved between ranks -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each collective by its own definition on what the ranks hold. Nothing here
// knows the whole tensor, so wrong data stay wrong.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_COLLECTIVES_H
#define PROTEUS_INTERP_COLLECTIVES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// One tensor per rank.
using RankTensors = std::vector<Tensor>;

/// The devices of one stage, each with its coordinates.
class RankGrid {
public:
  /// The devices of `mesh` at the fixed coordinates, row-major, at one
  /// coordinate of the time axis.
  RankGrid(const dist::Mesh &mesh,
           llvm::ArrayRef<std::pair<dist::Axis, int64_t>> fixed,
           int64_t micro = 0);
  /// One device that is on no mesh.
  RankGrid() : coordinates(1) {}

  unsigned size() const { return coordinates.size(); }
  /// Coordinates of a rank, one per axis with `micro` first.
  llvm::ArrayRef<int64_t> getCoordinates(unsigned rank) const {
    return coordinates[rank];
  }
  /// The ranks that differ from `rank` along `axes` only, the last axis
  /// fastest.
  llvm::SmallVector<unsigned> getGroup(unsigned rank,
                                       llvm::ArrayRef<dist::Axis> axes) const;
  /// Position of `rank` in its group.
  unsigned getPosition(unsigned rank, llvm::ArrayRef<dist::Axis> axes) const;

private:
  std::vector<llvm::SmallVector<int64_t>> coordinates;
  llvm::SmallVector<int64_t> sizes;
};

/// Every rank gets the reduction over its group.
RankTensors allReduce(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      dist::ReductionKind kind);

/// Every rank gets the parts of its group along `dim`, in the order of their
/// elements; `axes` in the order in which they shard it, major first.
RankTensors allGather(const RankGrid &grid, const RankTensors &input,
                      unsigned dim, const dist::AxisList &axes);

/// Every rank keeps its part along `dim`; `axes` as they shard the result.
RankTensors sliceParts(const RankGrid &grid, const RankTensors &input,
                       unsigned dim, const dist::AxisList &axes);

/// Every rank gets its part of the reduction over its group.
RankTensors reduceScatter(const RankGrid &grid, const RankTensors &input,
                          unsigned dim, const dist::AxisList &axes,
                          dist::ReductionKind kind);

/// Every rank gets what the one before it along `axes` holds, the first what
/// the last holds.
RankTensors shiftParts(const RankGrid &grid, const RankTensors &input,
                       llvm::ArrayRef<dist::Axis> axes);

/// Every rank sends to each of its group a part along `toDim`, and puts what it
/// gets in order along `fromDim`. Both lists hold the same axes, in
/// the order in which they shard the one dimension before and the other after.
RankTensors allToAll(const RankGrid &grid, const RankTensors &input,
                     unsigned fromDim, const dist::AxisList &fromAxes,
                     unsigned toDim, const dist::AxisList &toAxes);

/// Every rank gets the block of the member of its group that was, in the layout
/// `from`, what the rank is in `to`: in the part of every dimension, and among
/// the replicas along `axes`.
RankTensors permute(const RankGrid &grid, const RankTensors &input,
                    llvm::ArrayRef<dist::Axis> axes, const dist::Layout &from,
                    const dist::Layout &to);

/// Every rank gets what the member of its group at the coordinates `root`
/// holds.
RankTensors broadcast(const RankGrid &grid, const RankTensors &input,
                      llvm::ArrayRef<dist::Axis> axes,
                      llvm::ArrayRef<int64_t> root);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_COLLECTIVES_H
