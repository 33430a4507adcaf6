//===- GroupFamilies.h - groups that communicate ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_GROUPFAMILIES_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_GROUPFAMILIES_H

#include "CostRules.h"

#include "Proteus/Sim/Folding.h"

#include <map>

namespace proteus {

/// Identifies a collective of a family. Every group of the family runs it.
struct FamilyCollective {
  uint32_t family = 0;
  uint32_t collective = 0; ///< index into GroupFamily::collectives
};

/// Collects the groups of ranks that communicate and the collectives that they
/// run. A family is a set of disjoint groups that run the same collectives.
/// There is one family per set of axes, one per pair of a sending and a
/// receiving stage, and one per set of stages that together reduce a gradient.
class GroupFamilies {
public:
  GroupFamilies(dist::MeshAttr mesh, std::optional<dist::Axis> pipelineAxis,
                const CostRules &rules)
      : mesh(mesh), pipelineAxis(pipelineAxis), rules(rules) {}

  /// Returns the family and the collective of `task`, a communication in the
  /// program of `stage`. Adds them if they are new.
  FamilyCollective find(const FlatTask &task, int64_t stage);

  const std::vector<sim::GroupFamily> &getFamilies() const { return families; }

private:
  uint32_t familyOf(mlir::Operation *op, int64_t stage);
  int64_t bytesOf(const FlatTask &task) const;

  dist::MeshAttr mesh;
  std::optional<dist::Axis> pipelineAxis;
  const CostRules &rules;
  std::vector<sim::GroupFamily> families;
  /// Indices into `families`, by the axes and the stages of a family.
  std::map<std::pair<std::vector<unsigned>, std::vector<int64_t>>, uint32_t>
      familyNumbers;
  std::map<std::pair<uint32_t, sim::GroupCollective>, uint32_t>
      collectiveNumbers;
  llvm::DenseMap<std::pair<mlir::Operation *, int32_t>, FamilyCollective> known;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_GROUPFAMILIES_H
