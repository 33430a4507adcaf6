//===- Folding.cpp - folding of ranks, groups and links -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Folding.h"

#include "GroupPlans.h"
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

/// The orbits (Translations.h) of links that one flow loads, as pairs (orbit,
/// sum of the loads on the links of the orbit).
using OrbitLoads = std::vector<std::pair<uint32_t, int64_t>>;

/// A group that represents all groups of its orbit.
struct Group {
  unsigned family = 0;
  std::vector<uint32_t> ranks; ///< orbits of the member ranks, ascending
  const GroupPlan *plan = nullptr;
  std::vector<OrbitLoads> loads; ///< in the order of GroupPlan::loads
};

/// Builds the graph of orbits of ranks, groups and links, and divides its
/// vertices into classes.
class Folder {
public:
  Folder(const FoldingRequest &request, const Translations &translations,
         GroupPlans &plans)
      : request(request), mesh(request.mesh), translations(translations),
        plans(plans) {}

  /// Builds the vertices of the graph: finds the orbits of ranks, groups and
  /// links.
  Error build();
  Expected<Folding> fold() const;

private:
  void addRanks();
  Error addGroups(unsigned family);
  void addLoads(Group &group, int64_t device);
  std::vector<net::LinkLoad> sumOrbits(const net::LinkLoads &loads) const;
  uint32_t linkOrbit(const net::LinkId &canonical);
  std::vector<uint32_t> startColours() const;
  Expected<std::vector<RefinementEdge>> edges() const;
  /// Returns the load that all groups in the orbit of `group` together put on
  /// one link in the orbit `link`. `load` is the load that one of these groups
  /// puts on all links of the orbit together. Fails if the sum of the loads is
  /// not divisible by the number of links, because the groups then load the
  /// links unequally.
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
  GroupPlans &plans;

  /// Canonical position of each orbit of ranks, ascending.
  std::vector<int64_t> positions;
  DenseMap<int64_t, uint32_t> rankAt;
  std::vector<Group> groups;
  /// By family, then by orbit of ranks: index in `groups` of the group to which
  /// the ranks of the orbit belong, or Folding::noGroup.
  std::vector<std::vector<uint32_t>> groupOf;
  std::vector<net::LinkId> links; ///< canonical link of each orbit of links
  std::map<net::LinkId, uint32_t> linkNumbers;
  /// Results of `sumOrbits`, so that groups with the same plan share them.
  DenseMap<const net::LinkLoads *, std::vector<net::LinkLoad>> knownSums;
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

uint32_t Folder::linkOrbit(const net::LinkId &canonical) {
  assert(translations.canonicalLink(canonical) == canonical &&
         "another link stands for the orbit");
  auto [entry, isNew] = linkNumbers.try_emplace(canonical, links.size());
  if (isNew)
    links.push_back(canonical);
  return entry->second;
}

/// Returns the sums of `loads` over the links of each orbit, each as a load of
/// the canonical link of the orbit.
std::vector<net::LinkLoad>
Folder::sumOrbits(const net::LinkLoads &loads) const {
  // Describes `count` nodes that are in the orbit of `node` and have the same
  // pattern of loads.
  struct Alike {
    int64_t node;
    uint32_t pattern;
    int64_t count;
  };
  std::vector<Alike> all;
  DenseMap<std::pair<int64_t, uint32_t>, size_t> number;
  for (const net::LinkLoads::Node &node : loads.nodes) {
    int64_t canonical = translations.canonicalLink({0, 0, node.node}).unit;
    auto [entry, isNew] =
        number.try_emplace({canonical, node.pattern}, all.size());
    if (isNew)
      all.push_back({canonical, node.pattern, 0});
    ++all[entry->second].count;
  }
  std::vector<net::LinkLoad> sums;
  std::map<net::LinkId, size_t> sumAt;
  auto add = [&](const net::LinkId &link, int64_t load) {
    auto [entry, isNew] = sumAt.try_emplace(link, sums.size());
    if (isNew)
      sums.push_back({link, 0});
    sums[entry->second].load += load;
  };
  for (const Alike &alike : all)
    for (const net::PortLoad &load : loads.patterns[alike.pattern])
      add({0, load.port, alike.node}, load.load * alike.count);
  for (const net::LinkLoad &load : loads.fabric)
    add(translations.canonicalLink(load.link), load.load);
  return sums;
}

/// Fills `group.loads`. `device` is the device at the smallest position of the
/// group. The plan may have been made for an equivalent group, so its links are
/// moved to this group. A canonical link stays canonical when it is moved,
/// because all digits of the first position of a group are zero (see
/// Translations).
void Folder::addLoads(Group &group, int64_t device) {
  for (const net::LinkLoads *list : group.plan->loads) {
    OrbitLoads &loads = group.loads.emplace_back();
    if (!list)
      continue;
    auto [sums, isNew] = knownSums.try_emplace(list);
    if (isNew)
      sums->second = sumOrbits(*list);
    for (const net::LinkLoad &load : sums->second)
      loads.emplace_back(linkOrbit(translations.movedLink(
                             load.link, group.plan->device, device)),
                         load.load);
    llvm::sort(loads);
  }
}

Error Folder::addGroups(unsigned number) {
  const GroupFamily &family = request.families[number];
  // Finds the offsets of the members of a group, one per orbit of ranks. The
  // canonical position of a member is the first position of its group plus the
  // canonical position of the offset. The reason is that each digit belongs to
  // one axis, and that the first position and the offsets differ from 0 along
  // different axes.
  std::vector<int64_t> offsets;
  for (int64_t offset : plans.offsetsOf(number))
    offsets.push_back(translations.canonicalPosition(offset));
  llvm::sort(offsets);
  offsets.erase(llvm::unique(offsets), offsets.end());
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
    for (int64_t offset : offsets)
      group.ranks.push_back(rankAt.lookup(first + offset));
    llvm::sort(group.ranks);
    for (uint32_t member : group.ranks)
      groupOfRank[member] = groups.size();
    Expected<const GroupPlan *> plan = plans.find(number, first);
    if (!plan)
      return plan.takeError();
    group.plan = *plan;
    addLoads(group, plans.deviceOf(number, first));
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
  // Only coordinates along few axes influence the result of `colourOf`, so most
  // ranks share the result of an earlier rank.
  DenseMap<int64_t, std::vector<int64_t>> known;
  for (int64_t position : positions) {
    std::vector<int64_t> own = mesh.coordinatesOf(position);
    int64_t deciding = 0;
    for (unsigned axis = 0; axis < own.size(); ++axis)
      deciding += request.coloured[axis] ? own[axis] * mesh.strideOf(axis) : 0;
    auto [entry, isNew] = known.try_emplace(deciding);
    if (isNew)
      entry->second = request.colourOf(own);
    std::vector<int64_t> key = entry->second;
    key.push_back(request.cluster.deviceTypeOf(mesh.deviceAt(position)));
    key.push_back(request.keepRanksApart ? position : -1);
    key.insert(key.begin(), 0);
    add(std::move(key));
  }
  for (const Group &group : groups) {
    std::vector<int64_t> key = {1, group.family};
    for (auto [plan, slot] : llvm::zip(group.plan->plans, group.plan->loadsOf))
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
  // Edges have two kinds of labels. The first labels, one per family, connect
  // groups with their members. The following labels, one per family and list of
  // loads, connect groups with the links that they load.
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

/// Converts the classes of vertices to classes of ranks, groups and links.
/// `classOf` holds the class of each vertex.
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
  // The first orbit of a class of links represents the class.
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
      made.size = plans.offsetsOf(group.family).size();
      for (const net::Plan &plan : group.plan->plans) {
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
    // Adds the loads that all groups in the orbit of `group` together put on
    // one link of each orbit of links. Skips orbits that do not represent their
    // class of links.
    for (auto [c, slot] : llvm::enumerate(group.plan->loadsOf))
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
  GroupPlans plans(request, translations);
  while (true) {
    Folder folder(request, translations, plans);
    if (Error error = folder.build())
      return error;
    if (!translations.drop(
            [&](const Digit &digit) { return plans.isBroken(digit); }))
      return folder.fold();
  }
}
