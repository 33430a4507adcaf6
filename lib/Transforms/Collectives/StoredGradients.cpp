//===- StoredGradients.cpp - storage layouts of gradients -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredGradients.h"
#include "LayoutUtils.h"

#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using dist::LayoutAttr;
using dist::Purpose;
using dist::ReductionKind;

/// Returns the storage layout of a gradient that is computed in layout
/// `computed`. `dims` holds the axes that shard each dimension in storage, and
/// the flat cut. Sums over these axes are no longer pending, because a value
/// cannot be partial over an axis that shards it. Other sums stay pending.
static LayoutAttr storedGradient(LayoutAttr computed, const DimAxes &dims) {
  dist::Layout result = computed.getValue();
  result.dims.assign(dims.begin(), dims.end());
  result.flat = dims.flat;
  llvm::erase_if(result.getPartial(ReductionKind::Sum), [&](Axis axis) {
    return result.getShardedDim(axis).has_value();
  });
  return LayoutAttr::get(computed.getMesh(), result);
}

StoredGradients::StoredGradients(func::FuncOp function, dist::MeshAttr mesh,
                                 ValueConverter &converter)
    : converter(converter) {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    auto updates = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), nn::kUpdatesAttr);
    if (!updates)
      continue;
    BlockArgument argument = function.getArgument(updates.getInt());
    auto axes = dyn_cast_if_present<ArrayAttr>(getArgumentAttr(
        argument, getStorageAttrName(strategy::ItemKind::Gradient)));
    if (!axes || getRole(argument) != nn::Role::Parameter)
      continue;
    // Skip updates of single table rows, because their gradients do not have
    // the shape of the parameter.
    if (operand.get().getDefiningOp<nn::EmbeddingBagUpdateOp>())
      continue;
    // Without dimensions of its own, the gradient has those of its parameter.
    DimAxes parameter;
    for (const AxisList &list :
         cast<LayoutAttr>(getArgumentAttr(argument, kLayoutAttr))
             .getValue()
             .dims)
      parameter.push_back(list);
    DimAxes stored =
        Storage(axes, mesh.getValue())
            .resolve(cast<RankedTensorType>(argument.getType()), parameter);
    // An update, or a repeat of updates, reads the gradient as operand 1. If
    // operations of the update phase compute this operand from the gradient, go
    // back to the gradient. The sum of the gradients of several chunks goes
    // back to all of them.
    SmallVector<Value> open = {operand.get().getDefiningOp()->getOperand(1)};
    while (!open.empty()) {
      Value gradient = open.pop_back_val();
      Operation *op = gradient.getDefiningOp();
      if (!op || getPhase(op) != Phase::Update || op->getNumOperands() == 0)
        gradientDims[gradient] = stored;
      else if (isa<nn::AddOp>(op))
        llvm::append_range(open, op->getOperands());
      else
        open.push_back(op->getOperand(0));
    }
  }
}

LogicalResult StoredGradients::store(OpResult gradient) {
  auto found = gradientDims.find(gradient);
  if (found == gradientDims.end())
    return success();
  LayoutAttr target = storedGradient(layoutOf(gradient), found->second);
  if (target == layoutOf(gradient))
    return success();
  Operation *producer = gradient.getOwner();
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : gradient.getUses())
    readers.push_back(&use);
  AnnotatingBuilder builder(producer, InsertedAnnotations::of(producer));
  builder.setInsertionPointAfter(producer);
  FailureOr<Value> stored =
      converter.reshard(builder, gradient, target, producer, Purpose::Gradient);
  if (failed(stored))
    return failure();
  for (OpOperand *reader : readers)
    reader->set(*stored);
  return success();
}

LayoutAttr StoredGradients::sliceLayout(Value value,
                                        LayoutAttr computed) const {
  auto found = gradientDims.find(value);
  if (found == gradientDims.end())
    return {};
  return storedGradient(computed, found->second.withoutLeading());
}
