//===- Steps.cpp - effects and volumes of steps ---------------------------===//
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

#include <algorithm>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::failure;
using llvm::FailureOr;
using llvm::StringRef;
using llvm::Twine;

StringRef proteus::dist::stringify(StepKind kind) {
  switch (kind) {
  case StepKind::Slice:
    return "slice";
  case StepKind::Scatter:
    return "scatter";
  case StepKind::ReduceScatter:
    return "reduce_scatter";
  case StepKind::AllReduce:
    return "all_reduce";
  case StepKind::Permute:
    return "permute";
  case StepKind::AllToAll:
    return "all_to_all";
  case StepKind::AllGather:
    return "all_gather";
  case StepKind::Broadcast:
    return "broadcast";
  }
  llvm_unreachable("unknown step kind");
}

//===----------------------------------------------------------------------===//
// Positions of axes within dimensions
//===----------------------------------------------------------------------===//

/// Returns the dimension that `axis` shards, and the stride of the axis: the
/// difference of the part numbers of two neighbours on the axis. Returns
/// nullopt if the axis shards no dimension.
static std::optional<std::pair<unsigned, int64_t>>
placeOf(const Mesh &mesh, const Layout &layout, Axis axis) {
  std::optional<unsigned> dim = layout.getShardedDim(axis);
  if (!dim)
    return std::nullopt;
  ArrayRef<Axis> axes = layout.getAxes(*dim);
  size_t index = llvm::find(axes, axis) - axes.begin();
  return std::pair(*dim, mesh.getSize(axes.drop_front(index + 1)));
}

AxisList proteus::dist::permutedAxes(const Mesh &mesh, const Layout &from,
                                     const Layout &to) {
  AxisList axes;
  for (Axis axis = 0; axis < mesh.getNumAxes(); ++axis)
    if (placeOf(mesh, from, axis) != placeOf(mesh, to, axis))
      axes.push_back(axis);
  return axes;
}

//===----------------------------------------------------------------------===//
// Application of one step
//===----------------------------------------------------------------------===//

namespace {
/// Applies one step to `layout` in place. If the step is impossible, `run`
/// returns false and stores the cause in `reason`.
class StepApplier {
public:
  StepApplier(const Mesh &mesh, ArrayRef<int64_t> shape, const Step &step,
              Layout &layout, std::string &reason)
      : mesh(mesh), shape(shape), step(step), layout(layout), reason(reason) {}

  bool run() {
    assert(step.fromDim.value_or(0) <= shape.size() &&
           step.toDim.value_or(0) <= shape.size() &&
           "dimension outside the tensor");
    if (layout.onHost)
      return fail("the value is in host memory; fetch it first");
    if (!checkAxes())
      return false;
    switch (step.kind) {
    case StepKind::Slice:
      return checkReplicated() && append(*step.toDim);
    case StepKind::Scatter:
      return release() && append(*step.toDim);
    case StepKind::ReduceScatter:
      return reduce() && append(*step.toDim);
    case StepKind::AllReduce:
      return reduce();
    case StepKind::Permute:
      return permute();
    case StepKind::AllToAll:
      if (*step.fromDim == shape.size() || *step.toDim == shape.size())
        return fail("an all_to_all moves axes between dimensions, not to or "
                    "from a flat cut");
      if (*step.fromDim == *step.toDim)
        return fail("all_to_all from dimension " + Twine(*step.fromDim) +
                    " to itself");
      return remove(*step.fromDim) && append(*step.toDim);
    case StepKind::AllGather:
      return remove(*step.fromDim);
    case StepKind::Broadcast:
      return release();
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

  /// Removes the axes of the step from the pending reductions.
  bool reduce() {
    ReductionKind kind = *step.reduction;
    // If both kinds are pending, the value is a sum of maxima, so the maxima
    // must be reduced before the sums.
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

  /// Removes the axes of the step, with their coordinates, from the fixed axes.
  bool release() {
    for (Axis axis : step.axes) {
      if (!layout.getFixedCoordinate(axis))
        return fail("the operand is not fixed at a coordinate of axis '" +
                    mesh.getName(axis) + "'");
      llvm::erase_if(layout.fixed,
                     [&](auto entry) { return entry.first == axis; });
    }
    return true;
  }

  /// Replaces the axes of every dimension by `step.placed`. Fails if the new
  /// layout is invalid, if the tensor would be cut into other blocks, or if
  /// `step.axes` are not exactly the axes along which blocks move.
  bool permute() {
    if (!checkWhole())
      return false;
    Layout from = layout;
    layout.dims.assign(step.placed.begin(), step.placed.end());
    if (std::optional<std::string> problem = layout.check(mesh))
      return fail(*problem);
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (numParts(mesh, from, dim) != numParts(mesh, layout, dim))
        return fail("dimension " + Twine(dim) + " has " +
                    Twine(numParts(mesh, from, dim)) + " parts before and " +
                    Twine(numParts(mesh, layout, dim)) +
                    " after; a permute keeps the parts");
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (from.dims[dim].zigzag != layout.dims[dim].zigzag ||
          from.dims[dim].shift != layout.dims[dim].shift)
        return fail("the parts of dimension " + Twine(dim) +
                    " consist of different blocks before and after; a permute "
                    "keeps the blocks");
    AxisList moved = permutedAxes(mesh, from, layout);
    if (moved != step.axes)
      return fail("moves blocks along " + mesh.format(moved) + ", not " +
                  mesh.format(step.axes));
    return true;
  }

  /// Removes the axes of the step from the minor end of a dimension.
  bool remove(unsigned dim) {
    bool isFlat = dim == shape.size();
    AxisList &axes = isFlat ? layout.flat.axes : layout.dims[dim];
    size_t count = step.axes.size();
    if (axes.size() < count ||
        !std::is_permutation(axes.end() - count, axes.end(), step.axes.begin()))
      return fail(
          "axes " + mesh.format(step.axes) + " are not the minor axes of " +
          (isFlat ? Twine("the flat cut") : "dimension " + Twine(dim)).str() +
          ", which is sharded by " + mesh.format(axes));
    if (isFlat)
      return changeFlat(AxisList(ArrayRef<Axis>(axes).drop_back(count)));
    if (!checkWhole() || !checkAtHome(dim))
      return false;
    ArrayRef<Axis> kept = ArrayRef<Axis>(axes).drop_back(count);
    if (!checkRegroup(dim, kept))
      return false;
    axes.truncate(kept.size());
    if (axes.empty())
      axes.zigzag = false;
    return true;
  }

  /// Adds the axes of the step at the minor end of a dimension.
  bool append(unsigned dim) {
    if (dim == shape.size())
      return appendFlat();
    if (!checkWhole())
      return false;
    AxisList &axes = layout.dims[dim];
    int64_t parts = mesh.getSize(axes) * mesh.getSize(step.axes);
    if (parts > std::max<int64_t>(shape[dim], 1))
      return fail("dimension " + Twine(dim) + " of size " + Twine(shape[dim]) +
                  " cannot be cut into " + Twine(parts) + " parts");
    if (!checkAtHome(dim) || !checkRegroup(dim, axes))
      return false;
    bool zigzag = axes.empty() ? step.zigzag : axes.zigzag;
    if (zigzag && shape[dim] % (2 * parts) != 0)
      return fail("dimension " + Twine(dim) + " of size " + Twine(shape[dim]) +
                  " cannot be cut into the " + Twine(2 * parts) +
                  " equal chunks of a zigzag");
    axes.append(step.axes.begin(), step.axes.end());
    axes.zigzag = zigzag;
    return true;
  }

  /// Adds the axes of the step at the minor end of the flat cut.
  bool appendFlat() {
    if (layout.flat.empty())
      layout.flat = step.flat.withoutAxes();
    else if (layout.flat.withoutAxes() != step.flat.withoutAxes())
      return fail("the operand has another flat cut already");
    if (step.flat.leading >= shape.size() || step.flat.granule < 1)
      return fail("a tensor of rank " + Twine(shape.size()) +
                  " has no flat cut after " + Twine(step.flat.leading) +
                  " leading dimensions with granule " +
                  Twine(step.flat.granule));
    AxisList all = layout.flat.axes;
    all.append(step.axes.begin(), step.axes.end());
    return changeFlat(all);
  }

  /// Gives the flat cut other axes. Fails if neither the operand nor the result
  /// is whole, and the smaller parts do not form the larger ones exactly.
  bool changeFlat(AxisList axes) {
    Layout after = layout;
    after.flat.axes = std::move(axes);
    auto elements = [&](const Layout &of) {
      return flatPartSize(mesh, of, shape) * mesh.getSize(of.flat.axes);
    };
    if (!layout.flat.empty() && !after.flat.empty() &&
        elements(layout) != elements(after))
      return fail("the padded parts over " + mesh.format(layout.flat.axes) +
                  " and over " + mesh.format(after.flat.axes) + " do not nest");
    after.normalise();
    layout = std::move(after);
    return true;
  }

  /// Fails if the operand has a flat cut. The step would change the block that
  /// is cut.
  bool checkWhole() {
    return layout.flat.empty() ||
           fail("the operand has a flat cut over " +
                mesh.format(layout.flat.axes) + "; gather it first");
  }

  /// Fails if the parts of a dimension are shifted. No step can add axes to
  /// such a dimension or remove them, because its parts are not on their own
  /// ranks.
  bool checkAtHome(unsigned dim) {
    int64_t shift = layout.dims[dim].shift;
    return shift == 0 || fail("the parts of dimension " + Twine(dim) +
                              " have been shifted by " + Twine(shift) +
                              "; shift them back first");
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
  // The parts of a flat cut are sent with their padding.
  if (step.kind == StepKind::AllGather && *step.fromDim == shape.size())
    volume.bufferBytes =
        localBytes(mesh, shape, elementBits, from) * volume.groupSize;
  else if (step.kind == StepKind::ReduceScatter && *step.toDim == shape.size())
    volume.bufferBytes =
        localBytes(mesh, shape, elementBits, to) * volume.groupSize;
  // `movedBytes` is the largest number of bytes that one rank sends. A share is
  // the buffer divided by the n ranks of the group. In a ring, a rank sends one
  // share in each of n - 1 rounds; an all-reduce is two rings. In an
  // all-to-all, and on the root of a scatter, a rank sends one share to each
  // other rank. In a broadcast, a rank passes the whole value to the next rank.
  // In a permute, a rank sends its whole block to one other rank.
  int64_t share = volume.bufferBytes / volume.groupSize +
                  (volume.bufferBytes % volume.groupSize != 0);
  switch (step.kind) {
  case StepKind::Slice:
    break;
  case StepKind::AllReduce:
    volume.movedBytes = 2 * share * (volume.groupSize - 1);
    break;
  case StepKind::Scatter:
  case StepKind::ReduceScatter:
  case StepKind::AllToAll:
  case StepKind::AllGather:
    volume.movedBytes = share * (volume.groupSize - 1);
    break;
  case StepKind::Permute:
  case StepKind::Broadcast:
    volume.movedBytes = volume.groupSize > 1 ? volume.bufferBytes : 0;
    break;
  }
  return volume;
}
