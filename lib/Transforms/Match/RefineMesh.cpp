//===- RefineMesh.cpp - parts of axes as axes -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RefineMesh.h"

#include "Proteus/Dialect/Strategy/SubAxis.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace proteus;
using strategy::AxisUse;

namespace {

/// An axis of the mesh of which the tree uses sub-axes. It is cut into parts.
struct CutAxis {
  int64_t size = 1;
  /// Positions at which parts begin and end, in ascending order. A position is
  /// the product of the sizes of all parts before it. The sub-axis `d:(2)2` of
  /// `d = 8` yields 1, 2, 4 and 8.
  SmallVector<int64_t> cuts;
  /// A setting that uses a sub-axis, for diagnostics.
  Operation *user = nullptr;
  /// Names of the axes that replace this one, one per part.
  SmallVector<StringAttr> names;

  unsigned getNumParts() const { return cuts.size() - 1; }
  int64_t getPartSize(unsigned part) const {
    return cuts[part + 1] / cuts[part];
  }
  /// Returns the indices of the first and the last part that `use` covers.
  std::pair<unsigned, unsigned> getParts(const AxisUse &use) const {
    int64_t begin = use.sub ? use.sub->prefix : 1;
    int64_t end = use.sub ? begin * use.sub->size : size;
    return {llvm::find(cuts, begin) - cuts.begin(),
            llvm::find(cuts, end) - cuts.begin() - 1};
  }
};

/// Replaces the sub-axes of one tree.
class Refiner {
public:
  explicit Refiner(strategy::TreeOp tree)
      : tree(tree), context(tree.getContext()) {}

  LogicalResult run();

private:
  /// Finds the axes of which the tree uses sub-axes, and the positions at which
  /// these axes are cut.
  void findCuts();
  void joinParts();
  /// Names the axes that replace each cut axis.
  void namePieces();
  LogicalResult rewrite(strategy::SplitOp split);
  LogicalResult rewrite(strategy::AtOp at);
  LogicalResult rewrite(strategy::StagesOp stages);
  void rewriteMesh();
  /// Returns the axis that replaces `use`. Emits an error if several axes
  /// replace it.
  FailureOr<StringAttr> getSingle(Operation *op, StringAttr use);

  CutAxis *find(const AxisUse &use) {
    auto *entry = axes.find(use.axis);
    return entry == axes.end() ? nullptr : &entry->second;
  }

  strategy::TreeOp tree;
  MLIRContext *context;
  llvm::MapVector<StringRef, CutAxis> axes;
};

} // namespace

void Refiner::findCuts() {
  strategy::MeshOp mesh = tree.getMesh();
  strategy::forEachAxisUse(tree, [&](Operation *op, StringAttr text) {
    AxisUse use = AxisUse::get(text);
    if (!use.sub)
      return;
    CutAxis &axis = axes[use.axis];
    axis.size = *mesh.getAxisSize(use.axis);
    axis.user = axis.user ? axis.user : op;
    axis.cuts.append(
        {1, use.sub->prefix, use.sub->prefix * use.sub->size, axis.size});
  });
  for (auto &[name, axis] : axes) {
    llvm::sort(axis.cuts);
    axis.cuts.erase(llvm::unique(axis.cuts), axis.cuts.end());
  }
}

/// Removes the cuts that no setting needs. A split needs the cuts at both ends
/// of each of its sub-axes, except where one sub-axis of its list ends and the
/// next one begins. For example, `batch -> d:(1)2, d:(2)4` does not need the
/// cut at 2.
void Refiner::joinParts() {
  llvm::DenseMap<std::pair<StringRef, int64_t>, bool> needed;
  tree->walk([&](strategy::SplitOp split) {
    for (strategy::PartAttr part : split.getPartition().getParts()) {
      // `close` marks the cuts at the end of `previous` and at the beginning of
      // `next` as needed, unless `next` begins where `previous` ends.
      std::optional<AxisUse> previous;
      auto close = [&](const AxisUse *next) {
        if (!previous)
          return;
        const CutAxis *axis = find(*previous);
        int64_t end =
            axis ? axis->cuts[axis->getParts(*previous).second + 1] : 0;
        bool continued = next && axis && next->axis == previous->axis &&
                         axis->cuts[axis->getParts(*next).first] == end;
        if (axis && !continued)
          needed[{previous->axis, end}] = true;
        if (next && !continued)
          if (const CutAxis *other = find(*next))
            needed[{next->axis, other->cuts[other->getParts(*next).first]}] =
                true;
      };
      for (StringAttr text : part.getAxes()) {
        AxisUse use = AxisUse::get(text);
        if (!previous) {
          if (const CutAxis *axis = find(use))
            needed[{use.axis, axis->cuts[axis->getParts(use).first]}] = true;
        } else {
          close(&use);
        }
        previous = use;
      }
      close(nullptr);
    }
  });
  // Settings other than splits, such as `stages`, name a single axis instead of
  // a list, so they need a cut at both ends of a sub-axis.
  strategy::forEachAxisUse(tree, [&](Operation *op, StringAttr text) {
    AxisUse use = AxisUse::get(text);
    const CutAxis *axis = find(use);
    if (!axis || isa<strategy::SplitOp>(op))
      return;
    auto [first, last] = axis->getParts(use);
    needed[{use.axis, axis->cuts[first]}] = true;
    needed[{use.axis, axis->cuts[last + 1]}] = true;
  });
  for (auto &[name, axis] : axes)
    llvm::erase_if(axis.cuts, [&, name = name, size = axis.size](int64_t cut) {
      return cut != 1 && cut != size && !needed.lookup({name, cut});
    });
}

void Refiner::namePieces() {
  llvm::StringSet<> taken;
  for (auto axis : tree.getMesh().getAxes().getAsRange<strategy::AxisAttr>())
    taken.insert(axis.getName());
  for (auto &[name, axis] : axes) {
    if (axis.getNumParts() == 1) {
      axis.names = {StringAttr::get(context, name)};
      continue;
    }
    for (unsigned part = 0; part < axis.getNumParts(); ++part) {
      std::string separator = "_";
      auto text = [&, name = name] {
        return name.str() + separator + std::to_string(part);
      };
      while (!taken.insert(text()).second)
        separator += "_";
      axis.names.push_back(StringAttr::get(context, text()));
    }
  }
}

LogicalResult Refiner::rewrite(strategy::SplitOp split) {
  SmallVector<strategy::PartAttr> parts;
  for (strategy::PartAttr part : split.getPartition().getParts()) {
    SmallVector<StringAttr> names;
    for (StringAttr text : part.getAxes()) {
      AxisUse use = AxisUse::get(text);
      CutAxis *axis = find(use);
      if (!axis) {
        names.push_back(text);
        continue;
      }
      // A new axis is added only for the sub-axis in which it begins. For
      // example, if the cut at 2 of `d = 8` was removed, `d:(1)2, d:(2)4` adds
      // `d` for `d:(1)2` and nothing for `d:(2)4`.
      int64_t begin = use.sub ? use.sub->prefix : 1;
      int64_t end = use.sub ? begin * use.sub->size : axis->size;
      for (unsigned i = 0; i < axis->getNumParts(); ++i)
        if (axis->cuts[i] >= begin && axis->cuts[i] < end)
          names.push_back(axis->names[i]);
    }
    parts.push_back(strategy::PartAttr::get(context, part.getKey(), names,
                                            part.getZigzag(), part.getRing()));
  }
  split.setPartitionAttr(strategy::PartitionAttr::get(context, parts));
  return success();
}

FailureOr<StringAttr> Refiner::getSingle(Operation *op, StringAttr text) {
  AxisUse use = AxisUse::get(text);
  CutAxis *axis = find(use);
  if (!axis)
    return text;
  auto [first, last] = axis->getParts(use);
  if (first == last)
    return axis->names[first];
  InFlightDiagnostic diagnostic =
      op->emitOpError("places work along '")
      << text.getValue() << "', of which other settings use parts; a pipeline "
      << "lies along one axis: give it a sub-axis of its own";
  diagnostic.attachNote(axis->user->getLoc()) << "a part is used here";
  return diagnostic;
}

LogicalResult Refiner::rewrite(strategy::AtOp at) {
  SmallVector<Attribute> coordinates;
  for (auto coordinate :
       at.getCoordinates().getAsRange<strategy::CoordinateAttr>()) {
    FailureOr<StringAttr> axis = getSingle(at, coordinate.getAxis());
    if (failed(axis))
      return failure();
    coordinates.push_back(strategy::CoordinateAttr::get(
        context, *axis, coordinate.getPosition()));
  }
  at.setCoordinatesAttr(ArrayAttr::get(context, coordinates));
  return success();
}

LogicalResult Refiner::rewrite(strategy::StagesOp stages) {
  FailureOr<StringAttr> axis = getSingle(stages, stages.getAxisAttr());
  if (failed(axis))
    return failure();
  stages.setAxisAttr(*axis);
  return success();
}

void Refiner::rewriteMesh() {
  SmallVector<Attribute> refined;
  strategy::MeshOp mesh = tree.getMesh();
  for (auto axis : mesh.getAxes().getAsRange<strategy::AxisAttr>()) {
    auto *entry = axes.find(axis.getName().getValue());
    if (entry == axes.end()) {
      refined.push_back(axis);
      continue;
    }
    for (auto [part, name] : llvm::enumerate(entry->second.names))
      refined.push_back(strategy::AxisAttr::get(
          context, name, entry->second.getPartSize(part)));
  }
  mesh.setAxesAttr(ArrayAttr::get(context, refined));
}

LogicalResult Refiner::run() {
  findCuts();
  if (axes.empty())
    return success();
  joinParts();
  namePieces();
  WalkResult result = tree->walk([&](Operation *op) {
    LogicalResult rewritten = success();
    if (auto split = dyn_cast<strategy::SplitOp>(op))
      rewritten = rewrite(split);
    else if (auto at = dyn_cast<strategy::AtOp>(op))
      rewritten = rewrite(at);
    else if (auto stages = dyn_cast<strategy::StagesOp>(op))
      rewritten = rewrite(stages);
    return WalkResult(rewritten);
  });
  if (result.wasInterrupted())
    return failure();
  rewriteMesh();
  return success();
}

LogicalResult proteus::refineMesh(strategy::TreeOp tree) {
  return Refiner(tree).run();
}
