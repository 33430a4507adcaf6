//===- RecommenderOps.cpp - tables and interaction --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Bags of table rows
//===----------------------------------------------------------------------===//

static LogicalResult verifyBag(Operation *op, Value indices, Value table) {
  int64_t rank = rankOf(indices);
  if ((rank != 2 && rank != 3) || rankOf(table) != rank)
    return op->emitOpError(
               "indices and table must both have rank 2 (one table) "
               "or 3 (stacked tables), got ")
           << rank << " and " << rankOf(table);
  return success();
}

LogicalResult EmbeddingBagOp::verify() {
  return verifyBag(*this, getIndices(), getTable());
}
LogicalResult EmbeddingBagGradOp::verify() {
  return verifyBag(*this, getIndices(), getResult());
}

LogicalResult EmbeddingBagUpdateOp::verify() {
  if (getResult().getType() != getTable().getType())
    return emitOpError("the result must have the type of the table, got ")
           << getResult().getType() << " and " << getTable().getType();
  return verifyBag(*this, getIndices(), getTable());
}

namespace {
/// The iteration space that nn.embedding_bag, its gradient and its update
/// share.
struct BagSpace {
  IterationSpace space;
  TensorIterators indices, table, result;

  BagSpace(Value ids, Value rows, IteratorKind batchKind,
           IteratorKind vocabKind) {
    int64_t rank = rankOf(ids);
    unsigned batch = space.add("batch", sizeOf(ids, 0), batchKind);
    indices = {{batch}};
    result = {{batch}};
    if (rank > 2) {
      unsigned number = space.add("table", sizeOf(rows, 0));
      for (TensorIterators *dims : {&indices, &table, &result})
        dims->push_back({number});
    }
    unsigned bag =
        space.add("bag", sizeOf(ids, rank - 1), IteratorKind::Opaque);
    unsigned vocab = space.add("vocab", sizeOf(rows, rank - 2), vocabKind);
    unsigned hidden = space.add("hidden", sizeOf(rows, rank - 1));
    indices.push_back({bag});
    table.push_back({vocab});
    table.push_back({hidden});
    result.push_back({hidden});
  }
};
} // namespace

IterationSpace EmbeddingBagOp::getIterationSpace() {
  BagSpace bag(getIndices(), getTable(), IteratorKind::Parallel,
               IteratorKind::Sum);
  bag.space.operands = {bag.indices, bag.table};
  bag.space.results = {bag.result};
  return bag.space;
}
// Adding one selected row takes one FLOP per element. The points of the space
// run over all rows of the table (`vocab`), so the FLOPs per point are 1
// divided by the number of rows.
double EmbeddingBagOp::getFlopsPerPoint() {
  return 1.0 / sizeOf(getTable(), rankOf(getTable()) - 2);
}
bool EmbeddingBagOp::readsWholeOperand(unsigned operand) {
  return operand != 1;
}
double EmbeddingBagOp::getReadsPerWrite() {
  return sizeOf(getIndices(), rankOf(getIndices()) - 1);
}

IterationSpace EmbeddingBagGradOp::getIterationSpace() {
  BagSpace bag(getIndices(), getResult(), IteratorKind::Sum,
               IteratorKind::Parallel);
  bag.space.operands = {bag.result, bag.indices};
  bag.space.results = {bag.table};
  return bag.space;
}
double EmbeddingBagGradOp::getFlopsPerPoint() {
  return 1.0 / sizeOf(getResult(), rankOf(getResult()) - 2);
}

IterationSpace EmbeddingBagUpdateOp::getIterationSpace() {
  BagSpace bag(getIndices(), getTable(), IteratorKind::Opaque,
               IteratorKind::Parallel);
  bag.space.operands = {bag.table, bag.result, bag.indices};
  bag.space.results = {bag.table};
  return bag.space;
}
// Updating one element of a selected row takes two FLOPs: the gradient is
// multiplied by the learning rate, and the product is subtracted. The points of
// the space run over all rows of the table (`vocab`), so the FLOPs are divided
// by the number of rows.
double EmbeddingBagUpdateOp::getFlopsPerPoint() {
  return 2.0 / sizeOf(getTable(), rankOf(getTable()) - 2);
}
// The kernel reads and writes each element of a selected row. One element of
// the gradient serves all indices of a bag, and one index serves all elements
// of a row. The points of the space run over all rows of the table (`vocab`),
// so the bytes are divided by the number of rows.
std::optional<double> EmbeddingBagUpdateOp::getBytesPerPoint() {
  auto bytes = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() /
           8.0;
  };
  int64_t rank = rankOf(getTable());
  return (2 * bytes(getTable()) +
          bytes(getGradient()) / sizeOf(getIndices(), rank - 1) +
          bytes(getIndices()) / sizeOf(getTable(), rank - 1)) /
         sizeOf(getTable(), rank - 2);
}

LogicalResult EmbeddingBagOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getTable()))
    scope.add(getTable(),
              EmbeddingBagGradOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getTable()),
                  getPathAttr(), gradient, scope.saved(getIndices())));
  return success();
}

//===----------------------------------------------------------------------===//
// Interaction of features
//===----------------------------------------------------------------------===//

static int64_t numPairs(Value features) {
  int64_t count = sizeOf(features, 1);
  return count * (count - 1) / 2;
}

static LogicalResult verifyFeatures(Operation *op, Value features) {
  if (rankOf(features) != 3 || sizeOf(features, 1) < 2)
    return op->emitOpError("input must be [batch, features, dim] with at least "
                           "2 features, got ")
           << features.getType();
  return success();
}

LogicalResult InteractionOp::verify() {
  return verifyFeatures(*this, getInput());
}
LogicalResult InteractionGradOp::verify() {
  return verifyFeatures(*this, getInput());
}

namespace {
/// The iteration space that nn.interaction and its gradient share. A pair reads
/// two features, so no single iterator indexes the dimension of the features.
struct InteractionSpace {
  IterationSpace space;
  TensorIterators features, products;

  InteractionSpace(Value input, IteratorKind dimKind) {
    unsigned batch = space.add("batch", sizeOf(input, 0));
    unsigned pair = space.add("pair", numPairs(input), IteratorKind::Opaque);
    unsigned dim = space.add("dim", sizeOf(input, 2), dimKind);
    features = {{batch}, {}, {dim}};
    products = indexedBy({batch, pair});
  }
};
} // namespace

/// Returns the number of dot products that the kernel computes, divided by the
/// number of dot products in the result. The kernel computes all ordered pairs,
/// including those of a feature with itself. For example, with 4 features the
/// kernel computes 16 dot products, and the result has 6.
static double squareOverPairs(Value features) {
  auto count = static_cast<double>(sizeOf(features, 1));
  return count * count / static_cast<double>(numPairs(features));
}

IterationSpace InteractionOp::getIterationSpace() {
  InteractionSpace interaction(getInput(), IteratorKind::Sum);
  interaction.space.operands = {interaction.features};
  interaction.space.results = {interaction.products};
  return interaction.space;
}
double InteractionOp::getFlopsPerPoint() { return 2; }
double InteractionOp::getExecutedFlopsPerPoint() {
  return 2 * squareOverPairs(getInput());
}
KernelClass InteractionOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace InteractionGradOp::getIterationSpace() {
  InteractionSpace interaction(getInput(), IteratorKind::Parallel);
  interaction.space.operands = {interaction.products, interaction.features};
  interaction.space.results = {interaction.features};
  return interaction.space;
}
// For each pair of features and each index of `dim`, the kernel adds one
// product to the gradient of each of the two features: two products and two
// sums, which are four FLOPs.
double InteractionGradOp::getFlopsPerPoint() { return 4; }
double InteractionGradOp::getExecutedFlopsPerPoint() {
  return 2 * squareOverPairs(getInput());
}
KernelClass InteractionGradOp::getKernelClass() { return KernelClass::Matrix; }

LogicalResult InteractionOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              InteractionGradOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getInput()),
                  getPathAttr(), gradient, scope.saved(getInput())));
  return success();
}
