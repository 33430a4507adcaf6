//===- LayoutAlgebra.h - meshes, layouts and steps between them -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of a layout, without IR: which part of a tensor a rank holds,
// what each communication step does to a layout, and the cheapest sequence of
// steps from one layout to another. The attributes of the dialect wrap these
// types; the op verifiers and the resharding planner share `applyStep`.
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

/// An axis of a mesh by number: 0 is the time axis `micro`, i + 1 is the i-th
/// device axis. Ascending order is the normal form of a set of axes.
using Axis = unsigned;

/// Axes in an order, and how the parts they make are dealt out. What is said
/// about the parts goes wherever the axes go.
struct AxisList : llvm::SmallVector<Axis, 2> {
  using Base = llvm::SmallVector<Axis, 2>;
  using Base::Base;
  using Base::operator=;

  /// Of 2n chunks, part i is the chunks i and 2n - 1 - i, instead of one
  /// contiguous piece. Causal attention then is the same work everywhere.
  bool zigzag = false;
  /// How many places along the flattened axes the parts have moved on: at
  /// index i is part i - shift, modulo their number.
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

/// The axis of micro-batches: values along it exist one after the other, so no
/// collective may run over it.
constexpr Axis microAxis = 0;
constexpr llvm::StringLiteral microAxisName = "micro";

/// Named device axes in row-major order (the last one holds neighbouring
/// devices) and the number of micro-batches.
struct Mesh {
  llvm::SmallVector<std::string, 4> names;
  llvm::SmallVector<int64_t, 4> sizes;
  int64_t micro = 1;
  /// Device id of every position; empty: the position itself.
  llvm::SmallVector<int64_t, 0> devices;

  /// Number of axes including `micro`.
  unsigned getNumAxes() const { return sizes.size() + 1; }
  /// The axis of that name, `micro` included.
  std::optional<Axis> find(llvm::StringRef name) const;
  llvm::StringRef getName(Axis axis) const;
  int64_t getSize(Axis axis) const {
    return axis == microAxis ? micro : sizes[axis - 1];
  }
  /// Product of the sizes of `axes`.
  int64_t getSize(llvm::ArrayRef<Axis> axes) const;
  int64_t getNumDevices() const;
  /// Row-major position of one coordinate per device axis.
  int64_t getPosition(llvm::ArrayRef<int64_t> coordinates) const;
  /// Device at one coordinate per device axis.
  int64_t getDevice(llvm::ArrayRef<int64_t> coordinates) const;
  /// Coordinates, one per device axis, of the row-major `position`.
  llvm::SmallVector<int64_t> getCoordinates(int64_t position) const;
  /// `{a, b}`, for diagnostics.
  std::string format(llvm::ArrayRef<Axis> axes) const;

  /// Drops a device list that says nothing.
  void normalise();
  /// Why this is not a mesh, if it is not.
  std::optional<std::string> check() const;

  bool operator==(const Mesh &other) const;
};
llvm::hash_code hash_value(const Mesh &mesh);

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Size of part `index` of `size` elements in `count` contiguous parts; the
/// remainder goes one by one to the first parts.
int64_t partSize(int64_t size, int64_t count, int64_t index);

/// First element of part `index`; see `partSize`.
int64_t partOffset(int64_t size, int64_t count, int64_t index);

/// Half-open range of indices of a dimension.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const Range &other) const {
    return begin == other.begin && end == other.end;
  }
};
/// What a rank holds of a dimension: ascending ranges that do not touch.
using Ranges = llvm::SmallVector<Range, 2>;

/// The elements of part `index`: one contiguous piece, or the two chunks of a
/// zigzag, which need a size that 2 `count` divides.
Ranges partRanges(int64_t size, int64_t count, int64_t index, bool zigzag);

/// Whether each of the `outer` parts of `size` elements is exactly the union
/// of its `inner` parts among the `outer * inner` parts. Only then can the
/// minor axes of a dimension be gathered or sliced on their own.
bool partsRegroup(int64_t size, int64_t outer, int64_t inner);

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

constexpr unsigned numReductionKinds = 2;

/// Where the elements of a tensor are on a mesh. An axis shards one dimension,
/// holds partial values, is fixed at one coordinate, or else replicates.
struct Layout {
  /// Per dimension the axes that shard it, major first.
  llvm::SmallVector<AxisList, 4> dims;
  /// Per reduction kind the axes along which values are still to be reduced.
  /// With both kinds present the value is the sum of the maxima.
  std::array<AxisList, numReductionKinds> partial;
  /// Axes at one coordinate of which alone the value exists.
  llvm::SmallVector<std::pair<Axis, int64_t>, 1> fixed;
  /// Whether ranks keep their part in the memory of their host.
  bool onHost = false;

  Layout() = default;
  /// The replicated layout.
  explicit Layout(unsigned rank) : dims(rank) {}

  AxisList &getPartial(ReductionKind kind) {
    return partial[static_cast<unsigned>(kind)];
  }
  const AxisList &getPartial(ReductionKind kind) const {
    return partial[static_cast<unsigned>(kind)];
  }
  /// Whether a value is still to be reduced over any axis.
  bool isPartial() const;
  /// The reduction pending over `axis`.
  std::optional<ReductionKind> getPartialKind(Axis axis) const;
  /// The dimension that `axis` shards.
  std::optional<unsigned> getShardedDim(Axis axis) const;
  std::optional<int64_t> getFixedCoordinate(Axis axis) const;
  /// Whether the value exists at `coordinates`, one per axis with `micro`
  /// first.
  bool isHeldAt(llvm::ArrayRef<int64_t> coordinates) const;
  /// Whether `axis` is mentioned nowhere.
  bool isReplicated(Axis axis) const;

  /// Sorts what has no order of its own.
  void normalise();
  /// Why this is not a layout on `mesh`, if it is not.
  std::optional<std::string> check(const Mesh &mesh) const;
  /// Why a tensor of `shape` cannot have this layout, if it cannot.
  std::optional<std::string> checkShape(const Mesh &mesh,
                                        llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }
  bool operator<(const Layout &other) const;
};
llvm::hash_code hash_value(const Layout &layout);

/// Number of parts of dimension `dim`.
int64_t numParts(const Mesh &mesh, const Layout &layout, unsigned dim);

/// Part of dimension `dim` at `coordinates`, one per axis with `micro` first.
int64_t partIndex(const Mesh &mesh, const Layout &layout, unsigned dim,
                  llvm::ArrayRef<int64_t> coordinates);

/// Shape held at `coordinates`, one per axis with `micro` first.
llvm::SmallVector<int64_t> localShape(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// What is held of each dimension at `coordinates`, one per axis with `micro`
/// first.
llvm::SmallVector<Ranges> localRanges(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Start of what is held at `coordinates`, one per axis with `micro` first: the
/// first of several ranges.
llvm::SmallVector<int64_t> localOffset(const Mesh &mesh, const Layout &layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> coordinates);

/// Shape of the first part of every dimension, which no other exceeds.
llvm::SmallVector<int64_t> largestLocalShape(const Mesh &mesh,
                                             const Layout &layout,
                                             llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The ways to get from one layout to another on the same devices. The order
/// is the order of preference between plans of equal cost and length.
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
/// `toDim`, an all-gather removes them from the minor end of `fromDim`, an
/// all-to-all does both. Scatter and broadcast start from values that are
/// fixed at a coordinate of `axes`. A permute moves whole blocks between ranks.
struct Step {
  StepKind kind;
  /// In the order in which they shard `toDim`; ascending for the steps that
  /// leave no order.
  AxisList axes;
  std::optional<ReductionKind> reduction = std::nullopt;
  std::optional<unsigned> fromDim = std::nullopt;
  std::optional<unsigned> toDim = std::nullopt;
  /// Of a permute: the axes of every dimension afterwards.
  llvm::SmallVector<AxisList, 0> placed = {};
  /// Whether `toDim`, if it was whole, is dealt out in a zigzag. Axes that join
  /// others on a dimension cut its parts as they are.
  bool zigzag = false;
};

/// The axes that shard another dimension, or another place of it, in `to` than
/// in `from`, or do so in one of them only; ascending. The ranks of a permute
/// differ along these.
AxisList permutedAxes(const Mesh &mesh, const Layout &from, const Layout &to);

/// Layout of a tensor of `shape` after `step`, or why the step is not possible.
/// A step is possible only where it is exact: with uneven parts the minor axes
/// of a dimension have no meaning apart from the major ones.
llvm::FailureOr<Layout> applyStep(const Mesh &mesh,
                                  llvm::ArrayRef<int64_t> shape,
                                  const Layout &from, const Step &step,
                                  std::string &reason);

/// What a cost function is told about a step.
struct StepVolume {
  /// Ranks that take part together.
  int64_t groupSize = 1;
  /// Bytes of the result of an all-gather or a slice, else of the input; on the
  /// rank that holds most.
  int64_t bufferBytes = 0;
  /// Bytes that each rank sends with a bandwidth-optimal algorithm.
  int64_t movedBytes = 0;
};

/// Cost of a step in any unit; integers make ties exact.
using StepCost =
    llvm::function_ref<uint64_t(const Step &step, const StepVolume &volume)>;

/// The volume of `step` from `from` to `to` for elements of `elementBits`.
StepVolume stepVolume(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                      int64_t elementBits, const Layout &from, const Layout &to,
                      const Step &step);

/// A step of a plan and the layout after it.
struct PlannedStep {
  Step step;
  Layout result;
};

/// The cheapest steps from `from` to `to`, found by uniform-cost search. Of
/// plans of equal cost the shortest wins, then the one met first, where the
/// steps out of a layout are tried by kind (as StepKind lists them), by
/// dimension and by axes. Axes that both layouts replicate take no part, nor do
/// the major axes that they have in common on an evenly cut dimension. Axes
/// that both layouts treat alike move together, so that a reduction over two
/// axes stays one collective; with `splitCollectives` each may go its own way,
/// the common major axes included, which often costs less. Fails with a reason
/// if the time axis would have to take part, if the target is fixed to devices
/// that do not all hold the source, or partial where the source is not.
llvm::FailureOr<llvm::SmallVector<PlannedStep, 0>>
planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
            int64_t elementBits, const Layout &from, const Layout &to,
            StepCost cost, std::string &reason, bool splitCollectives = false);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUTALGEBRA_H
