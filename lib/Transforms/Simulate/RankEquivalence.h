//===- RankEquivalence.h - ranks that do the same work ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the work of ranks, but not their communication. The workload builder
// passes the result to sim::foldRanks, which folds ranks if their work and
// their groups are equivalent.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_RANKEQUIVALENCE_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_RANKEQUIVALENCE_H

#include "FlatProgram.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/SetVector.h"

#include <set>
#include <vector>

namespace proteus {

/// Finds differences between the work of the ranks of a job. Ranks can differ
/// in four properties: their stage, the sizes of uneven shards, the share of
/// their points that they visit in causal attention, and values that exist only
/// at some coordinates.
class RankEquivalence {
public:
  RankEquivalence(llvm::ArrayRef<FlatProgram> programs, const dist::Mesh &mesh,
                  std::optional<dist::Axis> pipelineAxis);

  /// Returns one flag per device axis (every axis except `micro`): true if the
  /// work of ranks can differ along this axis.
  std::vector<bool> differingAxes() const;
  /// Returns a key of the work of the rank at `coordinates`: ranks with equal
  /// keys do the same work on equal sizes. `coordinates` has one entry per
  /// device axis.
  std::vector<int64_t> colourOf(llvm::ArrayRef<int64_t> coordinates) const;

private:
  void inspect(mlir::Type type);
  void inspect(mlir::Operation *op);
  /// Returns the share of its own points of `kernel` that the rank at
  /// `coordinates` visits, as the bits of a double. A causal mask makes the
  /// share smaller than 1. Ranks with equal coordinates along `axes` have equal
  /// shares. `coordinates` contains the coordinate of `micro`, then one per
  /// axis.
  int64_t shareOf(nn::IterationSpaceOpInterface kernel,
                  const dist::AxisList &axes,
                  llvm::ArrayRef<int64_t> coordinates) const;

  const dist::Mesh &mesh;
  std::optional<dist::Axis> pipelineAxis;
  /// Sizes of dimensions that are not split evenly, with the axes that split
  /// them.
  std::set<std::pair<int64_t, dist::AxisList>> uneven;
  /// Coordinates to which some value is restricted, each with its axis. The
  /// pipeline axis is not included.
  llvm::SetVector<std::pair<dist::Axis, int64_t>> places;
  /// Kernels that skip some of their points because of a causal mask, with the
  /// axes along which the skipped share differs. One entry represents all
  /// kernels with the same operation name, types and share.
  llvm::MapVector<std::tuple<mlir::OperationName, mlir::Type, int64_t>,
                  std::pair<nn::IterationSpaceOpInterface, dist::AxisList>>
      skipping;
  /// Results of `shareOf`, by kernel and position of the rank along the axes of
  /// the kernel.
  mutable llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, int64_t> shares;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_RANKEQUIVALENCE_H
