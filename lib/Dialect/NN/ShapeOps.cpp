//===- ShapeOps.cpp - sums, broadcasts, transposes --------------*- C++ -*-===//
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
// Sums and broadcasts
//===----------------------------------------------------------------------===//

/// Verifies that `keep` lists dimensions of `whole` in increasing order.
static LogicalResult verifyKept(Operation *op, ArrayRef<int64_t> keep,
                                Value whole) {
  int64_t previous = -1;
  for (int64_t dim : keep) {
    if (dim <= previous || dim >= rankOf(whole))
      return op->emitOpError("'keep' must be increasing and below the rank ")
             << rankOf(whole);
    previous = dim;
  }
  return success();
}

/// Returns the iterators of a tensor that has only the dimensions in `keep` of
/// a larger tensor. Dimension i of the larger tensor is indexed by iterator i
/// of the space.
static TensorIterators keptIterators(ArrayRef<int64_t> keep) {
  TensorIterators kept;
  for (int64_t dim : keep)
    kept.push_back({static_cast<unsigned>(dim)});
  return kept;
}

LogicalResult ReduceSumOp::verify() {
  return verifyKept(*this, getKeep(), getInput());
}

IterationSpace ReduceSumOp::getIterationSpace() {
  IterationSpace space = elementwise(*this, getInput());
  for (auto [i, iterator] : llvm::enumerate(space.iterators))
    if (!llvm::is_contained(getKeep(), static_cast<int64_t>(i)))
      iterator.kind = IteratorKind::Sum;
  space.results = {keptIterators(getKeep())};
  return space;
}
double ReduceSumOp::getFlopsPerPoint() { return 1; }
bool ReduceSumOp::isLinear() { return true; }

LogicalResult ReduceSumOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              BroadcastOp::create(scope.builder(), getLoc(),
                                  scope.gradientType(getInput()), getPathAttr(),
                                  gradient, getKeepAttr()));
  return success();
}

LogicalResult BroadcastOp::verify() {
  return verifyKept(*this, getKeep(), getResult());
}

IterationSpace BroadcastOp::getIterationSpace() {
  IterationSpace space = elementwise(*this, getResult());
  space.operands = {keptIterators(getKeep())};
  return space;
}
bool BroadcastOp::isLinear() { return true; }

LogicalResult BroadcastOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              ReduceSumOp::create(scope.builder(), getLoc(),
                                  scope.gradientType(getInput()), getPathAttr(),
                                  gradient, getKeepAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  bool permutes = static_cast<int64_t>(sorted.size()) == rankOf(getInput());
  for (auto [i, dim] : llvm::enumerate(sorted))
    permutes &= dim == static_cast<int64_t>(i);
  if (!permutes)
    return emitOpError("'permutation' must hold each of the ")
           << rankOf(getInput()) << " dimensions of the operand once";
  return success();
}

IterationSpace TransposeOp::getIterationSpace() {
  IterationSpace space = elementwise(*this, getInput());
  TensorIterators permuted;
  for (int64_t dim : getPermutation())
    permuted.push_back({static_cast<unsigned>(dim)});
  space.results = {permuted};
  return space;
}
bool TransposeOp::isLinear() { return true; }

LogicalResult TransposeOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient || !scope.wants(getInput()))
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = i;
  auto back = TransposeOp::create(scope.builder(), getLoc(),
                                  scope.gradientType(getInput()), getPathAttr(),
                                  gradient, inverse);
  // Iterator i of `back` runs over dimension i of the gradient of the result,
  // which corresponds to dimension `permutation[i]` of the operand.
  IterationSpace space = getIterationSpace(),
                 backSpace = back.getIterationSpace();
  SmallVector<std::pair<StringRef, StringRef>> names;
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    names.push_back({space.iterators[dim].name, backSpace.iterators[i].name});
  scope.correspond(back, names);
  scope.add(getInput(), back);
  return success();
}

//===----------------------------------------------------------------------===//
// Splitting and concatenation
//===----------------------------------------------------------------------===//

/// Verifies that `pieces` can be cut from `whole` along the last dimension:
/// ranks and element types are equal, the last dimensions of the pieces add up
/// to that of `whole`, and `groups` divides each of them, because a piece has
/// one slice of every group.
static LogicalResult verifyCut(Operation *op, Value whole, ValueRange pieces,
                               int64_t groups) {
  if (pieces.empty())
    return op->emitOpError("needs at least one piece");
  int64_t last = tensorType(whole).getRank() - 1;
  if (last < 0)
    return op->emitOpError("can't cut a tensor of rank 0");
  int64_t sum = 0;
  for (Value piece : pieces) {
    if (tensorType(piece).getRank() != last + 1)
      return op->emitOpError("pieces must have rank ")
             << last + 1 << ", got " << tensorType(piece).getRank();
    if (tensorType(piece).getElementType() !=
        tensorType(whole).getElementType())
      return op->emitOpError("pieces must have the element type ")
             << tensorType(whole).getElementType();
    int64_t size = tensorType(piece).getDimSize(last);
    if (groups < 1 || size % groups != 0)
      return op->emitOpError("'groups' must divide the last dimension of every "
                             "piece, got ")
             << groups << " and " << size;
    sum += size;
  }
  if (sum != tensorType(whole).getDimSize(last))
    return op->emitOpError("the last dimensions of the pieces add up to ")
           << sum << ", expected " << tensorType(whole).getDimSize(last);
  return success();
}

LogicalResult SplitOp::verify() {
  return verifyCut(*this, getInput(), getResults(), getGroups());
}
LogicalResult ConcatOp::verify() {
  return verifyCut(*this, getResult(), getInputs(), getGroups());
}

/// Adds the iterators of an operation that splits `whole` into `pieces`, or
/// that concatenates `pieces` to `whole`. Returns the iterators that index
/// `whole`, and for each piece the iterators that index it.
static std::pair<TensorIterators, SmallVector<TensorIterators>>
cutSpace(IterationSpace &space, Value whole, ValueRange pieces,
         int64_t groups) {
  int64_t rank = rankOf(whole);
  SmallVector<unsigned> leading =
      addLeading(space, whole, rank - 1, IteratorKind::Parallel);
  unsigned group = space.add("head", groups);
  auto dims = [&](Value value, const std::string &name) {
    int64_t size = sizeOf(value, rank - 1);
    unsigned inner = space.add(name, groups > 0 ? size / groups : size,
                               IteratorKind::Opaque);
    TensorIterators result = indexedBy(leading);
    result.push_back({group, inner});
    return result;
  };
  TensorIterators wholeDims = dims(whole, "whole");
  SmallVector<TensorIterators> pieceDims;
  for (auto [i, piece] : llvm::enumerate(pieces))
    pieceDims.push_back(dims(piece, "piece" + std::to_string(i)));
  return {wholeDims, pieceDims};
}

IterationSpace SplitOp::getIterationSpace() {
  IterationSpace space;
  auto [whole, pieces] = cutSpace(space, getInput(), getResults(), getGroups());
  space.operands = {whole};
  space.results.assign(pieces.begin(), pieces.end());
  return space;
}
KernelClass SplitOp::getKernelClass() { return KernelClass::View; }

IterationSpace ConcatOp::getIterationSpace() {
  IterationSpace space;
  auto [whole, pieces] = cutSpace(space, getResult(), getInputs(), getGroups());
  space.operands.assign(pieces.begin(), pieces.end());
  space.results = {whole};
  return space;
}

LogicalResult SplitOp::buildGradients(GradientScope &scope) {
  if (!scope.wants(getInput()) ||
      llvm::none_of(getResults(), [&](Value result) {
        return static_cast<bool>(scope.gradientOf(result));
      }))
    return success();
  OpBuilder &builder = scope.builder();
  SmallVector<Value> pieces;
  for (Value result : getResults()) {
    Value gradient = scope.gradientOf(result);
    if (!gradient)
      gradient = FillOp::create(builder, getLoc(), scope.gradientType(result),
                                getPathAttr(), builder.getF64FloatAttr(0));
    pieces.push_back(gradient);
  }
  scope.add(getInput(),
            ConcatOp::create(builder, getLoc(), scope.gradientType(getInput()),
                             getPathAttr(), pieces, getGroupsAttr()));
  return success();
}

LogicalResult ConcatOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient ||
      llvm::none_of(getInputs(), [&](Value in) { return scope.wants(in); }))
    return success();
  // All results of an nn.split have the element type of its operand. The
  // gradient of a parameter may have another element type, so it is cast below.
  SmallVector<Type> types;
  for (Value input : getInputs())
    types.push_back(
        tensorType(input).clone(tensorType(gradient).getElementType()));
  auto pieces = SplitOp::create(scope.builder(), getLoc(), types, getPathAttr(),
                                gradient, getGroupsAttr());
  for (auto [input, piece] : llvm::zip(getInputs(), pieces.getResults())) {
    if (!scope.wants(input))
      continue;
    Value own = piece;
    if (Type wanted = scope.gradientType(input); wanted != own.getType())
      own =
          CastOp::create(scope.builder(), getLoc(), wanted, getPathAttr(), own);
    scope.add(input, own);
  }
  return success();
}
