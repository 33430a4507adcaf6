//===- Reshard.cpp - steps between layouts and the cheapest path ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <map>
#include <queue>
#include <tuple>
#include <vector>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::failure;
using llvm::FailureOr;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

StringRef proteus::dist::stringify(StepKind kind) {
  switch (kind) {
  case StepKind::Slice:
    return "slice";
  case StepKind::ReduceScatter:
    return "reduce_scatter";
  case StepKind::AllReduce:
    return "all_reduce";
  case StepKind::AllToAll:
    return "all_to_all";
  case StepKind::AllGather:
    return "all_gather";
  }
  llvm_unreachable("unknown step kind");
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

namespace {
/// Applies one step to a layout in place, or says why that is not possible.
class StepApplier {
public:
  StepApplier(const Mesh &mesh, ArrayRef<int64_t> shape, const Step &step,
              Layout &layout, std::string &reason)
      : mesh(mesh), shape(shape), step(step), layout(layout), reason(reason) {}

  bool run() {
    assert(step.fromDim.value_or(0) < std::max<size_t>(shape.size(), 1) &&
           step.toDim.value_or(0) < std::max<size_t>(shape.size(), 1) &&
           "dimension outside the tensor");
    if (!checkAxes())
      return false;
    switch (step.kind) {
    case StepKind::Slice:
      return checkReplicated() && append(*step.toDim);
    case StepKind::ReduceScatter:
      return reduce() && append(*step.toDim);
    case StepKind::AllReduce:
      return reduce();
    case StepKind::AllToAll:
      if (*step.fromDim == *step.toDim)
        return fail("all_to_all from dimension " + Twine(*step.fromDim) +
                    " to itself");
      return remove(*step.fromDim) && append(*step.toDim);
    case StepKind::AllGather:
      return remove(*step.fromDim);
    }
    llvm_unreachable("unknown step kind");
  }

private:
  bool fail(const Twine &message) {
    reason = message.str();
    return false;
  }

  bool checkAxes() {
    if (step.axes.empty())
      return fail("expected at least one axis");
    AxisList sorted(step.axes);
    llvm::sort(sorted);
    for (auto [index, axis] : llvm::enumerate(sorted)) {
      if (axis == microAxis)
        return fail("the time axis 'micro' cannot take part in a collective");
      if (index > 0 && sorted[index - 1] == axis)
        return fail("axis '" + mesh.getName(axis) + "' is listed twice");
    }
    return true;
  }

  bool checkReplicated() {
    for (Axis axis : step.axes)
      if (!layout.isReplicated(axis))
        return fail("the operand is not replicated over axis '" +
                    mesh.getName(axis) + "'");
    return true;
  }

  /// Takes the axes off the pending reductions.
  bool reduce() {
    ReductionKind kind = *step.reduction;
    // A sum of maxima: the maxima come first.
    if (kind == ReductionKind::Sum &&
        !layout.getPartial(ReductionKind::Max).empty())
      return fail("the pending maximum over " +
                  mesh.format(layout.getPartial(ReductionKind::Max)) +
                  " must be reduced before a sum");
    AxisList &pending = layout.getPartial(kind);
    for (Axis axis : step.axes) {
      auto *it = llvm::find(pending, axis);
      if (it == pending.end())
        return fail("the operand is not partial (" +
                    stringifyReductionKind(kind) + ") over axis '" +
                    mesh.getName(axis) + "'");
      pending.erase(it);
    }
    return true;
  }

  /// Takes the axes off the minor end of a dimension.
  bool remove(unsigned dim) {
    AxisList &axes = layout.dims[dim];
    size_t count = step.axes.size();
    if (axes.size() < count ||
        !std::is_permutation(axes.end() - count, axes.end(), step.axes.begin()))
      return fail("axes " + mesh.format(step.axes) +
                  " are not the minor axes of dimension " + Twine(dim) +
                  ", which is sharded by " + mesh.format(axes));
    ArrayRef<Axis> kept = ArrayRef<Axis>(axes).drop_back(count);
    if (!checkRegroup(dim, kept))
      return false;
    axes.truncate(kept.size());
    return true;
  }

  /// Adds the axes at the minor end of a dimension.
  bool append(unsigned dim) {
    AxisList &axes = layout.dims[dim];
    int64_t parts = mesh.getSize(axes) * mesh.getSize(step.axes);
    if (parts > std::max<int64_t>(shape[dim], 1))
      return fail("dimension " + Twine(dim) + " of size " + Twine(shape[dim]) +
                  " cannot be cut into " + Twine(parts) + " parts");
    if (!checkRegroup(dim, axes))
      return false;
    axes.append(step.axes.begin(), step.axes.end());
    return true;
  }

  bool checkRegroup(unsigned dim, ArrayRef<Axis> kept) {
    if (partsRegroup(shape[dim], mesh.getSize(kept), mesh.getSize(step.axes)))
      return true;
    return fail("the " + Twine(mesh.getSize(kept) * mesh.getSize(step.axes)) +
                " uneven parts of dimension " + Twine(dim) + " of size " +
                Twine(shape[dim]) + " do not nest in the " +
                Twine(mesh.getSize(kept)) + " parts over " + mesh.format(kept));
  }

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  const Step &step;
  Layout &layout;
  std::string &reason;
};
} // namespace

FailureOr<Layout> proteus::dist::applyStep(const Mesh &mesh,
                                           ArrayRef<int64_t> shape,
                                           const Layout &from, const Step &step,
                                           std::string &reason) {
  Layout layout = from;
  if (!StepApplier(mesh, shape, step, layout, reason).run())
    return failure();
  return layout;
}

static int64_t localBytes(const Mesh &mesh, ArrayRef<int64_t> shape,
                          int64_t elementBits, const Layout &layout) {
  int64_t elements = 1;
  for (int64_t size : largestLocalShape(mesh, layout, shape))
    elements *= size;
  return (elements * elementBits + 7) / 8;
}

StepVolume proteus::dist::stepVolume(const Mesh &mesh, ArrayRef<int64_t> shape,
                                     int64_t elementBits, const Layout &from,
                                     const Layout &to, const Step &step) {
  bool countsResult =
      step.kind == StepKind::AllGather || step.kind == StepKind::Slice;
  StepVolume volume;
  volume.groupSize = mesh.getSize(step.axes);
  volume.bufferBytes =
      localBytes(mesh, shape, elementBits, countsResult ? to : from);
  if (step.kind == StepKind::Slice)
    return volume;
  int64_t rounds = step.kind == StepKind::AllReduce ? 2 : 1;
  volume.movedBytes = rounds *
                      (volume.bufferBytes / volume.groupSize +
                       (volume.bufferBytes % volume.groupSize != 0)) *
                      (volume.groupSize - 1);
  return volume;
}

uint64_t proteus::dist::defaultStepCost(const Step &step,
                                        const StepVolume &volume) {
  constexpr uint64_t startUp = 64 * 1024;
  if (step.kind == StepKind::Slice || volume.groupSize == 1)
    return 0;
  return volume.movedBytes + startUp;
}

//===----------------------------------------------------------------------===//
// The cheapest path
//===----------------------------------------------------------------------===//

/// Calls `visit` with every non-empty ordered selection of `axes`: shorter
/// ones first, then in the order of `axes`.
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
/// Uniform-cost search over the layouts that `movable` axes can reach.
class Planner {
public:
  Planner(const Mesh &mesh, ArrayRef<int64_t> shape, int64_t elementBits,
          AxisList movable, StepCost cost)
      : mesh(mesh), shape(shape), elementBits(elementBits),
        movable(std::move(movable)), cost(cost) {}

  FailureOr<SmallVector<PlannedStep>> run(const Layout &from,
                                          const Layout &to) {
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
    std::string reason;
    FailureOr<Layout> to = applyStep(mesh, shape, from, step, reason);
    if (failed(to))
      return;
    const Node &origin = nodes[from];
    Node node;
    node.cost = origin.cost + cost(step, stepVolume(mesh, shape, elementBits,
                                                    from, *to, step));
    node.length = origin.length + 1;
    node.step = std::move(step);
    node.previous = from;
    reach(*to, std::move(node));
  }

  /// Tries every step out of `layout` in the documented order.
  void expand(const Layout &layout) {
    unsigned rank = shape.size();
    AxisList replicated(llvm::make_filter_range(
        movable, [&](Axis axis) { return layout.isReplicated(axis); }));
    for (unsigned dim = 0; dim < rank; ++dim)
      forEachSelection(replicated, true, [&](ArrayRef<Axis> axes) {
        attempt(layout, {StepKind::Slice, AxisList(axes), {}, {}, dim});
      });
    for (unsigned index = 0; index < numReductionKinds; ++index)
      expandReductions(layout, static_cast<ReductionKind>(index));
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
    for (unsigned from = 0; from < rank; ++from)
      expandSuffixes(layout, from, [&](ArrayRef<Axis> suffix) {
        attempt(layout, {StepKind::AllGather, AxisList(suffix), {}, from, {}});
      });
  }

  void expandReductions(const Layout &layout, ReductionKind kind) {
    AxisList pending(
        llvm::make_filter_range(layout.getPartial(kind), [&](Axis axis) {
          return llvm::is_contained(movable, axis);
        }));
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      forEachSelection(pending, true, [&](ArrayRef<Axis> axes) {
        attempt(layout,
                {StepKind::ReduceScatter, AxisList(axes), kind, {}, dim});
      });
    forEachSelection(pending, false, [&](ArrayRef<Axis> axes) {
      attempt(layout, {StepKind::AllReduce, AxisList(axes), kind, {}, {}});
    });
  }

  /// Calls `visit` with the movable minor axes of `dim` in ascending order,
  /// one more each time.
  void expandSuffixes(const Layout &layout, unsigned dim,
                      llvm::function_ref<void(ArrayRef<Axis>)> visit) {
    AxisList suffix;
    for (Axis axis : llvm::reverse(layout.dims[dim])) {
      if (!llvm::is_contained(movable, axis))
        return;
      suffix.push_back(axis);
      llvm::sort(suffix);
      visit(suffix);
    }
  }

  SmallVector<PlannedStep> path(const Layout &target) {
    SmallVector<PlannedStep> steps;
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
  StepCost cost;
  std::map<Layout, Node> nodes;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  uint64_t nextSequence = 0;
};
} // namespace

/// Why no steps can lead from `from` to `to`, where that is plain to see.
static std::optional<std::string>
checkReshard(const Mesh &mesh, const Layout &from, const Layout &to) {
  if (from.fixed != to.fixed)
    return "the layouts are fixed at different coordinates, which takes a "
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

/// Device axes whose role may have to change. Axes that both layouts treat
/// alike are left alone, which keeps the search small and its plans plain; as
/// major axes of an uneven dimension they may be needed all the same.
static AxisList movableAxes(const Mesh &mesh, ArrayRef<int64_t> shape,
                            const Layout &from, const Layout &to) {
  SmallVector<bool> settled(mesh.getNumAxes());
  settled[microAxis] = true;
  for (Axis axis = microAxis + 1; axis < mesh.getNumAxes(); ++axis)
    settled[axis] = from.getFixedCoordinate(axis) || to.getPartialKind(axis) ||
                    (from.isReplicated(axis) && to.isReplicated(axis));
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size % numParts(mesh, from, dim) || size % numParts(mesh, to, dim))
      continue;
    for (auto [before, after] : llvm::zip(from.dims[dim], to.dims[dim])) {
      if (before != after)
        break;
      settled[before] = true;
    }
  }
  AxisList movable;
  for (Axis axis = 0; axis < mesh.getNumAxes(); ++axis)
    if (!settled[axis])
      movable.push_back(axis);
  return movable;
}

FailureOr<SmallVector<PlannedStep>> proteus::dist::planReshard(
    const Mesh &mesh, ArrayRef<int64_t> shape, int64_t elementBits,
    const Layout &from, const Layout &to, StepCost cost, std::string &reason) {
  if (std::optional<std::string> problem = checkReshard(mesh, from, to)) {
    reason = std::move(*problem);
    return failure();
  }
  AxisList movable = movableAxes(mesh, shape, from, to);
  auto plan =
      Planner(mesh, shape, elementBits, std::move(movable), cost).run(from, to);
  if (failed(plan))
    reason = "no sequence of exact steps leads from one layout to the other; "
             "uneven parts or the time axis are in the way";
  return plan;
}
