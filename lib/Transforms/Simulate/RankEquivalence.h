//===- RankEquivalence.h - ranks that do the same work ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The criterion by which ranks are equivalent, apart from the groups in which
// they communicate. The workload builder gives it to sim::foldRanks.
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

/// Differences between the work of ranks of one job: their stage, the sizes of
/// uneven shards, the share of causal attention that they compute, and values
/// that only some coordinates hold.
class RankEquivalence {
public:
  RankEquivalence(llvm::ArrayRef<FlatProgram> programs, const dist::Mesh &mesh,
                  std::optional<dist::Axis> pipelineAxis);

  /// Returns, for every device axis, true if ranks differ along it.
  std::vector<bool> differingAxes() const;
  /// Returns a key of the work of a rank: ranks with equal keys do the same
  /// work on equal sizes. `coordinates` has one entry per device axis.
  std::vector<int64_t> colourOf(llvm::ArrayRef<int64_t> coordinates) const;

private:
  void inspect(mlir::Type type);
  void inspect(mlir::Operation *op);
  /// Returns the share of its points that the rank at `coordinates`, with
  /// `micro` first, visits in `kernel`, as the bits of a double. Ranks with
  /// equal coordinates along `axes` have equal shares.
  int64_t shareOf(nn::IterationSpaceOpInterface kernel,
                  const dist::AxisList &axes,
                  llvm::ArrayRef<int64_t> coordinates) const;

  const dist::Mesh &mesh;
  std::optional<dist::Axis> pipelineAxis;
  /// Sizes that do not divide evenly over axes.
  std::set<std::pair<int64_t, dist::AxisList>> uneven;
  /// Coordinates to which values are restricted, with their axes.
  llvm::SetVector<std::pair<dist::Axis, int64_t>> places;
  /// Kernels that skip some of their points, with the axes along which the
  /// skipped share differs. One kernel represents all with the same name, types
  /// and share.
  llvm::MapVector<std::tuple<mlir::OperationName, mlir::Type, int64_t>,
                  std::pair<nn::IterationSpaceOpInterface, dist::AxisList>>
      skipping;
  /// Results of `shareOf`, by kernel and position along its axes.
  mutable llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, int64_t> shares;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_RANKEQUIVALENCE_H
