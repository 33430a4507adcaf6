//===- DistVerifiers.cpp - verifiers of collectives and messages ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace proteus::dist;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// Returns the axes with the given names. Fails with an error if there are no
/// names, if a name is listed twice or is not that of an axis of the mesh, or
/// if the axes are not in normal form (mesh order).
static FailureOr<AxisList> verifyAxes(Operation *op, MeshAttr mesh,
                                      ArrayAttr names) {
  AxisList axes;
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    std::optional<Axis> axis = mesh.getAxisIndex(name);
    if (!axis)
      return op->emitOpError("names the axis '")
             << name.getValue() << "', which is not on the mesh " << mesh;
    if (llvm::is_contained(axes, *axis))
      return op->emitOpError("axis '")
             << name.getValue() << "' is listed twice";
    axes.push_back(*axis);
  }
  if (axes.empty())
    return op->emitOpError("expected at least one axis");
  if (!llvm::is_sorted(axes)) {
    AxisList sorted(axes);
    llvm::sort(sorted);
    return op->emitOpError("axes ") << mesh.getValue().format(axes)
                                    << " are not in normal form, expected "
                                    << mesh.getValue().format(sorted);
  }
  return axes;
}

/// Checks that operand and result have the same shape, element type and mesh.
static LogicalResult verifySameTensor(Operation *op, RankedTensorType from,
                                      RankedTensorType to) {
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return op->emitOpError("changes the tensor from ")
           << from << " to " << to << ", expected the layout alone to change";
  if (getLayout(from).getMesh() != getLayout(to).getMesh())
    return op->emitOpError("goes from the mesh ")
           << getLayout(from).getMesh() << " to the mesh "
           << getLayout(to).getMesh();
  return success();
}

static LogicalResult verifyLayout(Operation *op, LayoutAttr actual,
                                  const Layout &expected) {
  LayoutAttr attr = LayoutAttr::get(actual.getMesh(), expected);
  if (actual == attr)
    return success();
  return op->emitOpError("result has layout ")
         << actual << ", expected " << attr;
}

/// Returns `axes` in the order in which they shard dimension `dim` of `result`.
/// An operation lists them in mesh order instead. If `axes` are not the minor
/// axes of the dimension, returns them unchanged, and the caller reports an
/// error.
static AxisList placedOrder(const Layout &result, unsigned dim,
                            const AxisList &axes) {
  if (dim > result.dims.size())
    return axes;
  ArrayRef<Axis> placed = result.getAxes(dim);
  if (placed.size() < axes.size())
    return axes;
  ArrayRef<Axis> tail = placed.take_back(axes.size());
  return std::is_permutation(tail.begin(), tail.end(), axes.begin())
             ? AxisList(tail)
             : axes;
}

/// Checks that the layout of `to` is the layout of `from` after `step`. If the
/// step has a `toDim`, the operation states neither the order of the axes in
/// this dimension nor whether it is a zigzag, so both are taken from `to`.
static LogicalResult verifyStep(Operation *op, RankedTensorType from,
                                RankedTensorType to, Step step) {
  LayoutAttr operand = getLayout(from), result = getLayout(to);
  if (step.toDim) {
    step.axes = placedOrder(result.getValue(), *step.toDim, step.axes);
    if (*step.toDim == result.getRank())
      step.flat = result.getValue().flat;
    else
      step.zigzag = result.getValue().dims[*step.toDim].zigzag;
  }
  std::string reason;
  FailureOr<Layout> expected =
      applyStep(operand.getMesh().getValue(), from.getShape(),
                operand.getValue(), step, reason);
  if (failed(expected))
    return op->emitOpError() << reason;
  return verifyLayout(op, result, *expected);
}

/// Checks that `dim` is a dimension of `type`.
static LogicalResult verifyDim(Operation *op, RankedTensorType type,
                               int64_t dim) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError("dimension ")
         << dim << " is outside a tensor of rank " << type.getRank();
}

/// Checks the dimension of an operation that changes a dimension or the flat
/// cut.
template <typename OpT> static LogicalResult verifyCut(OpT op) {
  std::optional<int64_t> dim = op.getDim();
  return dim ? verifyDim(op, op.getInput().getType(), *dim) : success();
}

template <typename OpT>
static LogicalResult verifyCollective(OpT op, Step step) {
  RankedTensorType from = op.getInput().getType();
  RankedTensorType to = op.getResult().getType();
  if (failed(verifySameTensor(op, from, to)))
    return failure();
  FailureOr<AxisList> axes = verifyAxes(op, op.getMesh(), op.getAxes());
  if (failed(axes))
    return failure();
  step.axes = std::move(*axes);
  return verifyStep(op, from, to, std::move(step));
}

//===----------------------------------------------------------------------===//
// Changes of layout
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  return verifyCollective(*this,
                          {StepKind::AllReduce, {}, getReduction(), {}, {}});
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyCut(*this)))
    return failure();
  return verifyCollective(*this, {StepKind::AllGather, {}, {}, getCut(), {}});
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyCut(*this)))
    return failure();
  return verifyCollective(
      *this, {StepKind::ReduceScatter, {}, getReduction(), {}, getCut()});
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyDim(*this, getInput().getType(), getFromDim())) ||
      failed(verifyDim(*this, getInput().getType(), getToDim())))
    return failure();
  return verifyCollective(
      *this, {StepKind::AllToAll, {}, {}, getFromDim(), getToDim()});
}

LogicalResult PermuteOp::verify() {
  Step step{StepKind::Permute, {}};
  const Layout &result = getLayout(getType()).getValue();
  step.placed.assign(result.dims.begin(), result.dims.end());
  return verifyCollective(*this, std::move(step));
}

LogicalResult BroadcastOp::verify() {
  return verifyCollective(*this, {StepKind::Broadcast, {}});
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyDim(*this, getInput().getType(), getDim())))
    return failure();
  return verifyCollective(*this, {StepKind::Scatter, {}, {}, {}, getDim()});
}

/// Returns `layout` with each of `axes` fixed at the same coordinate as in
/// `place`. Fails with an error if one of `axes` is not fixed in `place`.
static FailureOr<Layout> fixedAs(Operation *op, Layout layout,
                                 const Layout &place, ArrayRef<Axis> axes,
                                 const Mesh &mesh) {
  for (Axis axis : axes) {
    std::optional<int64_t> coordinate = place.getFixedCoordinate(axis);
    if (!coordinate)
      return op->emitOpError(
                 "the result is not fixed at a coordinate of axis '")
             << mesh.getName(axis) << "'";
    layout.fixed.push_back({axis, *coordinate});
  }
  layout.normalise();
  return layout;
}

/// Checks that the layout of `to` is the layout of `from` after a gather of
/// dimension `dim` over `axes`.
static LogicalResult verifyGather(Operation *op, RankedTensorType from,
                                  RankedTensorType to, unsigned dim,
                                  const AxisList &axes) {
  LayoutAttr operand = getLayout(from), result = getLayout(to);
  const Mesh &mesh = operand.getMesh().getValue();
  std::string reason;
  FailureOr<Layout> expected =
      applyStep(mesh, from.getShape(), operand.getValue(),
                {StepKind::AllGather, axes, {}, dim, {}}, reason);
  if (failed(expected))
    return op->emitOpError() << reason;
  expected = fixedAs(op, *expected, result.getValue(), axes, mesh);
  if (failed(expected))
    return failure();
  return verifyLayout(op, result, *expected);
}

LogicalResult GatherOp::verify() {
  if (failed(verifyDim(*this, getInput().getType(), getDim())) ||
      failed(verifySameTensor(*this, getInput().getType(), getType())))
    return failure();
  FailureOr<AxisList> axes = verifyAxes(*this, getMesh(), getAxes());
  if (failed(axes))
    return failure();
  return verifyGather(*this, getInput().getType(), getType(), getDim(), *axes);
}

LogicalResult RestrictOp::verify() {
  if (failed(verifySameTensor(*this, getInput().getType(), getType())))
    return failure();
  FailureOr<AxisList> axes = verifyAxes(*this, getMesh(), getAxes());
  if (failed(axes))
    return failure();
  const Layout &operand = getLayout(getInput().getType()).getValue();
  const Mesh &mesh = getMesh().getValue();
  for (Axis axis : *axes)
    if (!operand.isReplicated(axis))
      return emitOpError("the operand is not replicated over axis '")
             << mesh.getName(axis) << "'";
  FailureOr<Layout> expected =
      fixedAs(*this, operand, getLayout(getType()).getValue(), *axes, mesh);
  if (failed(expected))
    return failure();
  return verifyLayout(*this, getLayout(getType()), *expected);
}

LogicalResult ExchangeOp::verify() {
  if (getInputs().empty() || getInputs().size() != getOutputs().size())
    return emitOpError("has ")
           << getInputs().size() << " operands and " << getOutputs().size()
           << " results, expected at least one and as many of both";
  FailureOr<AxisList> axes = verifyAxes(*this, getMesh(), getAxes());
  if (failed(axes))
    return failure();
  for (auto [index, input, output] :
       llvm::enumerate(getInputs(), getOutputs())) {
    auto from = cast<RankedTensorType>(input.getType());
    auto to = cast<RankedTensorType>(output.getType());
    if (getLayout(from).getMesh() != getMesh())
      return emitOpError("operand ")
             << index << " is on the mesh " << getLayout(from).getMesh()
             << ", operand 0 on " << getMesh();
    if (failed(verifySameTensor(*this, from, to)))
      return failure();
    const Layout &sharded =
        getLayout(isScattered(index) ? to : from).getValue();
    if (!sharded.getShardedDim(axes->front()))
      return emitOpError("pair ")
             << index << " is neither scattered nor gathered: it goes from "
             << getLayout(from) << " to " << getLayout(to);
    if (failed(
            isScattered(index)
                ? verifyStep(*this, from, to,
                             {StepKind::Scatter, *axes, {}, {}, getDim(index)})
                : verifyGather(*this, from, to, getDim(index), *axes)))
      return failure();
  }
  return success();
}

LogicalResult SliceOp::verify() {
  if (failed(verifyCut(*this)))
    return failure();
  return verifyCollective(*this, {StepKind::Slice, {}, {}, {}, getCut()});
}

/// Checks that dimension `dim` of `whole` can be divided into `groups` groups
/// of `count` equal slices, that each device holds whole groups, and that
/// `chunk` is the type of one chunk, which has one slice of every group.
static LogicalResult verifyChunk(Operation *op, RankedTensorType whole,
                                 RankedTensorType chunk, int64_t dim,
                                 int64_t count, int64_t groups) {
  if (failed(verifyDim(op, whole, dim)))
    return failure();
  int64_t size = whole.getDimSize(dim);
  if (count < 1 || groups < 1 || size % groups != 0 ||
      size / groups % count != 0)
    return op->emitOpError()
           << count << " chunks of " << groups
           << " groups do not divide a dimension of size " << size;
  LayoutAttr layout = getLayout(whole);
  const AxisList &axes = layout.getValue().dims[dim];
  // A part of a zigzag dimension consists of two contiguous runs.
  int64_t runs = numParts(layout.getMesh().getValue(), layout.getValue(), dim) *
                 (axes.zigzag ? 2 : 1);
  if (axes.shift != 0 || groups % runs != 0)
    return op->emitOpError() << runs << " runs of dimension " << dim
                             << " on devices must have shift 0 and divide the "
                             << groups << " groups";
  SmallVector<int64_t> shape(whole.getShape());
  shape[dim] /= count;
  if (chunk == whole.clone(shape))
    return success();
  return op->emitOpError("a chunk of ")
         << whole << " is of the type " << whole.clone(shape) << ", not "
         << chunk;
}

LogicalResult ChunkOp::verify() {
  if (getIndex() >= getCount())
    return emitOpError("there is no chunk ")
           << getIndex() << " of " << getCount();
  return verifyChunk(*this, getInput().getType(), getType(), getDim(),
                     getCount(), getGroups());
}

LogicalResult JoinOp::verify() {
  if (getInputs().empty())
    return emitOpError("has no operand");
  for (Value input : getInputs())
    if (failed(verifyChunk(*this, getType(),
                           cast<RankedTensorType>(input.getType()), getDim(),
                           getInputs().size(), getGroups())))
      return failure();
  return success();
}

LogicalResult AccumulateOp::verify() {
  if (failed(verifySameTensor(*this, getInput().getType(), getType())))
    return failure();
  Layout expected = getLayout(getInput().getType()).getValue();
  AxisList &sums = expected.getPartial(ReductionKind::Sum);
  if (!llvm::is_contained(sums, microAxis))
    return emitOpError("operand is not partial (sum) over 'micro'");
  llvm::erase(sums, microAxis);
  return verifyLayout(*this, getLayout(getType()), expected);
}

/// Checks that a copy changes only the memory: from device to host memory if
/// `toHost`, else from host to device memory.
static LogicalResult verifyCopy(Operation *op, RankedTensorType from,
                                RankedTensorType to, bool toHost) {
  if (failed(verifySameTensor(op, from, to)))
    return failure();
  LayoutAttr before = getLayout(from);
  if (before.isOnHost() == toHost)
    return op->emitOpError("the operand is in ")
           << (toHost ? "host" : "device") << " memory already";
  return verifyLayout(op, getLayout(to), before.withHost(toHost).getValue());
}

LogicalResult OffloadOp::verify() {
  return verifyCopy(*this, getInput().getType(), getType(), true);
}

LogicalResult FetchOp::verify() {
  return verifyCopy(*this, getInput().getType(), getType(), false);
}

LogicalResult TransferOp::verify() {
  if (failed(verifySameTensor(*this, getInput().getType(), getType())))
    return failure();
  LayoutAttr from = getLayout(getInput().getType());
  LayoutAttr to = getLayout(getType());
  auto axisOf = [](const std::pair<Axis, int64_t> &entry) {
    return entry.first;
  };
  if (!llvm::equal(llvm::map_range(from.getValue().fixed, axisOf),
                   llvm::map_range(to.getValue().fixed, axisOf)))
    return emitOpError("operand and result fix different axes: ")
           << from << " and " << to;
  if (from.withFixed(to.getValue().fixed) != to)
    return emitOpError("goes from ")
           << from << " to " << to << ", expected 'at' alone to change";
  return success();
}

LogicalResult ShiftOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  if (getInputs().size() != getOutputs().size())
    return emitOpError("has ") << getInputs().size() << " operands and "
                               << getOutputs().size() << " results";
  for (auto [input, output] : llvm::zip_equal(getInputs(), getOutputs())) {
    auto from = cast<RankedTensorType>(input.getType());
    auto to = cast<RankedTensorType>(output.getType());
    if (failed(verifySameTensor(*this, from, to)) ||
        failed(verifyDim(*this, from, getDim())))
      return failure();
    FailureOr<AxisList> axes = verifyAxes(*this, getMesh(), getAxes());
    if (failed(axes))
      return failure();
    Layout expected = getLayout(from).getValue();
    AxisList &placed = expected.dims[getDim()];
    if (placed.size() != axes->size() ||
        !std::is_permutation(placed.begin(), placed.end(), axes->begin()) ||
        llvm::is_contained(placed, microAxis) || placed.empty())
      return emitOpError("axes ")
             << getMesh().getValue().format(*axes)
             << " are not the device axes of dimension " << getDim()
             << ", which is sharded by " << getMesh().getValue().format(placed);
    placed.shift = (placed.shift + 1) % getGroupSize();
    if (failed(verifyLayout(*this, getLayout(to), expected)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Fused collectives
//===----------------------------------------------------------------------===//

/// Returns the dimension that a reduce-scatter from `from` to `to` shards, or
/// that an all-gather collects. This is the number of the flat cut if the cuts
/// differ, else the first dimension with different axes in the two layouts. If
/// there is none, the caller reports an error; the function then returns
/// dimension 0, or 1 if dimension 0 is that of the stack.
static unsigned changedDim(const Layout &from, const Layout &to, bool stacked) {
  if (from.flat != to.flat)
    return from.dims.size();
  for (auto [dim, axes] : llvm::enumerate(llvm::zip(from.dims, to.dims)))
    if (std::get<0>(axes) != std::get<1>(axes))
      return dim;
  return stacked ? 1 : 0;
}

/// Checks operand `index` and its result: the layout of the result must be the
/// layout of the operand after `step`. If `step` is a reduce-scatter or an
/// all-gather, its dimension is the first one that has different axes in
/// operand and result.
template <typename OpT>
static LogicalResult verifyFusedOperand(OpT op, unsigned index, Step step) {
  auto from = cast<RankedTensorType>(op.getInputs()[index].getType());
  auto to = cast<RankedTensorType>(op.getOutputs()[index].getType());
  if (getLayout(from).getMesh() != op.getMesh())
    return op.emitOpError("operand ")
           << index << " is on the mesh " << getLayout(from).getMesh()
           << ", operand 0 on " << op.getMesh();
  if (failed(verifySameTensor(op, from, to)))
    return failure();
  bool stacked = op.getStacked()[index];
  const Layout &before = getLayout(from).getValue();
  const Layout &after = getLayout(to).getValue();
  if (stacked) {
    if (from.getRank() == 0)
      return op.emitOpError("stacked operand ")
             << index << " has no leading dimension";
    if (!before.dims[0].empty() || !after.dims[0].empty())
      return op.emitOpError("stacked operand ")
             << index << " is sharded along its leading dimension";
  }
  if (step.kind != StepKind::AllReduce) {
    bool scatters = step.kind == StepKind::ReduceScatter;
    if (from.getRank() <= (stacked ? 1 : 0))
      return op.emitOpError("operand ") << index << " has no dimension to "
                                        << (scatters ? "scatter" : "gather");
    (scatters ? step.toDim : step.fromDim) = changedDim(before, after, stacked);
  }
  return verifyStep(op, from, to, std::move(step));
}

/// Checks that no bucket is empty, and that every iteration of every operand is
/// in exactly one bucket.
template <typename OpT> static LogicalResult verifyBuckets(OpT op) {
  SmallVector<SmallVector<bool>> seen;
  for (unsigned operand = 0; operand < op.getInputs().size(); ++operand)
    seen.emplace_back(op.getNumIterations(operand), false);
  for (auto [index, bucket] :
       llvm::enumerate(op.getBuckets().getValue().list)) {
    if (bucket.empty())
      return op.emitOpError("bucket ") << index << " is empty";
    for (const BucketRange &range : bucket) {
      if (range.operand < 0 ||
          range.operand >= static_cast<int64_t>(seen.size()))
        return op.emitOpError("bucket ")
               << index << " names operand " << range.operand << " of "
               << seen.size();
      SmallVector<bool> &iterations = seen[range.operand];
      if (range.from < 0 || range.from >= range.to ||
          range.to > static_cast<int64_t>(iterations.size()))
        return op.emitOpError("bucket ")
               << index << " holds iterations " << range.from << ":" << range.to
               << " of operand " << range.operand << ", which has "
               << iterations.size();
      for (int64_t i = range.from; i < range.to; ++i) {
        if (iterations[i])
          return op.emitOpError("iteration ")
                 << i << " of operand " << range.operand
                 << " is in two buckets";
        iterations[i] = true;
      }
    }
  }
  for (auto [operand, iterations] : llvm::enumerate(seen))
    for (auto [iteration, found] : llvm::enumerate(iterations))
      if (!found)
        return op.emitOpError("iteration ")
               << iteration << " of operand " << operand << " is in no bucket";
  return success();
}

/// Checks the operands and buckets of a fused collective that applies `step` to
/// each operand.
template <typename OpT> static LogicalResult verifyFused(OpT op, Step step) {
  if (op.getInputs().empty())
    return op.emitOpError("expected at least one operand");
  if (op.getInputs().size() != op.getOutputs().size())
    return op.emitOpError("has ") << op.getInputs().size() << " operands and "
                                  << op.getOutputs().size() << " results";
  if (op.getStacked().size() != op.getInputs().size())
    return op.emitOpError("has ")
           << op.getInputs().size() << " operands and "
           << op.getStacked().size() << " 'stacked' flags";
  FailureOr<AxisList> axes = verifyAxes(op, op.getMesh(), op.getAxes());
  if (failed(axes))
    return failure();
  step.axes = *axes;
  for (unsigned index = 0; index < op.getInputs().size(); ++index)
    if (failed(verifyFusedOperand(op, index, step)))
      return failure();
  return verifyBuckets(op);
}

LogicalResult StageReduceOp::verify() {
  ArrayRef<int64_t> stages = getStages();
  if (stages.size() < 2)
    return emitOpError("reduces over ")
           << stages.size() << " stages, expected at least two";
  for (auto [previous, next] : llvm::zip(stages, stages.drop_front()))
    if (previous >= next)
      return emitOpError("stage ") << next << " comes after stage " << previous
                                   << ", expected ascending stages";
  if (stages.front() < 0)
    return emitOpError("stage ") << stages.front() << " is negative";
  return success();
}

LogicalResult FusedReduceOp::verify() {
  if (std::optional<Type> wire = getWireType(); wire && !isa<FloatType>(*wire))
    return emitOpError("the wire type must be a float type, got ") << *wire;
  if (getKind() != CollectiveKind::AllReduce &&
      getKind() != CollectiveKind::ReduceScatter)
    return emitOpError("kind is ") << stringifyCollectiveKind(getKind())
                                   << ", expected all_reduce or reduce_scatter";
  bool scatters = getKind() == CollectiveKind::ReduceScatter;
  return verifyFused(*this,
                     {scatters ? StepKind::ReduceScatter : StepKind::AllReduce,
                      {},
                      getReduction(),
                      {},
                      {}});
}

LogicalResult FusedGatherOp::verify() {
  return verifyFused(*this, {StepKind::AllGather, {}, {}, {}, {}});
}
