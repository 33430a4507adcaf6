//===- Layout.cpp - layouts of tensor types and values --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Layout.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace proteus::dist;

LayoutAttr proteus::dist::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType proteus::dist::withLayout(RankedTensorType type,
                                           LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

SmallVector<int64_t> proteus::dist::localShape(RankedTensorType type,
                                               ArrayRef<int64_t> coordinates) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return SmallVector<int64_t>(type.getShape());
  return localShape(layout.getMesh().getValue(), layout.getValue(),
                    type.getShape(), coordinates);
}

SmallVector<Ranges> proteus::dist::localRanges(RankedTensorType type,
                                               ArrayRef<int64_t> coordinates) {
  if (LayoutAttr layout = getLayout(type))
    return localRanges(layout.getMesh().getValue(), layout.getValue(),
                       type.getShape(), coordinates);
  SmallVector<Ranges> whole;
  for (int64_t size : type.getShape())
    whole.push_back({{0, size}});
  return whole;
}

SmallVector<int64_t> proteus::dist::largestLocalShape(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return SmallVector<int64_t>(type.getShape());
  return largestLocalShape(layout.getMesh().getValue(), layout.getValue(),
                           type.getShape());
}

int64_t proteus::dist::elementBits(Type elementType) {
  if (isa<IndexType>(elementType))
    return 64;
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * elementBits(complex.getElementType());
  if (elementType.isInteger(1))
    return 8;
  assert(elementType.isIntOrFloat() && "no size in memory");
  return elementType.getIntOrFloatBitWidth();
}

static int64_t bytesOf(ArrayRef<int64_t> shape, Type elementType) {
  return (ShapedType::getNumElements(shape) * elementBits(elementType) + 7) / 8;
}

int64_t proteus::dist::localBytes(RankedTensorType type,
                                  ArrayRef<int64_t> coordinates) {
  return bytesOf(localShape(type, coordinates), type.getElementType());
}

int64_t proteus::dist::localBytes(RankedTensorType type) {
  return bytesOf(largestLocalShape(type), type.getElementType());
}

int64_t proteus::dist::bufferBytes(RankedTensorType whole,
                                   RankedTensorType part) {
  LayoutAttr before = getLayout(whole), after = getLayout(part);
  if (!before || !after || before.getValue().flat == after.getValue().flat)
    return localBytes(whole);
  const Mesh &mesh = after.getMesh().getValue();
  return localBytes(part) * (mesh.getSize(after.getValue().flat.axes) /
                             mesh.getSize(before.getValue().flat.axes));
}

bool proteus::dist::isEven(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return true;
  const Mesh &mesh = layout.getMesh().getValue();
  return llvm::all_of(llvm::enumerate(type.getShape()), [&](auto it) {
    return it.value() % numParts(mesh, layout.getValue(), it.index()) == 0;
  });
}

bool proteus::dist::isPartial(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout && layout.isPartial();
}

FailureOr<SmallVector<ReshardStep>>
proteus::dist::planReshard(LayoutAttr from, LayoutAttr to,
                           RankedTensorType type, StepCost cost,
                           std::string *reason) {
  std::string ignored;
  std::string &cause = reason ? *reason : ignored;
  if (from.getMesh() != to.getMesh()) {
    cause = "the layouts are on different meshes";
    return failure();
  }
  auto plan = planReshard(from.getMesh().getValue(), type.getShape(),
                          elementBits(type.getElementType()), from.getValue(),
                          to.getValue(), cost, cause);
  if (failed(plan))
    return failure();
  SmallVector<ReshardStep> steps;
  for (PlannedStep &planned : *plan)
    steps.push_back({std::move(planned.step),
                     LayoutAttr::get(from.getMesh(), planned.result)});
  return steps;
}

static Value buildStep(OpBuilder &builder, Location loc, Value value,
                       const ReshardStep &planned,
                       std::optional<Purpose> purpose) {
  const Step &step = planned.step;
  auto cut = [&](unsigned dim) {
    return dim == planned.result.getRank() ? IntegerAttr()
                                           : builder.getI64IntegerAttr(dim);
  };
  Type type =
      withLayout(cast<RankedTensorType>(value.getType()), planned.result);
  ArrayAttr axes = getAxisNames(planned.result.getMesh(), step.axes);
  PurposeAttr purposeAttr =
      purpose ? PurposeAttr::get(builder.getContext(), *purpose)
              : PurposeAttr();
  switch (step.kind) {
  case StepKind::Slice:
    return SliceOp::create(builder, loc, type, value, cut(*step.toDim), axes);
  case StepKind::ReduceScatter:
    return ReduceScatterOp::create(builder, loc, type, *step.reduction, value,
                                   cut(*step.toDim), axes, purposeAttr);
  case StepKind::AllReduce:
    return AllReduceOp::create(builder, loc, type, *step.reduction, value, axes,
                               purposeAttr);
  case StepKind::AllToAll:
    return AllToAllOp::create(builder, loc, type, value, *step.fromDim,
                              *step.toDim, axes, purposeAttr);
  case StepKind::AllGather:
    return AllGatherOp::create(builder, loc, type, value, cut(*step.fromDim),
                               axes, purposeAttr);
  case StepKind::Permute:
    return PermuteOp::create(builder, loc, type, value, axes, purposeAttr);
  case StepKind::Broadcast:
    return BroadcastOp::create(builder, loc, type, value, axes, purposeAttr);
  case StepKind::Scatter:
    return ScatterOp::create(builder, loc, type, value, *step.toDim, axes,
                             purposeAttr);
  }
  llvm_unreachable("unknown step kind");
}

Value proteus::dist::buildReshard(OpBuilder &builder, Location loc, Value value,
                                  ArrayRef<ReshardStep> plan,
                                  std::optional<Purpose> purpose) {
  for (const ReshardStep &step : plan)
    value = buildStep(builder, loc, value, step, purpose);
  return value;
}

ArrayAttr proteus::dist::getAxisNames(MeshAttr mesh, ArrayRef<Axis> axes) {
  AxisList sorted(axes);
  llvm::sort(sorted);
  Builder builder(mesh.getContext());
  return builder.getArrayAttr(
      llvm::map_to_vector(sorted, [&](Axis axis) -> Attribute {
        return builder.getStringAttr(mesh.getValue().getName(axis));
      }));
}

FailureOr<AxisList> proteus::dist::getAxes(MeshAttr mesh, ArrayAttr names) {
  AxisList axes;
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    std::optional<Axis> axis = mesh.getAxisIndex(name);
    if (!axis)
      return failure();
    axes.push_back(*axis);
  }
  return axes;
}
