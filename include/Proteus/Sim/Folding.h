//===- Folding.h - classes of equivalent ranks, groups, links ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of ranks, groups and links that behave equally, so that the engine
// simulates one member of each class (BuildWorkload).
//
// Ranks, groups of ranks and links form one graph: ranks take part in groups,
// and groups load links. A partition of its vertices is *equitable* if all
// members of a class have equally many neighbours in each class. Under an
// equitable partition the simulation of one member per class is exact. By
// induction over time, ranks of a class arrive at the same time, groups of a
// class get the same rate, and links of a class are equally busy.
//
// The partition is found in two steps. Translations along mesh axes that map
// the topology and the program onto themselves merge whole axes, without a
// visit to every device. Colour refinement then splits the classes of the
// remaining vertices until the partition is equitable.
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

/// The ranks of a job, arranged along mesh axes in row-major order. The index
/// of a rank is its position.
struct RankMesh {
  std::vector<int64_t> sizes; ///< per axis
  /// Device of every position. If empty, the device is the position itself.
  std::vector<int64_t> devices;

  int64_t numRanks() const;
  int64_t deviceAt(int64_t position) const {
    return devices.empty() ? position : devices[position];
  }
  /// Returns the distance of the positions of neighbours along an axis.
  int64_t strideOf(unsigned axis) const;
  std::vector<int64_t> coordinatesOf(int64_t position) const;
};

/// A collective that every group of a family runs.
struct GroupCollective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t bytes = 0;
  net::Transport transport = net::Transport::Library;

  friend bool operator<(const GroupCollective &a, const GroupCollective &b) {
    return std::tie(a.kind, a.bytes, a.transport) <
           std::tie(b.kind, b.bytes, b.transport);
  }
};

/// A set of disjoint groups. Ranks that differ only along `axes` form a group.
struct GroupFamily {
  std::vector<unsigned> axes; ///< major first: the order of members
  /// If not empty, there is one axis and only ranks at these coordinates of it
  /// take part, in this order.
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
  /// True for the axes along which ranks may do different work, apart from that
  /// of their groups.
  std::vector<bool> coloured;
  /// Returns a key of the work of a rank, apart from that of its groups: ranks
  /// with equal keys do the same work. The key depends only on the coordinates
  /// along axes with `coloured`.
  std::function<std::vector<int64_t>(llvm::ArrayRef<int64_t> coordinates)>
      colourOf;
  std::vector<GroupFamily> families;
  CommunicatorFactory createCommunicator;
  /// True if every rank becomes a class of its own.
  bool keepRanksApart = false;
};

/// The flow of a collective and the algorithm that causes it.
struct FoldedCollective {
  Flow flow;
  std::string algorithm; ///< "ring, Simple"
};

/// A class of equivalent groups.
struct GroupClass {
  std::vector<uint32_t> members; ///< rank classes, ascending
  int64_t groups = 0;            ///< number of groups in the class
  int64_t size = 0;              ///< ranks of one group
  /// In the order of GroupFamily::collectives.
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
  std::vector<std::vector<GroupClass>> groups; ///< classes of each family
  /// Per family and rank class: index of the class of groups that contains its
  /// ranks, or noGroup.
  std::vector<std::vector<uint32_t>> groupOf;
};

/// Finds the classes of equivalent ranks, groups and links. Fails if a group
/// cannot communicate.
llvm::Expected<Folding> foldRanks(const FoldingRequest &request);

} // namespace proteus::sim

#endif // PROTEUS_SIM_FOLDING_H
