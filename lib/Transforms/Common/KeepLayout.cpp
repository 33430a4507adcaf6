//===- KeepLayout.cpp - values kept in a layout of their own ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/KeepLayout.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;

bool proteus::isAbout(strategy::PartAttr part, const nn::IterationSpace &space,
                      const nn::TensorIterators &dims, unsigned dim) {
  if (part.isDimension())
    return part.getDimension() == dim;
  return !dims[dim].empty() &&
         space.iterators[dims[dim].front()].name == part.getIterator();
}

strategy::PartitionAttr proteus::partitionByDimension(
    MLIRContext *context, ArrayRef<strategy::PartAttr> parts,
    const nn::IterationSpace &space, const nn::TensorIterators &dims) {
  SmallVector<strategy::PartAttr> result;
  Builder builder(context);
  for (strategy::PartAttr part : parts)
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (isAbout(part, space, dims, dim))
        result.push_back(strategy::PartAttr::get(
            context, builder.getI64IntegerAttr(dim), part.getAxes()));
  return strategy::PartitionAttr::get(context, result);
}

nn::KeepOp proteus::buildKeep(OpBuilder &builder, Operation *owner, Value value,
                              strategy::PartitionAttr byDimension) {
  auto keep = nn::KeepOp::create(builder, owner->getLoc(), value.getType(),
                                 nn::getOwnPath(owner), value);
  if (auto stage = getStage(owner))
    setStage(keep, *stage);
  MLIRContext *context = keep.getContext();
  nn::IterationSpace space = keep.getIterationSpace();
  SmallVector<strategy::PartAttr> parts;
  for (strategy::PartAttr part : byDimension.getParts())
    parts.push_back(strategy::PartAttr::get(
        context,
        StringAttr::get(context, space.iterators[part.getDimension()].name),
        part.getAxes()));
  keep->setDiscardableAttr(kOpAttr,
                           strategy::PartitionAttr::get(context, parts));
  return keep;
}
