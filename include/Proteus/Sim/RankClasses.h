//===- RankClasses.h - ranks that do the same thing -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_RANKCLASSES_H
#define PROTEUS_SIM_RANKCLASSES_H

#include "Proteus/Cost/CostModel.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::sim {

/// Groups that do not overlap, such as the groups along one mesh axis.
struct GroupFamily {
  static constexpr uint32_t noGroup = ~0u;
  std::vector<uint32_t> groupOf;        ///< per rank: its group, or noGroup
  std::vector<cost::GroupShape> shapes; ///< per group
};

/// Classes of ranks, numbered by their smallest member.
struct RankPartition {
  std::vector<uint32_t> classOf;        ///< per rank
  std::vector<uint32_t> representative; ///< per class: its smallest rank
  std::vector<int64_t> ranks;           ///< per class: how many it holds

  size_t numClasses() const { return representative.size(); }
};

/// The coarsest partition in which the ranks of a class have the same colour
/// (what they do) and, in every family, groups of the same shape with equally
/// many members of each class (whom they do it with). Simulating one rank per
/// class is then exact. Takes O(m log m) for m memberships.
RankPartition partitionRanks(llvm::ArrayRef<uint32_t> colours,
                             llvm::ArrayRef<GroupFamily> families);

} // namespace proteus::sim

#endif // PROTEUS_SIM_RANKCLASSES_H
