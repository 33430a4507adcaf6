//===- MarkedBuilder.cpp - operations that know whose they are --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MarkedBuilder.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;

Marks Marks::of(Operation *op) {
  return {getPhase(op), getStage(op), nn::getOwnPath(op), Attribute()};
}

MarkedBuilder::MarkedBuilder(Operation *before, Marks marks)
    : OpBuilder(before), marks(std::move(marks)) {
  setListener(this);
}

void MarkedBuilder::notifyOperationInserted(Operation *op,
                                            OpBuilder::InsertPoint) {
  setPhase(op, marks.phase);
  if (marks.stage)
    setStage(op, *marks.stage);
  if (isa_and_nonnull<dist::DistDialect>(op->getDialect()))
    op->setDiscardableAttr(ProteusDialect::pathAttrName,
                           StringAttr::get(op->getContext(), marks.path));
  if (marks.prefetch && isa<dist::AllGatherOp, dist::FetchOp>(op))
    op->setDiscardableAttr(ProteusDialect::prefetchAttrName, marks.prefetch);
  if (marks.gatherOnce && isa<dist::AllGatherOp>(op))
    op->setDiscardableAttr(ProteusDialect::onceAttrName,
                           UnitAttr::get(op->getContext()));
}
