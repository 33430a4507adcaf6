//===- GroupPlans.h - shared plans of equivalent groups ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the plans (net::Plan) of the collectives of all groups of a job.
// Equivalent groups share their plans. Folding.cpp uses the plans.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_GROUPPLANS_H
#define PROTEUS_LIB_SIM_GROUPPLANS_H

#include "Translations.h"

#include "Proteus/Sim/Folding.h"

#include <map>
#include <memory>
#include <vector>

namespace proteus::sim {

/// The plans of the collectives of a group. Groups of one family share a
/// GroupPlan if a shift by whole nodes and switches maps them onto each other.
/// The same shift then maps the links that these groups load onto each other.
struct GroupPlan {
  /// The device at the smallest position of the group for which the plans were
  /// made (GroupPlans::deviceOf).
  int64_t device = 0;
  std::unique_ptr<net::Communicator> communicator; ///< owns the loads
  std::vector<net::Plan> plans; ///< one per collective of the family
  std::vector<const net::LinkLoads *> loads; ///< distinct loads of the plans
  std::vector<unsigned> loadsOf; ///< index into `loads` per collective
};

/// The plans of all groups of a job. A large job has many groups but few
/// distinct plans, so symmetries of the job are checked once per plan instead
/// of once per group.
class GroupPlans {
public:
  GroupPlans(const FoldingRequest &request, const Translations &translations);

  /// Returns the positions of the members of a group relative to its first
  /// position, in the order of the group. The first position identifies a
  /// group: it has the coordinates of the group, and 0 along the axes of the
  /// family. With GroupFamily::places it need not be a member.
  llvm::ArrayRef<int64_t> offsetsOf(unsigned family) const {
    return families[family].offsets;
  }
  /// Returns the device at the smallest position of a group.
  int64_t deviceOf(unsigned family, int64_t first) const;

  /// Returns the plans of the group with this first position. Fails if the
  /// group cannot communicate.
  llvm::Expected<const GroupPlan *> find(unsigned family, int64_t first);

  /// Returns true if a shift of the digit is no symmetry of the program. This
  /// is the case if it maps a link that a group loads onto a link that the
  /// group loads differently. Example: a tree algorithm loads the links of its
  /// inner nodes more than those of its leaves. Considers only groups for which
  /// `find` was called.
  bool isBroken(const Digit &digit) const;

private:
  /// The positions of the members of a group, relative to the first position of
  /// the group. All groups of a family have the same relative positions.
  struct Family {
    std::vector<int64_t> offsets;
    int64_t smallest = 0; ///< smallest offset
    int64_t reach = 0;    ///< largest - smallest offset
    /// Greatest common divisor of the differences offset - `smallest`.
    int64_t step = 0;
  };
  llvm::Error make(unsigned family, int64_t first, GroupPlan &plan) const;
  void checkTurns(unsigned family, const net::LinkLoads &loads);

  const FoldingRequest &request;
  const Translations &translations;
  std::vector<Family> families;
  /// The plans, by family and by the result of Translations::startOf for the
  /// group.
  std::map<std::pair<unsigned, std::vector<int64_t>>,
           std::unique_ptr<GroupPlan>>
      known;
  std::vector<Digit> broken;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_GROUPPLANS_H
