//===- Folding.h - classes of equivalent ranks, groups, links ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks, groups of ranks and links form one graph: ranks meet in groups, groups
// load links. A partition of it in which the members of a class have equally
// many neighbours of each class (an equitable one) makes the simulation of one
// member per class exact: by induction over time, alike ranks arrive at the
// same time, alike groups get the same rate and alike links are equally busy.
//
// It is found in two steps. Translations along mesh axes that map the topology
// and the program onto themselves merge whole axes without looking at single
// devices; on what is left colours are refined until nothing changes.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_FOLDING_H
#define PROTEUS_SIM_FOLDING_H

#include "Proteus/Network/Communicator.h"
#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace proteus::sim {

/// The ranks of a job, row-major.
struct RankMesh {
  std::vector<int64_t> sizes; ///< per axis
  /// Device of every position; empty: the position itself.
  std::vector<int64_t> devices;

  int64_t numRanks() const;
  int64_t deviceAt(int64_t position) const {
    return devices.empty() ? position : devices[position];
  }
  /// How far apart neighbours along an axis are.
  int64_t strideOf(unsigned axis) const;
  std::vector<int64_t> coordinatesOf(int64_t position) const;
};

/// What a group runs.
struct GroupCollective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t bytes = 0;
  net::Transport transport = net::Transport::Library;

  friend bool operator<(const GroupCollective &a, const GroupCollective &b) {
    return std::tie(a.kind, a.bytes, a.transport) <
           std::tie(b.kind, b.bytes, b.transport);
  }
};

/// Groups that do not overlap: ranks that differ along `axes` only.
struct GroupFamily {
  std::vector<unsigned> axes; ///< major first: the order within a group
  /// Not empty: there is one axis, and only ranks at these places of it take
  /// part, in this order.
  std::vector<int64_t> places;
  std::vector<GroupCollective> collectives;
};

using CommunicatorFactory =
    std::function<llvm::Expected<std::unique_ptr<net::Communicator>>(
        llvm::ArrayRef<int64_t> devices)>;

struct FoldingRequest {
  const machine::Cluster &cluster;
  RankMesh mesh;
  /// What a rank does beyond taking part in groups: ranks of one colour do the
  /// same. Depends on the coordinates along the axes for which `coloured`
  /// holds, and on nothing else.
  std::vector<bool> coloured;
  std::function<std::vector<int64_t>(llvm::ArrayRef<int64_t> coordinates)>
      colourOf;
  std::vector<GroupFamily> families;
  CommunicatorFactory createCommunicator;
  /// Every rank is a class of its own.
  bool keepRanksApart = false;
};

/// A flow and how it came about.
struct FoldedCollective {
  Flow flow;
  std::string algorithm; ///< "ring, Simple"
};

/// Groups that are alike.
struct GroupClass {
  std::vector<uint32_t> members;             ///< rank classes, ascending
  int64_t groups = 0;                        ///< how many groups it stands for
  int64_t size = 0;                          ///< ranks of one group
  std::vector<FoldedCollective> collectives; ///< as those of the family
};

struct RankClass {
  int64_t representative = 0; ///< its smallest position
  int64_t ranks = 0;          ///< how many it stands for
};

struct Folding {
  static constexpr uint32_t noGroup = ~0u;

  std::vector<RankClass> ranks; ///< by representative
  std::vector<LinkClass> links;
  std::vector<std::vector<GroupClass>> groups; ///< per family
  /// Per family and rank class: the class of groups its ranks are in, or
  /// noGroup.
  std::vector<std::vector<uint32_t>> groupOf;
};

/// Fails if a group cannot communicate.
llvm::Expected<Folding> foldRanks(const FoldingRequest &request);

} // namespace proteus::sim

#endif // PROTEUS_SIM_FOLDING_H
