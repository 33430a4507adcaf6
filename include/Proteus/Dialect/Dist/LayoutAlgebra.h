//===- LayoutAlgebra.h - meshes, layouts and steps between them -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines meshes and layouts without IR: the part of a tensor that a rank
// holds, the effect of each communication step on a layout, and the cheapest
// sequence of steps from one layout to another. The attributes of the dialect
// contain the structs `Mesh` and `Layout`. The verifiers of operations and the
// planner both use `applyStep`, so the planner finds only steps that the
// verifiers accept.
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

/// The number of an axis of a mesh: 0 is the time axis `micro`, and i + 1 is
/// the device axis with index i. Ascending numbers are the normal form of a set
/// of axes.
using Axis = unsigned;

/// A list of axes. If the axes shard a dimension, `zigzag` determines which
/// elements each part has, and `shift` determines which rank holds each part.
struct AxisList : llvm::SmallVector<Axis, 2> {
  using Base = llvm::SmallVector<Axis, 2>;
  using Base::Base;
  using Base::operator=;

  /// True if part i of n consists of the chunks i and 2n - 1 - i of 2n chunks,
  /// instead of one contiguous range. This balances causal attention: all parts
  /// then need the same work.
  bool zigzag = false;
  /// Number of ranks by which every part has moved along the flattened axes.
  /// The rank with the flattened index i holds part i - shift, modulo the
  /// number of parts.
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

/// A flat cut: the block that the dimensions leave to a rank, as one row-major
/// list of elements, is divided over axes into parts of equal size. Optimizers
/// that are sharded, such as ZeRO and FSDP, store parameters in this form,
/// because any number of ranks can divide any block.
///
/// A part is a multiple of `granule` elements. The last parts are padded with
/// zeros, or are padding only, so that all ranks hold parts of the same size.
struct FlatCut {
  /// The axes that divide the list, major first.
  AxisList axes;
  /// Number of leading dimensions that stay as they are. A parameter of
  /// repeated layers has one: each layer is cut by itself.
  unsigned leading = 0;
  int64_t granule = 1;

  bool empty() const { return axes.empty(); }
  /// Returns the same cut without axes.
  FlatCut withoutAxes() const { return {{}, leading, granule}; }
  friend bool operator==(const FlatCut &a, const FlatCut &b) {
    return a.axes == b.axes && a.leading == b.leading && a.granule == b.granule;
  }
  friend bool operator!=(const FlatCut &a, const FlatCut &b) {
    return !(a == b);
  }
  friend bool operator<(const FlatCut &a, const FlatCut &b) {
    if (a.axes != b.axes)
      return a.axes < b.axes;
    return std::pair(a.leading, a.granule) < std::pair(b.leading, b.granule);
  }
};

/// The axis of micro-batches. Micro-batches run one after the other on the same
/// devices, so no collective runs over this axis.
constexpr Axis microAxis = 0;
constexpr llvm::StringLiteral microAxisName = "micro";

/// The largest number of devices that a mesh may have.
constexpr int64_t maxMeshDevices = int64_t(1) << 31;

/// The largest number of micro-batches of a mesh. A schedule lists each of
/// them, and a larger number is probably a mistake.
constexpr int64_t maxMicroBatches = 100000;

/// The device axes, with their names and sizes, and the number of
/// micro-batches. The positions of devices are numbered in row-major order, so
/// positions that are neighbours on the last axis are consecutive.
struct Mesh {
  llvm::SmallVector<std::string, 4> names;
  llvm::SmallVector<int64_t, 4> sizes;
  int64_t micro = 1;
  /// Device id of every position in the mesh. Empty if each id is equal to the
  /// position.
  llvm::SmallVector<int64_t, 0> devices;

  /// Returns the number of axes, including `micro`.
  unsigned getNumAxes() const { return sizes.size() + 1; }
  /// Returns the axis with the name `name`, which may be `micro`. Returns
  /// nullopt if there is no such axis.
  std::optional<Axis> find(llvm::StringRef name) const;
  llvm::StringRef getName(Axis axis) const;
  int64_t getSize(Axis axis) const {
    return axis == microAxis ? micro : sizes[axis - 1];
  }
  /// Returns the product of the sizes of `axes`.
  int64_t getSize(llvm::ArrayRef<Axis> axes) const;
  int64_t getNumDevices() const;
  /// Returns the row-major position of the device at `coordinates`, which has
  /// one entry per device axis.
  int64_t getPosition(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns the id of the device at `coordinates`, which has one entry per
  /// device axis.
  int64_t getDevice(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns the coordinates, one per device axis, of the device at the
  /// row-major `position`.
  llvm::SmallVector<int64_t> getCoordinates(int64_t position) const;
  /// Formats axes as `{a, b}` for diagnostics.
  std::string format(llvm::ArrayRef<Axis> axes) const;

  /// Clears `devices` if the id of every device is its position.
  void normalise();
  /// Returns the reason for which the mesh is invalid, or nullopt if it is
  /// valid.
  std::optional<std::string> check() const;

  bool operator==(const Mesh &other) const;
};
llvm::hash_code hash_value(const Mesh &mesh);

//===----------------------------------------------------------------------===//
// Parts of a dimension
//===----------------------------------------------------------------------===//

/// Returns the size of part `index` if `size` elements are divided into `count`
/// contiguous parts. The first `size % count` parts have one element more than
/// the others: 10 elements in 4 parts have the sizes 3, 3, 2, 2.
int64_t partSize(int64_t size, int64_t count, int64_t index);

/// Returns the index of the first element of part `index` if `size` elements
/// are divided as in `partSize`: 10 elements in 4 parts begin at 0, 3, 6, 8.
int64_t partOffset(int64_t size, int64_t count, int64_t index);

/// The indices [begin, end) of a dimension.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const Range &other) const {
    return begin == other.begin && end == other.end;
  }
};
/// The indices of a dimension that a rank holds: ascending ranges with gaps
/// between them.
using Ranges = llvm::SmallVector<Range, 2>;

/// Returns the elements of part `index` of `count` parts: one contiguous range
/// or, with `zigzag`, two chunks. The chunks of the last part are adjacent, so
/// they are returned as one range. `zigzag` requires that 2 * `count` divides
/// `size`.
Ranges partRanges(int64_t size, int64_t count, int64_t index, bool zigzag);

/// Returns true if the `outer * inner` parts of `size` elements nest in the
/// `outer` parts: each larger part is exactly the union of `inner` consecutive
/// smaller parts. Only then can the minor axes of a dimension be gathered or
/// sliced without the major ones.
bool partsRegroup(int64_t size, int64_t outer, int64_t inner);

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

constexpr unsigned numReductionKinds = 2;

/// The distribution of the elements of a tensor over a mesh. Each axis has one
/// of four roles: it shards the tensor, the tensor is partial over it, the
/// tensor exists only at one of its coordinates (fixed), or it replicates the
/// tensor.
///
/// The dimensions of a tensor of rank r have the numbers 0 to r - 1. The number
/// r stands for the flat cut.
struct Layout {
  /// For each dimension, the axes that shard it, major first.
  llvm::SmallVector<AxisList, 4> dims;
  /// The cut of the block that `dims` leaves to a rank. Without axes, the block
  /// is not cut.
  FlatCut flat;
  /// For each kind of reduction, the axes over which the value is partial:
  /// along such an axis, each rank has one summand of the value (or one operand
  /// of its maximum), and the reduction is pending. If both kinds are pending,
  /// the maxima are reduced first, and the value is the sum of the maxima.
  std::array<AxisList, numReductionKinds> partial;
  /// Fixed axes and their coordinates. The value exists only on devices with
  /// these coordinates, for example on one pipeline stage.
  llvm::SmallVector<std::pair<Axis, int64_t>, 1> fixed;
  /// True if each rank keeps its shard in the memory of its host.
  bool onHost = false;

  Layout() = default;
  /// Creates the replicated layout of a tensor of rank `rank`.
  explicit Layout(unsigned rank) : dims(rank) {}

  AxisList &getPartial(ReductionKind kind) {
    return partial[static_cast<unsigned>(kind)];
  }
  const AxisList &getPartial(ReductionKind kind) const {
    return partial[static_cast<unsigned>(kind)];
  }
  /// Returns the axes that shard dimension `dim`, or those of the flat cut if
  /// `dim` is the rank of the tensor.
  const AxisList &getAxes(unsigned dim) const {
    return dim == dims.size() ? flat.axes : dims[dim];
  }
  /// Returns the number of dimensions, plus one if there is a flat cut.
  unsigned getNumCuts() const { return dims.size() + !flat.empty(); }
  /// Returns true if a reduction over any axis is pending.
  bool isPartial() const;
  /// Returns the kind of reduction that is pending over `axis`, or nullopt.
  std::optional<ReductionKind> getPartialKind(Axis axis) const;
  /// Returns the dimension that `axis` shards, the rank of the tensor if `axis`
  /// belongs to the flat cut, or nullopt.
  std::optional<unsigned> getShardedDim(Axis axis) const;
  std::optional<int64_t> getFixedCoordinate(Axis axis) const;
  /// Returns true if the value exists at `coordinates`, which has one entry per
  /// axis, `micro` first.
  bool isHeldAt(llvm::ArrayRef<int64_t> coordinates) const;
  /// Returns true if `axis` replicates: it does not shard the tensor, no
  /// reduction over it is pending, and it is not fixed.
  bool isReplicated(Axis axis) const;

  /// Brings the layout into normal form: sorts `partial` and `fixed`, because
  /// their order has no meaning, and resets zigzag and shift of dimensions
  /// without axes, and a flat cut without axes.
  void normalise();
  /// Returns the layout of a stack of tensors with this layout.
  Layout withLeading() const;
  /// Returns the layout of one tensor of a stack with this layout, whose
  /// leading dimension must not be sharded.
  Layout withoutLeading() const;
  /// Returns the reason for which the layout is invalid on `mesh`, or nullopt
  /// if it is valid.
  std::optional<std::string> check(const Mesh &mesh) const;
  /// Returns the reason for which a tensor of shape `shape` cannot have this
  /// layout, or nullopt if it can.
  std::optional<std::string> checkShape(const Mesh &mesh,
                                        llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }
  bool operator<(const Layout &other) const;
};
llvm::hash_code hash_value(const Layout &layout);

/// Returns the number of parts into which the layout divides dimension `dim`.
int64_t numParts(const Mesh &mesh, const Layout &layout, unsigned dim);

/// Returns the number of the part of dimension `dim` that the device at
/// `coordinates` holds. `coordinates` has one entry per axis, `micro` first.
int64_t partIndex(const Mesh &mesh, const Layout &layout, unsigned dim,
                  llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the shard at `coordinates`, which has one entry per
/// axis, `micro` first. The dimensions of a flat cut have size 1, except the
/// last one, which has the size of the part with its padding.
llvm::SmallVector<int64_t> localShape(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns for each dimension the ranges of indices that belong to the block at
/// `coordinates`, which has one entry per axis, `micro` first. The block is the
/// shard, or, if there is a flat cut, the block that it cuts.
llvm::SmallVector<Ranges> localRanges(const Mesh &mesh, const Layout &layout,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Returns the number of elements of a part of the flat cut of `layout`, with
/// padding. The cut must have axes.
int64_t flatPartSize(const Mesh &mesh, const Layout &layout,
                     llvm::ArrayRef<int64_t> shape);

/// Returns the elements that the rank at `coordinates` holds of its block if
/// `layout` has a flat cut: positions in the row-major list of the block. The
/// range may be empty, or shorter than `flatPartSize`.
Range flatRange(const Mesh &mesh, const Layout &layout,
                llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> coordinates);

/// Returns for each dimension the first index of the block at `coordinates`,
/// which has one entry per axis, `micro` first.
llvm::SmallVector<int64_t> localOffset(const Mesh &mesh, const Layout &layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> coordinates);

/// Returns the shape of the largest shard, which holds the first part of every
/// dimension.
llvm::SmallVector<int64_t> largestLocalShape(const Mesh &mesh,
                                             const Layout &layout,
                                             llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Steps between layouts
//===----------------------------------------------------------------------===//

/// Kinds of steps between layouts, in the order in which the planner tries
/// them. If several plans have the same cost and the same number of steps, the
/// planner returns the plan that it finds first. No step moves a value to
/// another stage.
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

/// One step of a plan. Slice, scatter and reduce-scatter append `axes` to the
/// axes that shard `toDim`, at the minor end. An all-gather removes `axes` from
/// the minor end of the axes that shard `fromDim`. An all-to-all moves `axes`
/// from `fromDim` to `toDim`. The number of a dimension may be that of the flat
/// cut, except in an all-to-all. All-reduce and reduce-scatter perform the
/// pending `reduction` over `axes`. Scatter and broadcast start from a value
/// that is fixed at one coordinate of each of `axes`. A permute moves blocks
/// between ranks without cutting them.
struct Step {
  StepKind kind;
  /// The axes of the step, in the order in which they shard `toDim`. Kinds
  /// without `toDim` list them in ascending order.
  AxisList axes;
  std::optional<ReductionKind> reduction = std::nullopt;
  std::optional<unsigned> fromDim = std::nullopt;
  std::optional<unsigned> toDim = std::nullopt;
  /// Used only for a permute: for each dimension, the axes that shard it after
  /// the step.
  llvm::SmallVector<AxisList, 0> placed = {};
  /// True if `toDim` becomes a zigzag. Used only if no axis shards `toDim`
  /// before the step. If an axis does, the step does not change whether the
  /// dimension is a zigzag.
  bool zigzag = false;
  /// The flat cut that a step begins if `toDim` is the rank of the tensor. Its
  /// axes are not used. If the operand has a flat cut, it must be the same.
  FlatCut flat = {};
};

/// Returns, in ascending order, the axes along which a permute from `from` to
/// `to` moves blocks. These are the axes that shard different dimensions in the
/// two layouts, shard a dimension with different strides, or shard a dimension
/// in only one of the layouts.
AxisList permutedAxes(const Mesh &mesh, const Layout &from, const Layout &to);

/// Returns the layout of a tensor of shape `shape` after `step`. Fails with a
/// reason if the step does not apply to `from`, or if it is not exact. A step
/// is not exact if uneven parts do not nest (see `partsRegroup`), because then
/// minor axes can't be gathered or sliced without the major ones.
llvm::FailureOr<Layout> applyStep(const Mesh &mesh,
                                  llvm::ArrayRef<int64_t> shape,
                                  const Layout &from, const Step &step,
                                  std::string &reason);

/// The sizes from which a cost function computes the cost of a step.
struct StepVolume {
  /// Number of ranks in a group.
  int64_t groupSize = 1;
  /// Bytes of the largest shard of a tensor: of the result for an all-gather or
  /// a slice, of the operand for all other kinds of steps.
  int64_t bufferBytes = 0;
  /// Bytes that a rank sends in a bandwidth-optimal algorithm. If ranks send
  /// different numbers of bytes, this is the largest number.
  int64_t movedBytes = 0;
};

/// Function that returns the cost of a step, in any unit. Costs are integers so
/// that rounding cannot make equal costs differ.
using StepCost =
    llvm::function_ref<uint64_t(const Step &step, const StepVolume &volume)>;

/// Returns the group size and the bytes of `step`, which changes the layout of
/// a tensor of shape `shape` from `from` to `to`. Each element has
/// `elementBits` bits.
StepVolume stepVolume(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                      int64_t elementBits, const Layout &from, const Layout &to,
                      const Step &step);

/// A step of a plan, and the layout after this step.
struct PlannedStep {
  Step step;
  Layout result;
};

/// Returns the cheapest steps from `from` to `to`, found by a uniform-cost
/// search. Of plans of equal cost, the shortest is returned, and of these the
/// one found first. The steps from a layout are tried by kind (in the order of
/// StepKind), then by dimension, then by axes.
///
/// The search does not move axes that both layouts replicate. The first axes of
/// a dimension do not move if they are the same in both layouts, both layouts
/// divide the dimension evenly, and both or neither as a zigzag. Two axes that
/// have the same role in `from` and the same role in `to` move together, so
/// that a reduction over both is one collective. They move separately only if
/// there is no other plan. With `splitCollectives`, each axis may move alone,
/// and the equal first axes of a dimension may move too. The plan then often
/// costs less but has more steps.
///
/// Fails with a reason if the layouts differ in the axis `micro`, if `to` is
/// fixed at a coordinate at which `from` is not fixed, if `to` is partial over
/// an axis and `from` is not partial over it with the same reduction, or if no
/// sequence of exact steps (see `applyStep`) exists.
llvm::FailureOr<llvm::SmallVector<PlannedStep, 0>>
planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
            int64_t elementBits, const Layout &from, const Layout &to,
            StepCost cost, std::string &reason, bool splitCollectives = false);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_LAYOUTALGEBRA_H
