//===- AxisBundles.cpp - axes that move together --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisBundles.h"

#include "llvm/ADT/STLExtras.h"

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Returns `axes` with the zigzag and the shift of `like`.
static AxisList dealtOutAs(AxisList axes, const AxisList &like) {
  axes.zigzag = like.zigzag;
  axes.shift = like.shift;
  return axes;
}

/// Returns the axis directly after `axis` among the axes that shard the same
/// dimension. Returns nullopt if `axis` is the last or shards no dimension.
static std::optional<Axis> nextOn(const Layout &layout, Axis axis) {
  std::optional<unsigned> dim = layout.getShardedDim(axis);
  if (!dim)
    return std::nullopt;
  ArrayRef<Axis> axes = layout.getAxes(*dim);
  size_t next = llvm::find(axes, axis) - axes.begin() + 1;
  return next < axes.size() ? std::optional(axes[next]) : std::nullopt;
}

/// Returns true if `a` and `b` can be joined in `layout`: either `b` is
/// directly after `a` among the axes of a dimension, or neither axis shards a
/// dimension and both have the same role.
static bool areAlike(const Layout &layout, Axis a, Axis b) {
  if (layout.getShardedDim(a) || layout.getShardedDim(b))
    return nextOn(layout, a) == b;
  return layout.getPartialKind(a) == layout.getPartialKind(b) &&
         layout.getFixedCoordinate(a).has_value() ==
             layout.getFixedCoordinate(b).has_value();
}

AxisBundles::AxisBundles(const Mesh &mesh, const Layout &from, const Layout &to)
    : mesh(mesh) {
  joined.micro = mesh.micro;
  members.push_back({microAxis});
  // `behind[a]` is the axis after axis `a` in its bundle, or nullopt if `a` is
  // the last. `taken[b]` is true if axis `b` comes after another axis. Axes
  // that shard a dimension are in the order in which they shard it, other axes
  // in mesh order.
  SmallVector<std::optional<Axis>> behind(mesh.getNumAxes());
  SmallVector<bool> taken(mesh.getNumAxes());
  for (Axis a = 1; a < mesh.getNumAxes(); ++a)
    for (Axis b = 1; b < mesh.getNumAxes(); ++b) {
      bool ordered = from.getShardedDim(a) || to.getShardedDim(a);
      bool idle = from.isReplicated(a) && to.isReplicated(a);
      if (a == b || behind[a] || taken[b] || idle || (!ordered && b < a) ||
          !areAlike(from, a, b) || !areAlike(to, a, b))
        continue;
      behind[a] = b;
      taken[b] = true;
    }
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis) {
    if (taken[axis])
      continue;
    AxisList bundle = {axis};
    while (behind[bundle.back()])
      bundle.push_back(*behind[bundle.back()]);
    joined.names.push_back(mesh.getName(axis).str());
    joined.sizes.push_back(mesh.getSize(bundle));
    members.push_back(std::move(bundle));
  }
}

AxisList AxisBundles::unfold(ArrayRef<Axis> axes) const {
  AxisList result;
  for (Axis axis : axes)
    llvm::append_range(result, members[axis]);
  return result;
}

Layout AxisBundles::fold(const Layout &layout) const {
  auto foldAxes = [&](ArrayRef<Axis> axes) {
    AxisList result;
    for (Axis axis : axes)
      for (auto [bundle, list] : llvm::enumerate(members))
        if (list.front() == axis)
          result.push_back(bundle);
    return result;
  };
  Layout result;
  for (const AxisList &axes : layout.dims)
    result.dims.push_back(dealtOutAs(foldAxes(axes), axes));
  result.flat = layout.flat;
  result.flat.axes = foldAxes(layout.flat.axes);
  for (auto [kind, axes] : llvm::enumerate(layout.partial))
    result.partial[kind] = foldAxes(axes);
  for (auto [bundle, list] : llvm::enumerate(members)) {
    if (!layout.getFixedCoordinate(list.front()))
      continue;
    int64_t coordinate = 0;
    for (Axis axis : list)
      coordinate =
          coordinate * mesh.getSize(axis) + *layout.getFixedCoordinate(axis);
    result.fixed.push_back({static_cast<Axis>(bundle), coordinate});
  }
  result.normalise();
  return result;
}

Layout AxisBundles::unfold(const Layout &layout) const {
  Layout result;
  for (const AxisList &axes : layout.dims)
    result.dims.push_back(dealtOutAs(unfold(axes), axes));
  result.flat = layout.flat;
  result.flat.axes = unfold(layout.flat.axes);
  for (auto [kind, axes] : llvm::enumerate(layout.partial))
    result.partial[kind] = unfold(axes);
  for (auto [bundle, coordinate] : layout.fixed)
    for (Axis axis : llvm::reverse(members[bundle])) {
      result.fixed.push_back({axis, coordinate % mesh.getSize(axis)});
      coordinate /= mesh.getSize(axis);
    }
  result.normalise();
  return result;
}

Step AxisBundles::unfold(const Step &step) const {
  Step result = step;
  result.axes = unfold(step.axes);
  if (!step.toDim)
    llvm::sort(result.axes);
  for (AxisList &axes : result.placed)
    axes = dealtOutAs(unfold(axes), axes);
  return result;
}
