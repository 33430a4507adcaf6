//===- Folding.cpp - what provably happens alike is simulated once --------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Folding.h"

#include "Refinement.h"
#include "Translations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

int64_t RankMesh::numRanks() const {
  int64_t ranks = 1;
  for (int64_t size : sizes)
    ranks *= size;
  return ranks;
}

int64_t RankMesh::strideOf(unsigned axis) const {
  int64_t stride = 1;
  for (int64_t size : ArrayRef(sizes).drop_front(axis + 1))
    stride *= size;
  return stride;
}

std::vector<int64_t> RankMesh::coordinatesOf(int64_t position) const {
  std::vector<int64_t> coordinates(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0; position /= sizes[axis])
    coordinates[axis] = position % sizes[axis];
  return coordinates;
}

namespace {

/// Links that one flow loads, by orbit, with the sum of its loads on each.
using OrbitLoads = std::map<uint32_t, int64_t>;

/// One group per orbit of groups.
struct Group {
  unsigned family = 0;
  std::vector<uint32_t> ranks; ///< orbits of its members, ascending
  int64_t size = 0;
  std::vector<net::Plan> plans; ///< per collective of the family; loads unset
  std::vector<OrbitLoads> loads;
  std::vector<unsigned> loadsOf; ///< per collective: index into `loads`
};

class Folder {
public:
  Folder(const FoldingRequest &request, const Translations &translations)
      : request(request), mesh(request.mesh), translations(translations) {}

  /// Finds the orbits of ranks, groups and links.
  Error build();
  /// Whether a group loads links unequally that the turns of a digit map onto
  /// each other: inner nodes and leaves of a tree, say. The digit is no
  /// symmetry of the program then.
  bool isBroken(const Digit &digit) const {
    return llvm::is_contained(broken, digit);
  }
  Expected<Folding> fold() const;

private:
  void addRanks();
  void checkTurns(unsigned family, ArrayRef<net::LinkLoad> loads);
  Error addGroups(unsigned family);
  Error addPlans(Group &group, ArrayRef<int64_t> devices);
  uint32_t linkOrbit(const net::LinkId &link);
  std::vector<uint32_t> startColours() const;
  Expected<std::vector<RefinementEdge>> edges() const;
  /// What all groups of an orbit put on one link of an orbit.
  Expected<int64_t> loadPerLink(const Group &group, uint32_t link,
                                int64_t load) const;
  Expected<Folding> collect(ArrayRef<uint32_t> classOf) const;

  uint32_t groupVertex(size_t group) const { return positions.size() + group; }
  uint32_t linkVertex(size_t link) const {
    return positions.size() + groups.size() + link;
  }

  const FoldingRequest &request;
  const RankMesh &mesh;
  const Translations &translations;
  std::vector<Digit> broken;

  std::vector<int64_t> positions; ///< one per orbit of ranks, ascending
  DenseMap<int64_t, uint32_t> rankAt;
  std::vector<Group> groups;
  std::vector<std::vector<uint32_t>> groupOf; ///< per family and rank
  std::vector<net::LinkId> links;             ///< one per orbit of links
  std::map<net::LinkId, uint32_t> linkNumbers;
};

} // namespace

void Folder::addRanks() {
  positions = {0};
  for (unsigned axis = 0; axis < mesh.sizes.size(); ++axis) {
    int64_t stride = mesh.strideOf(axis);
    std::vector<int64_t> more;
    for (int64_t start : positions)
      for (int64_t c = 0; c < mesh.sizes[axis]; ++c)
        if (translations.canonicalPosition(c * stride) == c * stride)
          more.push_back(start + c * stride);
    positions = std::move(more);
  }
  for (auto [rank, position] : llvm::enumerate(positions))
    rankAt[position] = rank;
}

uint32_t Folder::linkOrbit(const net::LinkId &link) {
  net::LinkId canonical = translations.canonicalLink(link);
  auto [entry, isNew] = linkNumbers.try_emplace(canonical, links.size());
  if (isNew)
    links.push_back(canonical);
  return entry->second;
}

/// Turning a digit of an axis of a group maps the group onto itself, and has to
/// do so with its loads.
void Folder::checkTurns(unsigned family, ArrayRef<net::LinkLoad> loads) {
  for (const Digit &digit : translations.getDigits()) {
    if (isBroken(digit) ||
        !llvm::is_contained(request.families[family].axes, digit.axis))
      continue;
    bool isKept = llvm::all_of(loads, [&](const net::LinkLoad &load) {
      net::LinkId turned = translations.turnedLink(load.link, digit);
      auto at = llvm::lower_bound(
          loads, turned, [](const net::LinkLoad &entry, net::LinkId wanted) {
            return entry.link < wanted;
          });
      return at != loads.end() && at->link == turned && at->load == load.load;
    });
    if (!isKept)
      broken.push_back(digit);
  }
}

Error Folder::addPlans(Group &group, ArrayRef<int64_t> devices) {
  auto communicator = request.createCommunicator(devices);
  if (!communicator)
    return communicator.takeError();
  std::vector<const net::LinkLoad *> known;
  for (const GroupCollective &collective :
       request.families[group.family].collectives) {
    net::Plan plan = (*communicator)->plan(collective.kind, collective.bytes);
    size_t slot = llvm::find(known, plan.loads.data()) - known.begin();
    if (slot == known.size()) {
      known.push_back(plan.loads.data());
      checkTurns(group.family, plan.loads);
      OrbitLoads &loads = group.loads.emplace_back();
      for (const net::LinkLoad &load : plan.loads)
        loads[linkOrbit(load.link)] += load.load;
    }
    group.loadsOf.push_back(slot);
    // The communicator owns the list, and goes.
    plan.loads = {};
    group.plans.push_back(plan);
  }
  return Error::success();
}

Error Folder::addGroups(unsigned number) {
  const GroupFamily &family = request.families[number];
  // Offsets of the members of a group from its first place.
  std::vector<int64_t> offsets = {0};
  for (unsigned axis : family.axes) {
    std::vector<int64_t> more;
    for (int64_t start : offsets)
      if (family.places.empty())
        for (int64_t c = 0; c < mesh.sizes[axis]; ++c)
          more.push_back(start + c * mesh.strideOf(axis));
      else
        for (int64_t c : family.places)
          more.push_back(start + c * mesh.strideOf(axis));
    offsets = std::move(more);
  }
  std::vector<uint32_t> &groupOfRank =
      groupOf.emplace_back(positions.size(), Folding::noGroup);
  for (size_t rank = 0; rank < positions.size(); ++rank) {
    std::vector<int64_t> own = mesh.coordinatesOf(positions[rank]);
    if (groupOfRank[rank] != Folding::noGroup ||
        (!family.places.empty() &&
         !llvm::is_contained(family.places, own[family.axes.front()])))
      continue;
    int64_t first = positions[rank];
    for (unsigned axis : family.axes)
      first -= own[axis] * mesh.strideOf(axis);
    Group group;
    group.family = number;
    group.size = offsets.size();
    std::vector<int64_t> devices;
    for (int64_t offset : offsets) {
      devices.push_back(mesh.deviceAt(first + offset));
      group.ranks.push_back(
          rankAt.lookup(translations.canonicalPosition(first + offset)));
    }
    llvm::sort(group.ranks);
    group.ranks.erase(llvm::unique(group.ranks), group.ranks.end());
    for (uint32_t member : group.ranks)
      groupOfRank[member] = groups.size();
    if (Error error = addPlans(group, devices))
      return error;
    groups.push_back(std::move(group));
  }
  return Error::success();
}

std::vector<uint32_t> Folder::startColours() const {
  std::map<std::vector<int64_t>, uint32_t> numbers;
  std::vector<uint32_t> colours;
  auto add = [&](std::vector<int64_t> key) {
    colours.push_back(numbers.try_emplace(key, numbers.size()).first->second);
  };
  for (int64_t position : positions) {
    std::vector<int64_t> key = request.colourOf(mesh.coordinatesOf(position));
    key.push_back(request.cluster.deviceTypeOf(mesh.deviceAt(position)));
    key.push_back(request.keepRanksApart ? position : -1);
    key.insert(key.begin(), 0);
    add(std::move(key));
  }
  for (const Group &group : groups) {
    std::vector<int64_t> key = {1, group.family};
    for (auto [plan, slot] : llvm::zip(group.plans, group.loadsOf))
      key.insert(key.end(), {plan.latency, plan.volume, plan.ceiling,
                             plan.channels, slot});
    add(std::move(key));
  }
  for (const net::LinkId &link : links)
    add({2, link.level, net::capacityOf(request.cluster, link)});
  return colours;
}

Expected<int64_t> Folder::loadPerLink(const Group &group, uint32_t link,
                                      int64_t load) const {
  int64_t total =
      load * translations.groupOrbit(request.families[group.family].axes);
  int64_t count = translations.linkOrbit(links[link]);
  if (total % count == 0)
    return total / count;
  return createStringError(
      "groups that are shifted into each other load the links like '" +
      net::nameOf(request.cluster, links[link]) +
      "' unequally; simulate with fold=none and report this");
}

Expected<std::vector<RefinementEdge>> Folder::edges() const {
  std::vector<RefinementEdge> edges;
  // A role per family for members, then one per family and list of links.
  unsigned numFamilies = request.families.size();
  for (auto [index, group] : llvm::enumerate(groups)) {
    int64_t members =
        translations.memberOrbit(request.families[group.family].axes);
    for (uint32_t rank : group.ranks) {
      edges.push_back({rank, groupVertex(index), group.family, 1});
      edges.push_back({groupVertex(index), rank, group.family, members});
    }
    for (auto [slot, loads] : llvm::enumerate(group.loads)) {
      uint32_t role = numFamilies * (1 + slot) + group.family;
      for (auto [link, load] : loads) {
        Expected<int64_t> perLink = loadPerLink(group, link, load);
        if (!perLink)
          return perLink.takeError();
        edges.push_back({groupVertex(index), linkVertex(link), role, load});
        edges.push_back({linkVertex(link), groupVertex(index), role, *perLink});
      }
    }
  }
  return edges;
}

static std::string describe(const net::Plan &plan) {
  if (plan.algorithm == net::Algorithm::None)
    return "";
  return (net::stringify(plan.algorithm) + ", " + net::stringify(plan.protocol))
      .str();
}

/// Classes of vertices become classes of ranks, groups and links.
Expected<Folding> Folder::collect(ArrayRef<uint32_t> classOf) const {
  Folding folding;
  DenseMap<uint32_t, uint32_t> rankNumber, linkNumber;
  for (auto [rank, position] : llvm::enumerate(positions)) {
    auto [entry, isNew] =
        rankNumber.try_emplace(classOf[rank], folding.ranks.size());
    if (isNew)
      folding.ranks.push_back({position, 0});
    folding.ranks[entry->second].ranks += translations.rankOrbit();
  }
  // The first orbit of a class of links stands for it.
  std::vector<bool> stands(links.size());
  for (auto [index, link] : llvm::enumerate(links)) {
    auto [entry, isNew] = linkNumber.try_emplace(classOf[linkVertex(index)],
                                                 folding.links.size());
    if (isNew)
      folding.links.push_back({net::nameOf(request.cluster, link),
                               net::capacityOf(request.cluster, link), 0});
    stands[index] = isNew;
    folding.links[entry->second].count += translations.linkOrbit(link);
  }

  folding.groups.resize(request.families.size());
  folding.groupOf.assign(
      request.families.size(),
      std::vector<uint32_t>(folding.ranks.size(), Folding::noGroup));
  DenseMap<uint32_t, uint32_t> groupNumber;
  for (auto [index, group] : llvm::enumerate(groups)) {
    std::vector<GroupClass> &classes = folding.groups[group.family];
    auto [entry, isNew] =
        groupNumber.try_emplace(classOf[groupVertex(index)], classes.size());
    if (isNew) {
      GroupClass &made = classes.emplace_back();
      made.size = group.size;
      for (const net::Plan &plan : group.plans) {
        FoldedCollective &collective = made.collectives.emplace_back();
        collective.flow.latency = plan.latency;
        collective.flow.volume = plan.volume;
        collective.flow.ceiling = plan.ceiling;
        collective.flow.channels = plan.channels;
        collective.algorithm = describe(plan);
      }
      for (uint32_t rank : group.ranks)
        made.members.push_back(rankNumber.lookup(classOf[rank]));
      llvm::sort(made.members);
      made.members.erase(llvm::unique(made.members), made.members.end());
      for (uint32_t member : made.members)
        folding.groupOf[group.family][member] = entry->second;
    }
    GroupClass &made = classes[entry->second];
    made.groups += translations.groupOrbit(request.families[group.family].axes);
    // One link of each class hears from every group of the class.
    for (auto [c, slot] : llvm::enumerate(group.loadsOf))
      for (auto [link, load] : group.loads[slot]) {
        if (!stands[link])
          continue;
        Expected<int64_t> perLink = loadPerLink(group, link, load);
        if (!perLink)
          return perLink.takeError();
        uint32_t number = linkNumber.lookup(classOf[linkVertex(link)]);
        std::vector<LinkClassLoad> &loads = made.collectives[c].flow.loads;
        auto at = llvm::lower_bound(
            loads, number, [](const LinkClassLoad &entry, uint32_t wanted) {
              return entry.link < wanted;
            });
        if (at == loads.end() || at->link != number)
          at = loads.insert(at, {number, 0});
        at->load += *perLink;
      }
  }
  return folding;
}

Error Folder::build() {
  addRanks();
  for (unsigned family = 0; family < request.families.size(); ++family)
    if (Error error = addGroups(family))
      return error;
  return Error::success();
}

Expected<Folding> Folder::fold() const {
  Expected<std::vector<RefinementEdge>> edges = this->edges();
  if (!edges)
    return edges.takeError();
  return collect(refine(startColours(), *edges));
}

Expected<Folding> proteus::sim::foldRanks(const FoldingRequest &request) {
  Translations translations(request);
  while (true) {
    Folder folder(request, translations);
    if (Error error = folder.build())
      return error;
    if (!translations.drop(
            [&](const Digit &digit) { return folder.isBroken(digit); }))
      return folder.fold();
  }
}
