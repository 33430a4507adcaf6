//===- Folding.h - classes of equivalent ranks, groups, links ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the ranks, groups and links of a job into classes. All members of a
// class behave equally, so the engine simulates only one member of each class.
// BuildWorkload.cpp turns these classes into those of the Workload.
//
// Ranks, groups of ranks and links form one graph: ranks take part in groups,
// and groups load links. A partition of the vertices of this graph into classes
// is *equitable* if all members of a class have equally many neighbours in each
// class. Under an equitable partition the simulation of one member per class is
// exact. The reason is an induction over time: ranks of a class always arrive
// at the same time, groups of a class get the same rate, and links of a class
// are equally busy.
//
// The partition is found in two steps. The first step finds shifts along mesh
// axes that map the topology and the program onto themselves (Translations.h).
// It merges all ranks, groups and links that such shifts map onto each other,
// without visiting every device. The second step, colour refinement
// (Refinement.h), divides the remaining vertices into classes such that the
// partition is equitable.
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

/// The ranks of a job, arranged along mesh axes. Ranks are numbered in
/// row-major order; the number of a rank is its *position*.
struct RankMesh {
  std::vector<int64_t> sizes; ///< number of ranks along each axis
  /// The device of each position. If the list is empty, position i is on device
  /// i.
  std::vector<int64_t> devices;

  int64_t numRanks() const;
  int64_t deviceAt(int64_t position) const {
    return devices.empty() ? position : devices[position];
  }
  /// Returns the difference between the positions of two neighbours along an
  /// axis.
  int64_t strideOf(unsigned axis) const;
  std::vector<int64_t> coordinatesOf(int64_t position) const;
};

/// A collective that every group of a GroupFamily runs.
struct GroupCollective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t bytes = 0;
  net::Transport transport = net::Transport::Library;

  friend bool operator<(const GroupCollective &a, const GroupCollective &b) {
    return std::tie(a.kind, a.bytes, a.transport) <
           std::tie(b.kind, b.bytes, b.transport);
  }
};

/// A set of disjoint groups along the same axes. Two ranks are in the same
/// group if their coordinates differ only along `axes`.
struct GroupFamily {
  /// The axes of a group. Their order determines the order of its members: the
  /// coordinate along the first axis varies slowest.
  std::vector<unsigned> axes;
  /// If not empty, `axes` has one element, and a group contains only the ranks
  /// at these coordinates along that axis, in this order. Example: {0, 1} for a
  /// message from stage 0 to stage 1.
  std::vector<int64_t> places;
  std::vector<GroupCollective> collectives;
};

/// Function that creates the communicator of a list of devices.
using CommunicatorFactory =
    std::function<llvm::Expected<std::unique_ptr<net::Communicator>>(
        llvm::ArrayRef<int64_t> devices)>;

/// The input of `foldRanks`.
struct FoldingRequest {
  const machine::Cluster &cluster;
  RankMesh mesh;
  /// For each axis: true if ranks with different coordinates along the axis may
  /// differ in the work that `colourOf` describes.
  std::vector<bool> coloured;
  /// Returns a key of the work of a rank: ranks with equal keys do the same
  /// work, except for the collectives of their groups. The key depends only on
  /// the coordinates along axes for which `coloured` is true.
  std::function<std::vector<int64_t>(llvm::ArrayRef<int64_t> coordinates)>
      colourOf;
  std::vector<GroupFamily> families;
  CommunicatorFactory createCommunicator;
  /// True if every rank becomes a class of its own.
  bool keepRanksApart = false;
};

/// The flow of a collective and the name of its algorithm.
struct FoldedCollective {
  Flow flow;
  std::string algorithm; ///< "ring, Simple"
};

/// A class of equivalent groups.
struct GroupClass {
  /// Indices of the classes of its ranks, ascending.
  std::vector<uint32_t> members;
  int64_t groups = 0; ///< number of groups in the class
  int64_t size = 0;   ///< ranks of one group
  /// The flow of each collective, in the order of GroupFamily::collectives.
  std::vector<FoldedCollective> collectives;
};

/// A class of equivalent ranks.
struct RankClass {
  int64_t representative = 0; ///< smallest position of its ranks
  int64_t ranks = 0;          ///< number of ranks in the class
};

/// Classes of the ranks, links and groups of a job.
struct Folding {
  static constexpr uint32_t noGroup = ~0u;

  std::vector<RankClass> ranks; ///< ascending by representative
  std::vector<LinkClass> links;
  std::vector<std::vector<GroupClass>> groups; ///< classes of groups, by family
  /// `groupOf[family][rankClass]` is the index in `groups[family]` of the class
  /// of groups to which the ranks of the class belong. It is `noGroup` if they
  /// belong to no group of the family.
  std::vector<std::vector<uint32_t>> groupOf;
};

/// Finds the classes of equivalent ranks, groups and links. Fails if a group
/// cannot communicate, or if an internal check of the symmetries fails.
llvm::Expected<Folding> foldRanks(const FoldingRequest &request);

} // namespace proteus::sim

#endif // PROTEUS_SIM_FOLDING_H
