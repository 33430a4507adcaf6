//===- RankClasses.cpp - ranks that do the same thing ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partition refinement on the bipartite graph of ranks and groups: a class is
// split by the number of neighbours its members have in another class, until no
// class can be split. Of the parts of a split all but the largest need to be
// looked at again, which bounds the work (Hopcroft; Paige and Tarjan).
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/RankClasses.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <map>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

namespace {

class Refinement {
public:
  Refinement(ArrayRef<uint32_t> colours, ArrayRef<GroupFamily> families);
  void run();
  uint32_t classOf(uint32_t node) const { return nodeClass[node]; }

private:
  struct Range {
    uint32_t begin, end;
    bool queued;
    uint32_t touched; ///< members counted by the current splitter, at the end
  };

  void count(uint32_t splitter);
  void split(uint32_t id);
  void swapTo(uint32_t node, uint32_t place);
  void enqueue(uint32_t id) {
    ranges[id].queued = true;
    queue.push_back(id);
  }

  std::vector<uint32_t> edgeBegin, edges; ///< neighbours of each node
  std::vector<uint32_t> elements;         ///< nodes, class by class
  std::vector<uint32_t> placeOf;          ///< inverse of `elements`
  std::vector<uint32_t> nodeClass;
  std::vector<uint32_t> hits; ///< neighbours in the current splitter
  std::vector<Range> ranges;  ///< per class
  std::vector<uint32_t> touchedClasses;
  std::deque<uint32_t> queue;
};

} // namespace

Refinement::Refinement(ArrayRef<uint32_t> colours,
                       ArrayRef<GroupFamily> families) {
  // Nodes: the ranks, then the groups of every family.
  using Key = std::tuple<size_t, int64_t, int64_t, int64_t>;
  std::vector<Key> keys;
  for (uint32_t colour : colours)
    keys.push_back({0, colour, 0, 0});
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (size_t f = 0; f < families.size(); ++f) {
    const GroupFamily &family = families[f];
    assert(family.groupOf.size() == colours.size() && "one group per rank");
    for (uint32_t rank = 0; rank < colours.size(); ++rank)
      if (family.groupOf[rank] != GroupFamily::noGroup) {
        uint32_t group = keys.size() + family.groupOf[rank];
        pairs.emplace_back(rank, group);
        pairs.emplace_back(group, rank);
      }
    for (const cost::GroupShape &shape : family.shapes)
      keys.push_back({f + 1, shape.ranks, shape.nodes, shape.ranksPerNode});
  }

  size_t nodes = keys.size();
  edgeBegin.assign(nodes + 1, 0);
  for (auto [from, to] : pairs)
    ++edgeBegin[from + 1];
  for (size_t n = 0; n < nodes; ++n)
    edgeBegin[n + 1] += edgeBegin[n];
  edges.resize(pairs.size());
  std::vector<uint32_t> cursor(edgeBegin.begin(), edgeBegin.end() - 1);
  for (auto [from, to] : pairs)
    edges[cursor[from]++] = to;

  std::map<Key, std::vector<uint32_t>> initial;
  for (uint32_t n = 0; n < nodes; ++n)
    initial[keys[n]].push_back(n);
  nodeClass.resize(nodes);
  placeOf.resize(nodes);
  hits.assign(nodes, 0);
  for (const auto &[key, members] : initial) {
    uint32_t id = ranges.size();
    uint32_t begin = elements.size();
    for (uint32_t node : members) {
      nodeClass[node] = id;
      placeOf[node] = elements.size();
      elements.push_back(node);
    }
    ranges.push_back({begin, static_cast<uint32_t>(elements.size()), false, 0});
    enqueue(id);
  }
}

void Refinement::swapTo(uint32_t node, uint32_t place) {
  uint32_t other = elements[place];
  std::swap(elements[place], elements[placeOf[node]]);
  std::swap(placeOf[node], placeOf[other]);
}

/// Counts, for every node, its neighbours in the splitter; nodes that have any
/// gather at the end of their class.
void Refinement::count(uint32_t splitter) {
  std::vector<uint32_t> members(elements.begin() + ranges[splitter].begin,
                                elements.begin() + ranges[splitter].end);
  for (uint32_t member : members)
    for (uint32_t e = edgeBegin[member]; e < edgeBegin[member + 1]; ++e) {
      uint32_t node = edges[e];
      if (hits[node]++ > 0)
        continue;
      Range &range = ranges[nodeClass[node]];
      if (range.touched++ == 0)
        touchedClasses.push_back(nodeClass[node]);
      swapTo(node, range.end - range.touched);
    }
}

/// Splits a class by the counts. The part that comes first keeps the name.
void Refinement::split(uint32_t id) {
  Range &range = ranges[id];
  uint32_t begin = range.begin, end = range.end;
  uint32_t touchedBegin = end - range.touched;
  range.touched = 0;
  std::sort(elements.begin() + touchedBegin, elements.begin() + end,
            [&](uint32_t a, uint32_t b) { return hits[a] < hits[b]; });
  for (uint32_t p = touchedBegin; p < end; ++p)
    placeOf[elements[p]] = p;

  SmallVector<uint32_t, 4> cuts{begin};
  for (uint32_t p = std::max(touchedBegin, begin + 1); p < end; ++p)
    if (hits[elements[p]] != hits[elements[p - 1]])
      cuts.push_back(p);
  cuts.push_back(end);

  SmallVector<uint32_t, 4> parts{id};
  range.end = cuts[1];
  bool queued = range.queued;
  for (size_t c = 1; c + 1 < cuts.size(); ++c) {
    parts.push_back(ranges.size());
    for (uint32_t p = cuts[c]; p < cuts[c + 1]; ++p)
      nodeClass[elements[p]] = ranges.size();
    ranges.push_back({cuts[c], cuts[c + 1], false, 0});
  }
  auto size = [&](uint32_t part) {
    return ranges[part].end - ranges[part].begin;
  };
  uint32_t largest = *llvm::max_element(
      parts, [&](uint32_t a, uint32_t b) { return size(a) < size(b); });
  for (uint32_t part : parts)
    if (!ranges[part].queued && (queued || part != largest))
      enqueue(part);
}

void Refinement::run() {
  while (!queue.empty()) {
    uint32_t splitter = queue.front();
    queue.pop_front();
    ranges[splitter].queued = false;
    count(splitter);
    std::vector<uint32_t> classes;
    std::swap(classes, touchedClasses);
    std::vector<uint32_t> counted;
    for (uint32_t id : classes)
      counted.insert(counted.end(),
                     elements.begin() + ranges[id].end - ranges[id].touched,
                     elements.begin() + ranges[id].end);
    for (uint32_t id : classes)
      split(id);
    for (uint32_t node : counted)
      hits[node] = 0;
  }
}

RankPartition proteus::sim::partitionRanks(ArrayRef<uint32_t> colours,
                                           ArrayRef<GroupFamily> families) {
  Refinement refinement(colours, families);
  refinement.run();
  RankPartition partition;
  DenseMap<uint32_t, uint32_t> number;
  for (uint32_t rank = 0; rank < colours.size(); ++rank) {
    auto [entry, isNew] =
        number.try_emplace(refinement.classOf(rank), partition.numClasses());
    if (isNew) {
      partition.representative.push_back(rank);
      partition.ranks.push_back(0);
    }
    partition.classOf.push_back(entry->second);
    ++partition.ranks[entry->second];
  }
  return partition;
}
