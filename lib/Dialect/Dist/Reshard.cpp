//===- Reshard.cpp - the cheapest steps between two layouts ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisBundles.h"

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::failure;
using llvm::FailureOr;
using llvm::SmallVector;

static constexpr ReductionKind allReductionKinds[] = {ReductionKind::Sum,
                                                      ReductionKind::Max};
static_assert(std::size(allReductionKinds) == numReductionKinds);

/// Calls `visit` with every non-empty selection of `axes`, shorter selections
/// first. If `ordered` is true, {a, b} and {b, a} are two selections. If it is
/// false, only the ascending selection {a, b} is visited.
static void forEachSelection(ArrayRef<Axis> axes, bool ordered,
                             llvm::function_ref<void(ArrayRef<Axis>)> visit) {
  SmallVector<AxisList> current = {{}};
  for (size_t length = 1; length <= axes.size(); ++length) {
    SmallVector<AxisList> next;
    for (const AxisList &prefix : current) {
      for (Axis axis : axes) {
        if (llvm::is_contained(prefix, axis) ||
            (!ordered && !prefix.empty() && axis < prefix.back()))
          continue;
        next.push_back(prefix);
        next.back().push_back(axis);
      }
    }
    for (const AxisList &selection : next)
      visit(selection);
    current = std::move(next);
  }
}

namespace {
/// Uniform-cost search for the cheapest steps to the layout `to`. No step moves
/// an axis that is not in `movable`.
class Planner {
public:
  Planner(const Mesh &mesh, ArrayRef<int64_t> shape, int64_t elementBits,
          AxisList movable, const Layout &to, StepCost cost)
      : mesh(mesh), shape(shape), elementBits(elementBits),
        movable(std::move(movable)), to(to), cost(cost) {}

  FailureOr<SmallVector<PlannedStep, 0>> run(const Layout &from) {
    reach(from, Node{});
    while (!queue.empty()) {
      auto [key, sequence, layout] = queue.top();
      queue.pop();
      Node &node = nodes[layout];
      if (node.settled || key != node.key())
        continue;
      node.settled = true;
      if (layout == to)
        return path(layout);
      expand(layout);
    }
    return failure();
  }

private:
  using Key = std::pair<uint64_t, unsigned>;
  struct Node {
    uint64_t cost = 0;
    unsigned length = 0;
    std::optional<Step> step = std::nullopt;
    Layout previous;
    bool settled = false;
    Key key() const { return {cost, length}; }
  };
  using Entry = std::tuple<Key, uint64_t, Layout>;

  void reach(const Layout &layout, Node node) {
    auto [it, inserted] = nodes.try_emplace(layout);
    if (!inserted && it->second.key() <= node.key())
      return;
    it->second = std::move(node);
    queue.emplace(it->second.key(), nextSequence++, layout);
  }

  void attempt(const Layout &from, Step step) {
    // A step that puts the first axes on `toDim` makes it a zigzag if it is one
    // in the target. For all other steps, applyStep ignores this flag.
    if (step.toDim && *step.toDim == shape.size())
      step.flat = to.flat;
    else if (step.toDim)
      step.zigzag = to.dims[*step.toDim].zigzag;
    std::string reason;
    FailureOr<Layout> after = applyStep(mesh, shape, from, step, reason);
    if (failed(after))
      return;
    const Node &origin = nodes[from];
    Node node;
    node.cost = origin.cost + cost(step, stepVolume(mesh, shape, elementBits,
                                                    from, *after, step));
    node.length = origin.length + 1;
    node.step = std::move(step);
    node.previous = from;
    reach(*after, std::move(node));
  }

  /// Tries every step from `layout`, in the order that the comment of
  /// `planReshard` gives.
  void expand(const Layout &layout) {
    unsigned rank = shape.size();
    // The cuts that a step can add to, or take from.
    unsigned numTo = to.getNumCuts(), numFrom = layout.getNumCuts();
    AxisList fixed(llvm::make_filter_range(movable, [&](Axis axis) {
      return layout.getFixedCoordinate(axis).has_value();
    }));
    AxisList replicated(llvm::make_filter_range(
        movable, [&](Axis axis) { return layout.isReplicated(axis); }));
    for (unsigned dim = 0; dim < numTo; ++dim)
      forEachSelection(replicated, true, [&](ArrayRef<Axis> axes) {
        attempt(layout, {StepKind::Slice, AxisList(axes), {}, {}, dim});
      });
    for (unsigned dim = 0; dim < rank; ++dim)
      forEachSelection(fixed, true, [&](ArrayRef<Axis> axes) {
        attempt(layout, {StepKind::Scatter, AxisList(axes), {}, {}, dim});
      });
    for (unsigned dim = 0; dim < numTo; ++dim)
      for (ReductionKind kind : allReductionKinds)
        forEachSelection(pending(layout, kind), true, [&](ArrayRef<Axis> axes) {
          attempt(layout,
                  {StepKind::ReduceScatter, AxisList(axes), kind, {}, dim});
        });
    for (ReductionKind kind : allReductionKinds)
      forEachSelection(pending(layout, kind), false, [&](ArrayRef<Axis> axes) {
        attempt(layout, {StepKind::AllReduce, AxisList(axes), kind, {}, {}});
      });
    forEachPermutation(layout);
    for (unsigned from = 0; from < rank; ++from)
      for (unsigned to = 0; to < rank; ++to)
        if (from != to)
          expandSuffixes(layout, from, [&](ArrayRef<Axis> suffix) {
            forEachSelection(suffix, true, [&](ArrayRef<Axis> axes) {
              if (axes.size() == suffix.size())
                attempt(layout,
                        {StepKind::AllToAll, AxisList(axes), {}, from, to});
            });
          });
    for (unsigned from = 0; from < numFrom; ++from)
      expandSuffixes(layout, from, [&](ArrayRef<Axis> suffix) {
        attempt(layout, {StepKind::AllGather, AxisList(suffix), {}, from, {}});
      });
    forEachSelection(fixed, false, [&](ArrayRef<Axis> axes) {
      attempt(layout, {StepKind::Broadcast, AxisList(axes), {}, {}, {}});
    });
  }

  AxisList pending(const Layout &layout, ReductionKind kind) {
    return AxisList(
        llvm::make_filter_range(layout.getPartial(kind), [&](Axis axis) {
          return llvm::is_contained(movable, axis);
        }));
  }

  /// Tries every permute of the blocks of `layout` between ranks. Axes of size
  /// one keep their positions, because moving such an axis moves no block.
  void forEachPermutation(const Layout &layout) {
    AxisList mobile(llvm::make_filter_range(movable, [&](Axis axis) {
      return mesh.getSize(axis) > 1 && !layout.getPartialKind(axis) &&
             !layout.getFixedCoordinate(axis);
    }));
    if (mobile.size() < 2 || !layout.flat.empty())
      return;
    SmallVector<AxisList, 0> placed(shape.size());
    // A permute moves whole parts between ranks, so each dimension keeps its
    // zigzag and shift.
    for (auto [list, own] : llvm::zip_equal(placed, layout.dims)) {
      list.zigzag = own.zigzag;
      list.shift = own.shift;
    }
    std::function<void(unsigned, int64_t)> place = [&](unsigned dim,
                                                       int64_t remaining) {
      if (dim == shape.size()) {
        Layout result = layout;
        result.dims.assign(placed.begin(), placed.end());
        if (result != layout)
          attempt(layout, {StepKind::Permute,
                           permutedAxes(mesh, layout, result),
                           {},
                           {},
                           {},
                           placed});
        return;
      }
      // `remaining` is the number of parts into which the axes that are not yet
      // placed must divide the dimension. An axis that can't move must keep its
      // stride, so it is placed as soon as `remaining` is the product of the
      // sizes of this axis and the axes after it in the original layout.
      ArrayRef<Axis> before = layout.dims[dim];
      for (auto [index, axis] : llvm::enumerate(before)) {
        if (llvm::is_contained(mobile, axis) ||
            llvm::is_contained(placed[dim], axis) ||
            mesh.getSize(before.drop_front(index)) != remaining)
          continue;
        placed[dim].push_back(axis);
        place(dim, remaining / mesh.getSize(axis));
        placed[dim].pop_back();
        return;
      }
      if (remaining == 1)
        return place(dim + 1, dim + 1 < shape.size()
                                  ? numParts(mesh, layout, dim + 1)
                                  : 1);
      for (Axis axis : mobile) {
        if (remaining % mesh.getSize(axis) != 0 ||
            llvm::any_of(placed, [&](const AxisList &axes) {
              return llvm::is_contained(axes, axis);
            }))
          continue;
        placed[dim].push_back(axis);
        place(dim, remaining / mesh.getSize(axis));
        placed[dim].pop_back();
      }
    };
    if (!shape.empty())
      place(0, numParts(mesh, layout, 0));
  }

  /// Calls `visit` with the last axis that shards `dim`, then with the last
  /// two, and so on, until an axis is not movable. Each list is in ascending
  /// order.
  void expandSuffixes(const Layout &layout, unsigned dim,
                      llvm::function_ref<void(ArrayRef<Axis>)> visit) {
    AxisList suffix;
    for (Axis axis : llvm::reverse(layout.getAxes(dim))) {
      if (!llvm::is_contained(movable, axis))
        return;
      suffix.push_back(axis);
      llvm::sort(suffix);
      visit(suffix);
    }
  }

  SmallVector<PlannedStep, 0> path(const Layout &target) {
    SmallVector<PlannedStep, 0> steps;
    for (Layout layout = target; nodes[layout].step;
         layout = nodes[layout].previous)
      steps.push_back({*nodes[layout].step, layout});
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  int64_t elementBits;
  AxisList movable;
  const Layout &to;
  StepCost cost;
  std::map<Layout, Node> nodes;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  uint64_t nextSequence = 0;
};
} // namespace

/// Compares the layouts without a search. If they show that no steps lead from
/// `from` to `to`, returns the reason. Otherwise returns nullopt, although a
/// search may still find no steps.
static std::optional<std::string>
checkReshard(const Mesh &mesh, const Layout &from, const Layout &to) {
  for (const std::pair<Axis, int64_t> &entry : to.fixed)
    if (!llvm::is_contained(from.fixed, entry))
      return "the layouts are fixed at different coordinates, which needs a "
             "transfer";
  if (from.getShardedDim(microAxis) != to.getShardedDim(microAxis) ||
      from.getPartialKind(microAxis) != to.getPartialKind(microAxis))
    return "the layouts differ in the time axis 'micro', which takes part in "
           "no collective";
  for (Axis axis = 0; axis < mesh.getNumAxes(); ++axis) {
    std::optional<ReductionKind> kind = to.getPartialKind(axis);
    if (kind && from.getPartialKind(axis) != kind)
      return ("the target is partial (" + stringifyReductionKind(*kind) +
              ") over axis '" + mesh.getName(axis) + "' and the source is not")
          .str();
  }
  return std::nullopt;
}

/// Returns the device axes that steps of the plan may move. Axes over which
/// `to` is fixed or partial do not move, and neither do axes that both layouts
/// replicate. With `keepMajor`, the first axes of a dimension do not move
/// either if they are the same in both layouts. This keeps the search small and
/// the plans simple, but if links differ, moving a major axis temporarily can
/// cost less. Exception: if one layout divides a dimension unevenly, or if the
/// dimension is a zigzag in only one layout, its first axes may move even with
/// `keepMajor`, because there may be no sequence of exact steps that keeps
/// them.
static AxisList movableAxes(const Mesh &mesh, ArrayRef<int64_t> shape,
                            const Layout &from, const Layout &to,
                            bool keepMajor) {
  SmallVector<bool> settled(mesh.getNumAxes());
  settled[microAxis] = true;
  for (Axis axis = microAxis + 1; axis < mesh.getNumAxes(); ++axis)
    settled[axis] = to.getFixedCoordinate(axis) || to.getPartialKind(axis) ||
                    (from.isReplicated(axis) && to.isReplicated(axis));
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!keepMajor || size % numParts(mesh, from, dim) ||
        size % numParts(mesh, to, dim) ||
        from.dims[dim].zigzag != to.dims[dim].zigzag)
      continue;
    for (auto [before, after] : llvm::zip(from.dims[dim], to.dims[dim])) {
      if (before != after)
        break;
      settled[before] = true;
    }
  }
  // A flat cut can stay only if the block that it cuts stays.
  if (keepMajor && from.flat == to.flat && from.dims == to.dims)
    for (Axis axis : from.flat.axes)
      settled[axis] = true;
  AxisList movable;
  for (Axis axis = 0; axis < mesh.getNumAxes(); ++axis)
    if (!settled[axis])
      movable.push_back(axis);
  return movable;
}

/// Plans the steps on the mesh of bundles (see AxisBundles.h), so that the axes
/// of a bundle move together.
static FailureOr<SmallVector<PlannedStep, 0>>
planTogether(const AxisBundles &bundles, ArrayRef<int64_t> shape,
             int64_t elementBits, const Layout &from, const Layout &to,
             StepCost cost) {
  auto costOfJoined = [&](const Step &step, const StepVolume &volume) {
    return cost(bundles.unfold(step), volume);
  };
  Layout source = bundles.fold(from), target = bundles.fold(to);
  auto plan = Planner(bundles.getMesh(), shape, elementBits,
                      movableAxes(bundles.getMesh(), shape, source, target,
                                  /*keepMajor=*/true),
                      target, costOfJoined)
                  .run(source);
  if (succeeded(plan))
    for (PlannedStep &planned : *plan) {
      planned.step = bundles.unfold(planned.step);
      planned.result = bundles.unfold(planned.result);
    }
  return plan;
}

FailureOr<SmallVector<PlannedStep, 0>>
proteus::dist::planReshard(const Mesh &mesh, ArrayRef<int64_t> shape,
                           int64_t elementBits, const Layout &from,
                           const Layout &to, StepCost cost, std::string &reason,
                           bool splitCollectives) {
  if (std::optional<std::string> problem = checkReshard(mesh, from, to)) {
    reason = std::move(*problem);
    return failure();
  }
  if (!splitCollectives) {
    AxisBundles bundles(mesh, from, to);
    if (bundles.joins())
      if (auto plan = planTogether(bundles, shape, elementBits, from, to, cost);
          succeeded(plan))
        return plan;
  }
  AxisList movable = movableAxes(mesh, shape, from, to,
                                 /*keepMajor=*/!splitCollectives);
  auto plan =
      Planner(mesh, shape, elementBits, std::move(movable), to, cost).run(from);
  if (failed(plan))
    reason = "no sequence of exact steps leads from one layout to the other, "
             "because of uneven parts or the time axis";
  return plan;
}
