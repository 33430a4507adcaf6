//===- LayoutAlgebra.h - meshes, layouts and steps between them -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of a layout, without IR: the part of a tensor that a rank holds,
// the effect of each communication step on a layout, and the cheapest sequence
// of steps from one layout to another. The attributes of the dialect wrap these
// types. The verifiers of the operations and the planner share `applyStep`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_LAYOUTALGEBRA_H
#define PROTEUS_DIALECT_DIST_LAYOUTALGEBRA_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "Proteus/Dialect/Dist/DistEnums.h.inc"

namespace proteus::dist {

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

/// The number of an axis of a mesh: 0 is the time axis `micro`, i + 1 is the
/// i-th device axis. Ascending order is the normal form of a set of axes.
using Axis = unsigned;

/// A list of axes and the distribution of parts along them. Copies of the list
/// keep the distribution.
struct AxisList : llvm::SmallVector<Axis, 2> {
  using Base = llvm::SmallVector<Axis, 2>;
  using Base::Base;
  using Base::operator=;

  /// True if part i of n consists of the chunks i and 2n - 1 - i of 2n chunks,
  /// instead of being contiguous. With causal attention all parts are then the
  /// same work.
  bool zigzag = false;
  /// Number of positions by which the parts have moved along the flattened
  /// axes: index i holds part i - shift, modulo the number of parts.
  int32_t shift = 0;

  const Base &list() const { return *this; }
  friend bool operator==(const AxisList &a, const AxisList &b) {
    return a.list() == b.list() && a.zigzag == b.zigzag && a.shift == b.shift;
  }
  friend bool operator!=(const AxisList &a, const AxisList &b) {
    return !(a == b);
  }
  friend bool operator<(const AxisList &a, const AxisList &b) {
    if (a.list() != b.list())
      return a.list() < b.list();
    return std::pair(a.zigzag, a.shift) < std::pair(b.zigzag, b.shift);
  }
};

/// The axis of micro-batches. Values along it exist one after the other, so no
/// collective runs over it.
constexpr Axis microAxis = 0;
constexpr llvm::StringLiteral microAxisName = "micro";

/// Named device axes in row-major order and the number of micro-batches.
/// Neighbours on the last axis are neighbouring devices.
struct Mesh {
  llvm::SmallVector<std::string, 4> names;
  llvm::SmallVector<int64_t, 4> sizes;
  int64_t micro = 1;
  /// Device id of every position; empty if the id is the position.
  llvm::SmallVector<int64_t, 0> devices;

  /// Returns the number of axes, including `micro`.
  unsigned getNumAxes() const { return sizes.size() + 1; }
  /// Returns the axis of that name, `micro` included.
  std::optional<Axis> find(llvm::StringRef name) const;
  llvm::StringRef getName(Axis axis) const;
  int64_t getSize(Axis axis) const {
    return axis == microAxis ? micro : sizes[axis - 1];
  }
  /// Returns the product of the sizes of `axes`.
  int64_t getSize(llvm::ArrayRef<Axis> axes) const;
  int64_t getNumDevices() const;
  /// Returns the row-major position of the device at `coordinates`, one per
  /// device axis.
  int64_t getPosition(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns the id of the device at `coordinates`, one per device axis.
  int64_t getDevice(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns the coordinates, one per device axis, of the row-major `position`.
  llvm::SmallVector<int64_t> getCoordinates(int64_t position) const;
  /// Formats axes as `{a, b}`, for diagnostics.
  std::string format(llvm::ArrayRef<Axis> axes) const;

  /// Drops the device list if the id of every device is its position.
  void normalise();
  /// Returns why the mesh is invalid, or nullopt if it is valid.
  std::optional<std::string> check() const;

  bool operator==(const Mesh &other) const;
};
llvm::hash_code hash_value(const Mesh &mesh);

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns the size of part `index` of `size` elements in `count` contiguous
/// parts. The first `size % count` parts have one element more than the others.
int64_t partSize(int64_t size, int64_t count, int64_t index);

/// Returns the first element of part `index`; see `partSize`.
int64_t partOffset(int64_t size, int64_t count, int64_t index);

/// A half-open range of indices of a dimension.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const Range &other) const {
    return begin == other.begin && end == other.end;
  }
};
/// The indices of a dimension that a rank holds: ascending ranges that do not
/// touch.
using Ranges = llvm::SmallVector<Range, 2>;

/// Returns the elements of part `index`: one contiguous range, or the two
/// chunks of a zigzag. A zigzag requires that 2 * `count` divides `size`.
Ranges partRanges(int64_t size, int64_t count, int64_t index, bool zigzag);

/// Returns true if each of the `outer` parts of `size` elements is exactly the
/// union of `inner` consecutive parts among the `outer * inner` parts. Only
/// then can the minor axes of a dimension be gathered or sliced on their own.
bool partsRegroup(int64_t size, int64_t outer, int64_t inner);

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

constexpr unsigned numReductionKinds = 2;

/// The distribution of the elements of a tensor over a mesh. An axis shards one
/// dimension, has partial values, is fixed at one coordinate, or replicates.
struct Layout {
  /// Per dimension, the axes that shard it, major first.
  llvm::SmallVector<AxisList, 4> dims;
  /// Per reduction kind, the axes over which that reduction is pending. If both
  /// kinds are pending, the value is the sum of the maxima.
  std::array<AxisList, numReductionKinds> partial;
  /// Fixed axes and their coordinates. The value exists only on devices with
  /// these coordinates.
  llvm::SmallVector<std::pair<Axis, int64_t>, 1> fixed;
  /// True if ranks keep their shard in the memory of their host.
  bool onHost = false;

  Layout() = default;
  /// Creates the replicated layout of a tensor of that rank.
  explicit Layout(unsigned rank) : dims(rank) {}

  AxisList &getPartial(ReductionKind kind) {
    return partial[static_cast<unsigned>(kind)];
  }
  const AxisList &getPartial(ReductionKind kind) const {
    return partial[static_cast<unsigned>(kind)];
  }
  /// Returns true if a reduction over any axis is pending.
  bool isPartial() const;
  /// Returns the reduction that is pending over `axis`.
  std::optional<ReductionKind> getPartialKind(Axis axis) const;
  /// Returns the dimension that `axis` shards.
  std::optional<unsigned> getShardedDim(Axis axis) const;
  std::optional<int64_t> getFixedCoordinate(Axis axis) const;
  /// Returns true if the value exists at `coordinates`, one per axis with
  /// `micro` first.
  bool isHeldAt(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns true if `axis` neither shards a dimension nor is partial nor
  /// fixed.
  bool isReplicated(Axis axis) const;

  /// Sorts the lists whose order has no meaning, and resets the distribution of
  /// dimensions without axes.
  void normalise();
  /// Returns why the layout is invalid on `mesh`, or nullopt if it is valid.
  std::optional<std::string> check(const Mesh &mesh) const;
  /// Returns why a tensor of `shape` cannot have this layout, or nullopt if it
  /// can.
  std::optional<std::string> checkShape(const Mesh &mesh,
                                        llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }
  bool operator<(const Layout &other) const;
};
llvm::hash_code hash_value(const Layout &layout);

/// Returns the number of parts of dimension `dim`.
int64_t numParts(const Mesh &mesh, const Layout &layout, unsigned dim);

/// Returns the part of dimension `dim` that is held at `coordinates`, one per
/// axis with `micro` first.
int64_t partIndex(const Mesh &mesh, const Layout &layout, unsigned dim,
                  llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the shard at `coordinates`, one per axis with `micro`
/// first.
llvm::SmallVector<int64_t> localShape(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns, per dimension, the ranges of indices of the shard at `coordinates`,
/// one per axis with `micro` first.
llvm::SmallVector<Ranges> localRanges(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns, per dimension, the first index of the shard at `coordinates`, one
/// per axis with `micro` first.
llvm::SmallVector<int64_t> localOffset(const Mesh &mesh, const Layout &layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the first part of every dimension; no other part is
/// larger.
llvm::SmallVector<int64_t> largestLocalShape(const Mesh &mesh,
                                             const Layout &layout,
                                             llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Kinds of steps between layouts on the same devices. Between plans of equal
/// cost and length, the planner prefers the kinds listed first.
enum class StepKind : uint8_t {
  Slice,
  Scatter,
  ReduceScatter,
  AllReduce,
  Permute,
  AllToAll,
  AllGather,
  Broadcast,
};
llvm::StringRef stringify(StepKind kind);

/// One step. Slice, scatter and reduce-scatter add `axes` at the minor end of
/// `toDim`. An all-gather removes them from the minor end of `fromDim`, and an
/// all-to-all does both. Scatter and broadcast start from values that are fixed
/// at a coordinate of `axes`. A permute moves whole blocks between ranks.
struct Step {
  StepKind kind;
  /// Axes in the order in which they shard `toDim`; ascending for kinds without
  /// `toDim`.
  AxisList axes;
  std::optional<ReductionKind> reduction = std::nullopt;
  std::optional<unsigned> fromDim = std::nullopt;
  std::optional<unsigned> toDim = std::nullopt;
  /// For a permute: the axes of every dimension after the step.
  llvm::SmallVector<AxisList, 0> placed = {};
  /// True if `toDim` becomes a zigzag. Has an effect only if no axis shards
  /// `toDim` before the step; otherwise the dimension keeps its distribution.
  bool zigzag = false;
};

/// Returns the axes, ascending, that shard another dimension in `to` than in
/// `from`, shard it with another stride, or shard a dimension in only one of
/// the two layouts. The ranks of a permute differ along these axes.
AxisList permutedAxes(const Mesh &mesh, const Layout &from, const Layout &to);

/// Returns the layout of a tensor of `shape` after `step`. Fails with a reason
/// if the step does not apply to `from`, or is not exact: with uneven parts,
/// the minor axes of a dimension may have no meaning apart from the major ones.
llvm::FailureOr<Layout> applyStep(const Mesh &mesh,
                                  llvm::ArrayRef<int64_t> shape,
                                  const Layout &from, const Step &step,
                                  std::string &reason);

/// Sizes of a step, from which a cost function computes its cost.
struct StepVolume {
  /// Number of ranks in a group.
  int64_t groupSize = 1;
  /// Bytes, on the rank that holds the most, of the result of an all-gather or
  /// a slice, and of the input of any other step.
  int64_t bufferBytes = 0;
  /// Bytes that each rank sends with a bandwidth-optimal algorithm.
  int64_t movedBytes = 0;
};

/// Cost of a step, in any unit. Costs are integers so that equal costs are
/// exactly equal.
using StepCost =
    llvm::function_ref<uint64_t(const Step &step, const StepVolume &volume)>;

/// Returns the volume of `step` from `from` to `to` for elements of
/// `elementBits` bits.
StepVolume stepVolume(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                      int64_t elementBits, const Layout &from, const Layout &to,
                      const Step &step);

/// A step of a plan, with the layout after it.
struct PlannedStep {
  Step step;
  Layout result;
};

/// Returns the cheapest steps from `from` to `to`, found by uniform-cost
/// search. Of plans of equal cost the shortest wins, then the one found first;
/// the steps out of a layout are tried by kind (in the order of StepKind), by
/// dimension and by axes.
///
/// Axes that both layouts replicate take no part, and neither do the common
/// major axes of an evenly cut dimension. Axes that both layouts treat alike
/// move together, so that a reduction over two axes stays one collective. With
/// `splitCollectives` each axis may move on its own, the common major axes
/// included, which often costs less.
///
/// Fails with a reason if the layouts differ in the axis `micro`, if the target
/// is fixed at a coordinate at which the source is not fixed, if the target is
/// partial over an axis over which the source is not, or if no sequence of
/// exact steps exists.
llvm::FailureOr<llvm::SmallVector<PlannedStep, 0>>
planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
            int64_t elementBits, const Layout &from, const Layout &to,
            StepCost cost, std::string &reason, bool splitCollectives = false);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUTALGEBRA_H
