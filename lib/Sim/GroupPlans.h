//===- GroupPlans.h - how groups communicate, found once --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// How a group communicates. Groups of the family that are moved by whole nodes
/// and switches do it alike, over links that are moved likewise.
struct GroupPlan {
  int64_t device = 0; ///< `deviceOf` the group it was made for
  std::unique_ptr<net::Communicator> communicator; ///< owns the loads
  std::vector<net::Plan> plans;              ///< per collective of the family
  std::vector<const net::LinkLoads *> loads; ///< of the plans, each once
  std::vector<unsigned> loadsOf; ///< per collective: index into `loads`
};

/// The plans of all groups. Large jobs have many groups and few plans; the
/// symmetries of the job are looked for in the plans.
class GroupPlans {
public:
  GroupPlans(const FoldingRequest &request, const Translations &translations);

  /// Offsets of the members of a group from its first position, where the
  /// coordinates along all axes of the family are zero; in the group's order.
  llvm::ArrayRef<int64_t> offsetsOf(unsigned family) const {
    return families[family].offsets;
  }
  /// The device at the smallest position of a group.
  int64_t deviceOf(unsigned family, int64_t first) const;

  /// The plan of the group with this first position; fails if the group cannot
  /// communicate.
  llvm::Expected<const GroupPlan *> find(unsigned family, int64_t first);

  /// Whether a group loads links unequally that the turns of a digit map onto
  /// each other: inner nodes and leaves of a tree, say. The digit is no
  /// symmetry of the program then.
  bool isBroken(const Digit &digit) const;

private:
  struct Family {
    std::vector<int64_t> offsets;
    int64_t smallest = 0; ///< of the offsets
    int64_t reach = 0;    ///< from the smallest to the largest
    int64_t step = 0;     ///< divides the distances of all from the smallest
  };
  llvm::Error make(unsigned family, int64_t first, GroupPlan &plan) const;
  void checkTurns(unsigned family, const net::LinkLoads &loads);

  const FoldingRequest &request;
  const Translations &translations;
  std::vector<Family> families;
  /// By family and by what matters of where a group begins.
  std::map<std::pair<unsigned, std::vector<int64_t>>,
           std::unique_ptr<GroupPlan>>
      known;
  std::vector<Digit> broken;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_GROUPPLANS_H
