//===- NormalizationOps.cpp - RMS and batch normalisation -------*- C++ -*-===//
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
// RMS normalisation
//===----------------------------------------------------------------------===//

/// Returns the space of an operation that needs whole rows of `data` on a
/// device: the iterator of the last dimension is opaque and is named `hidden`.
static RowSpace wholeRows(Value data, IteratorKind leadingKind) {
  RowSpace row(data, leadingKind, IteratorKind::Opaque);
  row.space.iterators[row.vocab].name = "hidden";
  return row;
}

IterationSpace RMSNormOp::getIterationSpace() {
  RowSpace row = wholeRows(getInput(), IteratorKind::Parallel);
  row.space.operands = {row.logits(), indexedBy({row.vocab})};
  row.space.results = {row.logits()};
  return row.space;
}
double RMSNormOp::getFlopsPerPoint() { return 4; }

IterationSpace RMSNormGradOp::getIterationSpace() {
  RowSpace row = wholeRows(getInput(), IteratorKind::Sum);
  row.space.operands = {row.logits(), row.logits(), indexedBy({row.vocab})};
  row.space.results = {row.logits(), indexedBy({row.vocab})};
  return row.space;
}
double RMSNormGradOp::getFlopsPerPoint() { return 10; }

LogicalResult RMSNormOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  auto grad = RMSNormGradOp::create(
      scope.builder(), getLoc(),
      TypeRange{scope.gradientType(getInput()), scope.gradientType(getScale())},
      getPathAttr(), gradient, scope.saved(getInput()),
      scope.saved(getScale()));
  for (auto [operand, result] : llvm::zip(getOperands(), grad.getResults()))
    if (scope.wants(operand))
      scope.add(operand, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Batch normalisation: verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyBatch(Operation *op, Value data) {
  if (rankOf(data) != 2 && rankOf(data) != 4)
    return op->emitOpError("input must be [batch, channel] or [batch, channel, "
                           "height, width], got rank ")
           << rankOf(data);
  return success();
}

static LogicalResult verifyGroups(Operation *op, Value data, int64_t groups) {
  if (failed(verifyBatch(op, data)))
    return failure();
  if (groups < 1 || sizeOf(data, 0) % groups != 0)
    return op->emitOpError("'groups' must divide the batch, got ")
           << groups << " and " << sizeOf(data, 0);
  return success();
}

/// Verifies that `value` has `rows` rows: two for the sums `[2, channel]`, one
/// for the statistics `[1, channel]` of one group. Does not check the rank,
/// because the verifier of the iteration space reports any rank other than 2.
static LogicalResult verifyRows(Operation *op, StringRef what, Value value,
                                int64_t rows) {
  if (rankOf(value) == 2 && sizeOf(value, 0) != rows)
    return op->emitOpError() << what << " must have " << rows << " rows, got "
                             << sizeOf(value, 0);
  return success();
}

/// Verifies an operation with one group of samples: the rank of the input, and
/// that mean and inverse standard deviation have one row. The verifier of the
/// iteration space does not check the number of rows, because no iterator
/// indexes them.
template <typename OpTy> static LogicalResult verifyOneGroup(OpTy op) {
  if (failed(verifyBatch(op, op.getInput())) ||
      failed(verifyRows(op, "mean", op.getMean(), 1)))
    return failure();
  return verifyRows(op, "inverse", op.getInverse(), 1);
}

template <typename OpTy> static LogicalResult verifyNorm(OpTy op) {
  if (failed(verifyGroups(op, op.getInput(), op.getGroups())))
    return failure();
  return op.getGroups() == 1 ? verifyOneGroup(op) : success();
}

LogicalResult BatchNormOp::verify() { return verifyNorm(*this); }
LogicalResult BatchNormGradOp::verify() { return verifyNorm(*this); }
LogicalResult BatchNormSumsOp::verify() {
  if (failed(verifyBatch(*this, getInput())))
    return failure();
  return verifyRows(*this, "sums", getResult(), 2);
}
LogicalResult BatchNormStatisticsOp::verify() {
  if (failed(verifyRows(*this, "sums", getSums(), 2)) ||
      failed(verifyRows(*this, "mean", getMean(), 1)))
    return failure();
  return verifyRows(*this, "inverse", getInverse(), 1);
}
LogicalResult BatchNormApplyOp::verify() { return verifyOneGroup(*this); }
LogicalResult BatchNormGradSumsOp::verify() { return verifyOneGroup(*this); }
LogicalResult BatchNormInputGradOp::verify() { return verifyOneGroup(*this); }

//===----------------------------------------------------------------------===//
// Batch normalisation: iteration spaces
//===----------------------------------------------------------------------===//

namespace {
/// The iteration space that nn.batch_norm, nn.batch_norm_grad and the
/// operations of their decompositions share, except nn.batch_norm_statistics.
struct BatchNormSpace {
  IterationSpace space;
  TensorIterators data;
  /// `channels` are the iterators of a tensor with one number per channel, and
  /// `statistics` those of a tensor with one number per group and channel.
  TensorIterators channels, statistics;

  /// `kind` is the kind of the iterator `batch`. With one group, `batch` runs
  /// over the samples; with several groups, it runs over the groups.
  BatchNormSpace(Value input, int64_t groups, IteratorKind kind) {
    groups = std::max<int64_t>(groups, 1);
    int64_t samples = sizeOf(input, 0);
    unsigned batch = space.add("batch", groups == 1 ? samples : groups, kind);
    DimIterators rows = {batch};
    if (groups > 1)
      rows.push_back(
          space.add("member", samples / groups, IteratorKind::Opaque));
    unsigned channel = space.add("channel", sizeOf(input, 1));
    data = {rows, {channel}};
    for (int64_t dim = 2; dim < rankOf(input); ++dim)
      data.push_back({space.add(dataIteratorName(dim, 4), sizeOf(input, dim),
                                IteratorKind::Opaque)});
    channels = {{channel}};
    // If there is only one group, no iterator indexes the rows: the one row of
    // mean and inverse standard deviation, or the two rows of
    // nn.batch_norm_sums.
    statistics = {groups > 1 ? DimIterators{batch} : DimIterators(), {channel}};
  }
};
} // namespace

IterationSpace BatchNormOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), getGroups(),
                      getGroups() > 1 ? IteratorKind::Parallel
                                      : IteratorKind::Moments);
  norm.space.operands = {norm.data, norm.channels, norm.channels};
  norm.space.results = {norm.data, norm.statistics, norm.statistics};
  return norm.space;
}
double BatchNormOp::getFlopsPerPoint() { return 7; }

IterationSpace BatchNormGradOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), getGroups(),
                      getGroups() > 1 ? IteratorKind::Sum
                                      : IteratorKind::Moments);
  norm.space.operands = {norm.data, norm.data, norm.statistics, norm.statistics,
                         norm.channels};
  norm.space.results = {norm.data, norm.channels, norm.channels};
  return norm.space;
}
double BatchNormGradOp::getFlopsPerPoint() { return 11; }

IterationSpace BatchNormSumsOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), 1, IteratorKind::Sum);
  norm.space.operands = {norm.data};
  norm.space.results = {norm.statistics};
  return norm.space;
}
double BatchNormSumsOp::getFlopsPerPoint() { return 3; }

IterationSpace BatchNormStatisticsOp::getIterationSpace() {
  IterationSpace space;
  unsigned channel = space.add("channel", sizeOf(getSums(), 1));
  TensorIterators rows = {{}, {channel}};
  space.operands = {rows};
  space.results = {rows, rows};
  return space;
}
double BatchNormStatisticsOp::getFlopsPerPoint() { return 6; }

IterationSpace BatchNormApplyOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), 1, IteratorKind::Parallel);
  norm.space.operands = {norm.data, norm.statistics, norm.statistics,
                         norm.channels, norm.channels};
  norm.space.results = {norm.data};
  return norm.space;
}
double BatchNormApplyOp::getFlopsPerPoint() { return 4; }

IterationSpace BatchNormGradSumsOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), 1, IteratorKind::Sum);
  norm.space.operands = {norm.data, norm.data, norm.statistics,
                         norm.statistics};
  norm.space.results = {norm.channels, norm.channels};
  return norm.space;
}
double BatchNormGradSumsOp::getFlopsPerPoint() { return 5; }

IterationSpace BatchNormInputGradOp::getIterationSpace() {
  BatchNormSpace norm(getInput(), 1, IteratorKind::Parallel);
  norm.space.operands = {norm.data,       norm.data,     norm.statistics,
                         norm.statistics, norm.channels, norm.channels,
                         norm.channels};
  norm.space.results = {norm.data};
  return norm.space;
}
double BatchNormInputGradOp::getFlopsPerPoint() { return 8; }

//===----------------------------------------------------------------------===//
// Batch normalisation: gradient and decomposition
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::buildGradients(GradientScope &scope) {
  if (scope.gradientOf(getMean()) || scope.gradientOf(getInverse()))
    return emitOpError("mean and inverse are for the gradient only; their own "
                       "gradient is not defined");
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  auto grad = BatchNormGradOp::create(
      scope.builder(), getLoc(),
      TypeRange{scope.gradientType(getInput()), scope.gradientType(getScale()),
                scope.gradientType(getShift())},
      getPathAttr(), gradient, scope.saved(getInput()), scope.saved(getMean()),
      scope.saved(getInverse()), scope.saved(getScale()), getGroupsAttr());
  for (auto [operand, result] : llvm::zip(getOperands(), grad.getResults()))
    if (scope.wants(operand))
      scope.add(operand, result);
  return success();
}

/// Returns the number of values that each channel of `data` has.
static int64_t countPerChannel(Value data) {
  return tensorType(data).getNumElements() / sizeOf(data, 1);
}

SmallVector<Value> BatchNormOp::decompose(OpBuilder &builder) {
  auto rows = tensorType(getMean());
  Value sums = BatchNormSumsOp::create(
      builder, getLoc(),
      RankedTensorType::get({2, rows.getDimSize(1)}, rows.getElementType()),
      getPathAttr(), getInput());
  auto statistics = BatchNormStatisticsOp::create(
      builder, getLoc(), TypeRange{getMean().getType(), getInverse().getType()},
      getPathAttr(), sums,
      builder.getI64IntegerAttr(countPerChannel(getInput())));
  Value result = BatchNormApplyOp::create(
      builder, getLoc(), getResult().getType(), getPathAttr(), getInput(),
      statistics.getMean(), statistics.getInverse(), getScale(), getShift());
  return {result, statistics.getMean(), statistics.getInverse()};
}

SmallVector<Value> BatchNormGradOp::decompose(OpBuilder &builder) {
  auto sums = BatchNormGradSumsOp::create(
      builder, getLoc(),
      TypeRange{getScaleGradient().getType(), getShiftGradient().getType()},
      getPathAttr(), getGradient(), getInput(), getMean(), getInverse());
  Value result = BatchNormInputGradOp::create(
      builder, getLoc(), getInputGradient().getType(), getPathAttr(),
      getGradient(), getInput(), getMean(), getInverse(), getScale(),
      sums.getScaleGradient(), sums.getShiftGradient());
  return {result, sums.getScaleGradient(), sums.getShiftGradient()};
}
