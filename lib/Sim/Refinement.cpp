//===- Refinement.cpp - the coarsest equitable partition ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Refinement.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <unordered_map>

using namespace llvm;
using namespace proteus::sim;

namespace {
/// The total weight of the edges of a vertex that have one label and lead to
/// one class. `what` combines the label and the class in one number.
struct Seen {
  uint64_t what;
  int64_t weight;

  friend bool operator<(const Seen &a, const Seen &b) {
    return a.what < b.what;
  }
  friend bool operator==(const Seen &a, const Seen &b) {
    return a.what == b.what && a.weight == b.weight;
  }
};

class Refinement {
public:
  Refinement(std::vector<uint32_t> colours, ArrayRef<RefinementEdge> edges)
      : classOf(std::move(colours)), edges(edges), first(classOf.size() + 1) {
    for (const RefinementEdge &edge : edges)
      ++first[edge.from + 1];
    for (size_t v = 0; v < classOf.size(); ++v)
      first[v + 1] += first[v];
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    order.resize(edges.size());
    for (auto [index, edge] : llvm::enumerate(edges))
      order[next[edge.from]++] = index;
  }

  std::vector<uint32_t> run() {
    size_t count = 0;
    while (true) {
      size_t refined = round();
      if (refined == count)
        return classOf;
      count = refined;
    }
  }

private:
  size_t round();
  /// Sets `view` to the labels, classes and total weights of the edges of
  /// `vertex`, sorted. There is one entry per label and class.
  void look(uint32_t vertex);

  std::vector<uint32_t> classOf;
  ArrayRef<RefinementEdge> edges;
  /// `order` holds the indices of all edges, grouped by RefinementEdge::from.
  /// The edges of vertex v are at [first[v], first[v + 1]).
  std::vector<uint32_t> first, order;
  std::vector<Seen> view;
};
} // namespace

void Refinement::look(uint32_t vertex) {
  view.clear();
  for (uint32_t i = first[vertex]; i < first[vertex + 1]; ++i) {
    const RefinementEdge &edge = edges[order[i]];
    view.push_back({static_cast<uint64_t>(edge.label) << 32 | classOf[edge.to],
                    edge.weight});
  }
  llvm::sort(view);
  size_t kept = 0;
  for (const Seen &seen : view)
    if (kept && view[kept - 1].what == seen.what)
      view[kept - 1].weight += seen.weight;
    else
      view[kept++] = seen;
  view.resize(kept);
}

/// Splits each class into classes of vertices with equal views (`look`).
/// Returns the new number of classes.
size_t Refinement::round() {
  struct Class {
    uint32_t former;
    std::vector<Seen> view;
  };
  std::vector<Class> classes;
  std::unordered_multimap<size_t, uint32_t> byHash;
  std::vector<uint32_t> refined(classOf.size());
  for (uint32_t vertex = 0; vertex < classOf.size(); ++vertex) {
    look(vertex);
    hash_code hash = hash_value(classOf[vertex]);
    for (const Seen &seen : view)
      hash = hash_combine(hash, seen.what, seen.weight);
    auto [begin, end] = byHash.equal_range(hash);
    auto found = std::find_if(begin, end, [&](const auto &entry) {
      const Class &candidate = classes[entry.second];
      return candidate.former == classOf[vertex] && candidate.view == view;
    });
    if (found != end) {
      refined[vertex] = found->second;
      continue;
    }
    refined[vertex] = classes.size();
    byHash.emplace(hash, classes.size());
    classes.push_back({classOf[vertex], view});
  }
  classOf = std::move(refined);
  return classes.size();
}

std::vector<uint32_t> proteus::sim::refine(std::vector<uint32_t> colours,
                                           ArrayRef<RefinementEdge> edges) {
  return Refinement(std::move(colours), edges).run();
}
