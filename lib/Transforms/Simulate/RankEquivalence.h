//===- RankEquivalence.h - ranks that do the same work ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// What makes ranks of one job different from each other, apart from whom they
/// communicate with: their stage, uneven parts, work that depends on the part,
/// and things that are at one place only.
class RankEquivalence {
public:
  RankEquivalence(llvm::ArrayRef<FlatProgram> programs, const dist::Mesh &mesh,
                  std::optional<dist::Axis> pipelineAxis);

  /// Per device axis: whether ranks differ along it.
  std::vector<bool> differingAxes() const;
  /// Ranks of equal colours do the same work on equal sizes. `coordinates`: one
  /// per device axis.
  std::vector<int64_t> colourOf(llvm::ArrayRef<int64_t> coordinates) const;

private:
  void inspect(mlir::Type type);
  void inspect(mlir::Operation *op);
  /// What the rank at `coordinates`, with `micro` first, visits of `kernel`, as
  /// bits. Ranks of equal coordinates along `axes` visit the same.
  int64_t shareOf(nn::IterationSpaceOpInterface kernel,
                  const dist::AxisList &axes,
                  llvm::ArrayRef<int64_t> coordinates) const;

  const dist::Mesh &mesh;
  std::optional<dist::Axis> pipelineAxis;
  /// Sizes that do not divide evenly over axes.
  std::set<std::pair<int64_t, dist::AxisList>> uneven;
  llvm::SetVector<std::pair<dist::Axis, int64_t>> places;
  /// Operations that skip some of their work, not the same on all ranks, and
  /// the axes along which it differs; one stands for all of the same types and
  /// share.
  llvm::MapVector<std::tuple<mlir::OperationName, mlir::Type, int64_t>,
                  std::pair<nn::IterationSpaceOpInterface, dist::AxisList>>
      skipping;
  /// By operation and part.
  mutable llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, int64_t> shares;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_RANKEQUIVALENCE_H
