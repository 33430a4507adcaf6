//===- BruteForceTest.cpp - plans against all sequences of steps ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nodes of a graph are all layouts of a small tensor. Its edges come from
// comparing two layouts: if one step converts one to the other, the edge has
// its cost. This uses none of the planner's code. The plan must cost as much as
// the shortest path over all sequences of steps, and it must move the data
// correctly.
//
//===----------------------------------------------------------------------===//

#include "RankData.h"

#include <limits>
#include <random>
#include <set>

using namespace proteus::dist;

namespace {

constexpr uint64_t unreachable = std::numeric_limits<uint64_t>::max();

using CostFunction = uint64_t (*)(const Step &, const StepVolume &);

/// Returns the cost on two levels of links: a collective over the first axis
/// leaves the node and is slow.
uint64_t twoLevelCost(const Step &step, const StepVolume &volume) {
  if (step.kind == StepKind::Slice || volume.groupSize == 1)
    return 0;
  bool leavesNode = llvm::is_contained(step.axes, 1u);
  return volume.movedBytes * (leavesNode ? 12 : 1) +
         (leavesNode ? 50 : 20) * (volume.groupSize - 1);
}

/// Returns the start of part `part` of `count`; the first parts are the larger
/// ones.
int64_t startOf(int64_t size, int64_t count, int64_t part) {
  int64_t start = 0;
  for (int64_t i = 0; i < part; ++i)
    start += size / count + (i < size % count ? 1 : 0);
  return start;
}

/// Returns true if `outer * inner` parts refine `outer` parts.
bool nests(int64_t size, int64_t outer, int64_t inner) {
  for (int64_t part = 0; part <= outer; ++part)
    if (startOf(size, outer, part) !=
        startOf(size, outer * inner, part * inner))
      return false;
  return true;
}

/// The graph of steps between layouts, found by comparing them.
class Graph {
public:
  Graph(const Mesh &mesh, ArrayRef<int64_t> shape, int64_t elementBytes,
        const std::vector<Layout> &layouts, CostFunction cost)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), layouts(layouts),
        cost(cost) {
    edges.resize(layouts.size());
    for (auto [a, from] : llvm::enumerate(layouts))
      for (auto [b, to] : llvm::enumerate(layouts))
        if (uint64_t length = oneStep(from, to);
            a != b && length != unreachable)
          edges[a].push_back({b, length});
  }

  /// Returns the costs of the cheapest sequences from `source` that keep the
  /// axes `idle` replicated.
  std::vector<uint64_t> distances(size_t source, ArrayRef<Axis> idle) const {
    std::vector<uint64_t> distance(layouts.size(), unreachable);
    std::vector<bool> allowed(layouts.size()), done(layouts.size());
    for (auto [i, layout] : llvm::enumerate(layouts))
      allowed[i] = llvm::all_of(idle, [&layout = layout](Axis axis) {
        return layout.isReplicated(axis);
      });
    distance[source] = 0;
    while (true) {
      size_t next = layouts.size();
      for (size_t i = 0; i < layouts.size(); ++i)
        if (!done[i] && distance[i] != unreachable &&
            (next == layouts.size() || distance[i] < distance[next]))
          next = i;
      if (next == layouts.size())
        return distance;
      done[next] = true;
      for (auto [target, length] : edges[next])
        if (allowed[target])
          distance[target] =
              std::min(distance[target], distance[next] + length);
    }
  }

private:
  /// Returns `list` without its first `count` axes.
  static AxisList tail(const AxisList &list, size_t count) {
    return AxisList(list.begin() + count, list.end());
  }
  static bool isPrefix(const AxisList &prefix, const AxisList &list) {
    return prefix.size() <= list.size() &&
           std::equal(prefix.begin(), prefix.end(), list.begin());
  }
  static bool sameSet(AxisList a, AxisList b) {
    llvm::sort(a);
    llvm::sort(b);
    return a == b;
  }
  static AxisList difference(const AxisList &a, const AxisList &b) {
    AxisList result;
    for (Axis axis : a)
      if (!llvm::is_contained(b, axis))
        result.push_back(axis);
    return result;
  }

  int64_t bytes(const Layout &layout) const {
    int64_t elements = 1;
    for (auto [size, axes] : llvm::zip_equal(shape, layout.dims)) {
      int64_t parts = mesh.getSize(axes);
      elements *= (size + parts - 1) / parts;
    }
    return elementBytes * elements;
  }

  uint64_t costOf(StepKind kind, AxisList axes, int64_t buffer) const {
    int64_t ranks = mesh.getSize(axes);
    int64_t moved = 0, part = (buffer + ranks - 1) / ranks;
    if (kind == StepKind::AllReduce)
      moved = 2 * part * (ranks - 1);
    else if (kind == StepKind::Permute || kind == StepKind::Broadcast)
      moved = buffer;
    else if (kind != StepKind::Slice)
      moved = part * (ranks - 1);
    return cost({kind, std::move(axes)}, {ranks, buffer, moved});
  }

  /// Returns true if `added` can be appended to the axes `kept` of `dim`, or
  /// removed from their end.
  bool isExact(unsigned dim, const AxisList &kept,
               const AxisList &added) const {
    return nests(shape[dim], mesh.getSize(kept), mesh.getSize(added));
  }

  uint64_t oneStep(const Layout &from, const Layout &to) const {
    SmallVector<unsigned> changed;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (from.dims[dim] != to.dims[dim])
        changed.push_back(dim);
    uint64_t best = unreachable;
    auto offer = [&](StepKind kind, AxisList axes, int64_t buffer) {
      best = std::min(best, costOf(kind, std::move(axes), buffer));
    };
    // Returns the axes that a dimension gains at its minor end, if that is its
    // only change.
    auto gained = [&](unsigned dim, const Layout &a,
                      const Layout &b) -> std::optional<AxisList> {
      if (!isPrefix(a.dims[dim], b.dims[dim]))
        return std::nullopt;
      AxisList axes = tail(b.dims[dim], a.dims[dim].size());
      if (!isExact(dim, a.dims[dim], axes))
        return std::nullopt;
      return axes;
    };
    bool sameFixed = from.fixed == to.fixed;
    bool samePartial = from.partial == to.partial;
    if (sameFixed && samePartial) {
      if (changed.size() == 1) {
        if (auto axes = gained(changed[0], from, to))
          offer(StepKind::Slice, *axes, bytes(to));
        if (auto axes = gained(changed[0], to, from))
          offer(StepKind::AllGather, *axes, bytes(to));
      }
      if (changed.size() == 2)
        for (int way : {0, 1}) {
          auto lost = gained(changed[way], to, from);
          auto won = gained(changed[1 - way], from, to);
          if (lost && won && sameSet(*lost, *won))
            offer(StepKind::AllToAll, *lost, bytes(from));
        }
      bool sameParts = llvm::all_of(changed, [&](unsigned dim) {
        return mesh.getSize(from.dims[dim]) == mesh.getSize(to.dims[dim]);
      });
      if (sameParts && !changed.empty()) {
        AxisList axes;
        for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
          if (placeOf(from, axis) != placeOf(to, axis))
            axes.push_back(axis);
        offer(StepKind::Permute, axes, bytes(from));
      }
      return best;
    }
    // Axes are removed and shard one dimension or none.
    AxisList removed;
    StepKind whole, parts;
    if (samePartial) {
      for (auto entry : from.fixed)
        if (!llvm::is_contained(to.fixed, entry))
          removed.push_back(entry.first);
      if (removed.size() + to.fixed.size() != from.fixed.size())
        return unreachable;
      whole = StepKind::Broadcast;
      parts = StepKind::Scatter;
    } else {
      const AxisList &sums = from.getPartial(ReductionKind::Sum);
      const AxisList &maxima = from.getPartial(ReductionKind::Max);
      AxisList sumsOff = difference(sums, to.getPartial(ReductionKind::Sum));
      AxisList maximaOff =
          difference(maxima, to.getPartial(ReductionKind::Max));
      bool made = sums.size() - sumsOff.size() !=
                      to.getPartial(ReductionKind::Sum).size() ||
                  maxima.size() - maximaOff.size() !=
                      to.getPartial(ReductionKind::Max).size();
      bool both = !sumsOff.empty() && !maximaOff.empty();
      bool sumUnderMaximum = !sumsOff.empty() && !maxima.empty();
      if (!sameFixed || made || both || sumUnderMaximum)
        return unreachable;
      removed = sumsOff.empty() ? maximaOff : sumsOff;
      whole = StepKind::AllReduce;
      parts = StepKind::ReduceScatter;
    }
    if (changed.empty())
      offer(whole, removed, bytes(from));
    if (changed.size() == 1)
      if (auto axes = gained(changed[0], from, to);
          axes && sameSet(*axes, removed))
        offer(parts, *axes, bytes(from));
    return best;
  }

  /// Returns the dimension of an axis, and its weight in the index of the part.
  std::pair<int64_t, int64_t> placeOf(const Layout &layout, Axis axis) const {
    for (auto [dim, axes] : llvm::enumerate(layout.dims)) {
      int64_t weight = 1;
      for (Axis other : llvm::reverse(axes)) {
        if (other == axis)
          return {dim, weight};
        weight *= mesh.getSize(other);
      }
    }
    return {-1, 0};
  }

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const std::vector<Layout> &layouts;
  CostFunction cost;
  std::vector<std::vector<std::pair<size_t, uint64_t>>> edges;
};

/// Plans that have been executed on data.
using Executed =
    std::set<std::pair<Layout, std::vector<std::pair<StepKind, Layout>>>>;

/// Executes a plan on data, unless it has been executed before.
void execute(const Mesh &mesh, ArrayRef<int64_t> shape, const Layout &from,
             ArrayRef<PlannedStep> plan, Executed &executed) {
  std::vector<std::pair<StepKind, Layout>> steps;
  for (const PlannedStep &planned : plan)
    steps.push_back({planned.step.kind, planned.result});
  if (!executed.insert({from, steps}).second)
    return;
  Machine machine(mesh, shape);
  machine.load(from);
  Layout layout = from;
  for (const PlannedStep &planned : plan) {
    machine.run(planned.step, layout, planned.result);
    layout = planned.result;
  }
  EXPECT_TRUE(machine.holds(layout)) << "wrong data";
}

/// Compares plans with shortest paths for all pairs, or for `samples` pairs
/// drawn with a fixed seed. Returns the number of plans compared.
size_t compare(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape,
               int64_t elementBytes, CostFunction cost, size_t samples,
               bool withFixed, Executed &executed) {
  Mesh mesh = makeMesh(sizes);
  std::vector<Layout> layouts = allLayouts(mesh, shape, withFixed);
  Graph graph(mesh, shape, elementBytes, layouts, cost);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t from = 0; from < layouts.size(); ++from)
    for (size_t to = 0; to < layouts.size(); ++to)
      pairs.push_back({from, to});
  if (samples) {
    std::mt19937_64 random(1);
    for (size_t i = 0; i < std::min(samples, pairs.size()); ++i)
      std::swap(pairs[i], pairs[i + random() % (pairs.size() - i)]);
    pairs.resize(std::min(samples, pairs.size()));
    llvm::sort(pairs);
  }
  std::map<std::pair<size_t, AxisList>, std::vector<uint64_t>> known;
  size_t plans = 0;
  for (auto [a, b] : pairs) {
    const Layout &from = layouts[a], &to = layouts[b];
    AxisList idle;
    for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
      if (from.isReplicated(axis) && to.isReplicated(axis))
        idle.push_back(axis);
    auto [entry, isNew] = known.try_emplace({a, idle});
    if (isNew)
      entry->second = graph.distances(a, idle);
    std::string reason;
    auto plan =
        planReshard(mesh, shape, 8 * elementBytes, from, to, cost, reason,
                    /*splitCollectives=*/true);
    EXPECT_EQ(succeeded(plan), entry->second[b] != unreachable) << reason;
    if (failed(plan))
      continue;
    ++plans;
    uint64_t total = 0;
    Layout layout = from;
    for (const PlannedStep &planned : *plan) {
      total +=
          cost(planned.step, stepVolume(mesh, shape, 8 * elementBytes, layout,
                                        planned.result, planned.step));
      layout = planned.result;
    }
    EXPECT_EQ(total, entry->second[b])
        << "pair " << a << ", " << b << " of " << layouts.size();
    EXPECT_EQ(layout, to);
    execute(mesh, shape, from, *plan, executed);
    if (testing::Test::HasFailure())
      break;
  }
  return plans;
}

/// Compares plans for small elements, whose start-up times matter, and for
/// large ones, on equal links and on two levels of links.
void compare(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape,
             size_t samples = 0, bool withFixed = false) {
  Executed executed;
  for (int64_t elementBytes : {4, 1 << 20})
    for (CostFunction cost : {ringCost, twoLevelCost})
      EXPECT_GT(compare(sizes, shape, elementBytes, cost, samples, withFixed,
                        executed),
                0u);
}

TEST(BruteForceTest, OneAxis) {
  compare({2}, {4}, 0, /*withFixed=*/true);
  compare({2}, {5, 4}, 0, /*withFixed=*/true);
  compare({2}, {4, 2, 3}, 0, /*withFixed=*/true);
  compare({4}, {8, 4}, 0, /*withFixed=*/true);
}

TEST(BruteForceTest, TwoAxes) {
  compare({2, 2}, {4}, 0, /*withFixed=*/true);
  compare({2, 2}, {6}, 0, /*withFixed=*/true);
  compare({2, 2}, {5, 4}, 0, /*withFixed=*/true);
}

TEST(BruteForceTest, TwoAxesOfDifferentSizes) {
  compare({2, 4}, {8, 8});
  compare({4, 2}, {11, 8}, 1000);
}

TEST(BruteForceTest, TwoAxesAndThreeDimensions) {
  compare({2, 2}, {4, 4, 4});
  compare({2, 2}, {5, 4, 2}, 1000);
}

// Three axes have too many pairs of layouts, so some are drawn.

TEST(BruteForceTest, ThreeAxesAndAVector) {
  compare({2, 2, 2}, {8});
  compare({2, 2, 2}, {11}, 1000);
  compare({2, 2, 2}, {8}, 1000, /*withFixed=*/true);
}

// There are 25,281, 23,409 and 76,176 pairs here.

TEST(BruteForceTest, ThreeAxesAndAMatrix) {
  compare({2, 2, 2}, {8, 8}, 1000);
  compare({2, 2, 2}, {6, 9}, 200);
}

TEST(BruteForceTest, ThreeAxesAndThreeDimensions) {
  compare({2, 2, 2}, {8, 8, 8}, 100);
}

} // namespace
