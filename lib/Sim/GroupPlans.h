//===- GroupPlans.h - shared plans of equivalent groups ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the plans of the collectives of all groups of a job, once for all
// equivalent groups. Folding.cpp uses them.
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

/// The plans of the collectives of a group. Groups of the family that a shift
/// by whole nodes and switches maps onto each other share the plans; the shift
/// also maps the links that they load.
struct GroupPlan {
  int64_t device = 0; ///< `deviceOf` the group for which it was made
  std::unique_ptr<net::Communicator> communicator; ///< owns the loads
  std::vector<net::Plan> plans; ///< one per collective of the family
  std::vector<const net::LinkLoads *> loads; ///< distinct loads of the plans
  std::vector<unsigned> loadsOf; ///< index into `loads` per collective
};

/// The plans of all groups. Large jobs have many groups and few distinct plans,
/// so symmetries of the job are checked on the plans.
class GroupPlans {
public:
  GroupPlans(const FoldingRequest &request, const Translations &translations);

  /// Returns the offsets of the members of a group from its first position, in
  /// the order of the group. The first position is the one whose coordinates
  /// along all axes of the family are zero.
  llvm::ArrayRef<int64_t> offsetsOf(unsigned family) const {
    return families[family].offsets;
  }
  /// Returns the device at the smallest position of a group.
  int64_t deviceOf(unsigned family, int64_t first) const;

  /// Returns the plan of the group with this first position. Fails if the group
  /// cannot communicate.
  llvm::Expected<const GroupPlan *> find(unsigned family, int64_t first);

  /// Returns true if shifts of a digit map links onto each other that a group
  /// loads unequally, for example links at the inner nodes and at the leaves of
  /// a tree. The digit then is no symmetry of the program.
  bool isBroken(const Digit &digit) const;

private:
  /// Positions of the groups of a family, relative to their first position.
  struct Family {
    std::vector<int64_t> offsets;
    int64_t smallest = 0; ///< smallest offset
    int64_t reach = 0;    ///< largest minus smallest offset
    int64_t step = 0;     ///< divisor of all offsets minus `smallest`
  };
  llvm::Error make(unsigned family, int64_t first, GroupPlan &plan) const;
  void checkTurns(unsigned family, const net::LinkLoads &loads);

  const FoldingRequest &request;
  const Translations &translations;
  std::vector<Family> families;
  /// Plans by family and by the result of Translations::startOf for the group.
  std::map<std::pair<unsigned, std::vector<int64_t>>,
           std::unique_ptr<GroupPlan>>
      known;
  std::vector<Digit> broken;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_GROUPPLANS_H
