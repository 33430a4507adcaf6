//===- AnnotatingBuilder.cpp - annotations of inserted operations ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnnotatingBuilder.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;

InsertedAnnotations InsertedAnnotations::of(Operation *op) {
  return {getPhase(op), getStage(op), nn::getOwnPath(op), Attribute()};
}

AnnotatingBuilder::AnnotatingBuilder(Operation *before,
                                     InsertedAnnotations annotations)
    : OpBuilder(before), annotations(std::move(annotations)) {
  setListener(this);
}

void AnnotatingBuilder::notifyOperationInserted(Operation *op,
                                                OpBuilder::InsertPoint) {
  setPhase(op, annotations.phase);
  if (annotations.stage)
    setStage(op, *annotations.stage);
  if (isa_and_nonnull<dist::DistDialect>(op->getDialect()))
    op->setDiscardableAttr(ProteusDialect::pathAttrName,
                           StringAttr::get(op->getContext(), annotations.path));
  if (annotations.prefetch && isa<dist::AllGatherOp, dist::FetchOp>(op))
    op->setDiscardableAttr(ProteusDialect::prefetchAttrName,
                           annotations.prefetch);
  if (annotations.gatherOnce && isa<dist::AllGatherOp>(op))
    op->setDiscardableAttr(ProteusDialect::onceAttrName,
                           UnitAttr::get(op->getContext()));
}
