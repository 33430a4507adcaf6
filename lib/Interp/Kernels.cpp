//===- Kernels.cpp - evaluation of an operation on one rank -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Kernels.h"

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

namespace {

/// Checks that all blocks of an operation hold the same ranges of every
/// iterator, and the whole of every dimension without an iterator. For a fused
/// dimension, checks only the major iterator, and only if a block does not hold
/// the whole dimension. With a flat cut, all blocks must have the same one, and
/// be indexed by all iterators in order.
class BlockCheck {
public:
  BlockCheck(nn::IterationSpaceOpInterface op)
      : op(op), space(op.getIterationSpace()), parts(space.iterators.size()) {}

  LogicalResult add(Value value, const nn::TensorIterators &dims,
                    const Place &place) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!dims.empty() && failed(addFlat(dims, place.getFlat())))
      return failure();
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (failed(addDim(type.getDimSize(dim), dims[dim], place.getSize(dim),
                        place.getRanges(dim))))
        return failure();
    return success();
  }

  const nn::IterationSpace &getSpace() const { return space; }

private:
  LogicalResult addFlat(const nn::TensorIterators &dims,
                        const std::optional<FlatPart> &part) {
    if (!isFirst && !(part == flat))
      return op->emitOpError("can't be evaluated: its operands and results "
                             "have different flat cuts");
    isFirst = false;
    flat = part;
    if (!flat)
      return success();
    bool inOrder = dims.size() == space.iterators.size();
    for (auto [number, dim] : llvm::enumerate(dims))
      inOrder &= dim.size() == 1 && dim.front() == number;
    if (!inOrder)
      return op->emitOpError("can't be evaluated on a flat cut: it does not "
                             "work on each element by itself");
    return success();
  }

  LogicalResult addDim(int64_t whole, ArrayRef<unsigned> iterators,
                       int64_t size, ArrayRef<dist::Range> ranges) {
    if (iterators.empty()) {
      if (size != whole)
        return op->emitOpError("can't be evaluated: a dimension of size ")
               << whole << " that may not be split is held as "
               << formatRanges(ranges);
      return success();
    }
    // A fused dimension, such as `head · dim`, has several iterators. A split
    // of the dimension splits its major iterator, and each index of that
    // iterator covers `minor` elements.
    int64_t minor = 1;
    for (unsigned iterator : iterators.drop_front())
      minor *= space.iterators[iterator].size;
    if (size == whole && iterators.size() > 1)
      return success();
    dist::Ranges part;
    for (const dist::Range &range : ranges) {
      if (range.begin % minor != 0 || range.end % minor != 0)
        return op->emitOpError("can't be evaluated: ")
               << formatRanges(ranges)
               << " of a fused dimension cuts a group of " << minor;
      part.push_back({range.begin / minor, range.end / minor});
    }
    dist::Ranges &known = parts[iterators.front()];
    if (known.empty())
      known = part;
    if (known == part)
      return success();
    return op->emitOpError("can't be evaluated: its operands and results hold "
                           "different parts of '")
           << space.iterators[iterators.front()].name
           << "': " << formatRanges(known) << " and " << formatRanges(part);
  }

  nn::IterationSpaceOpInterface op;
  nn::IterationSpace space;
  /// For every iterator, the ranges that the blocks hold. Empty until `add` is
  /// called for a block with this iterator.
  SmallVector<dist::Ranges> parts;
  /// The flat cut of the blocks that were added.
  std::optional<FlatPart> flat;
  bool isFirst = true;
};

} // namespace

template <typename T>
static LogicalResult checkBlocks(Operation *op, OperandsOf<T> operands,
                                 ResultsOf<T> results) {
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
  if (!kernel)
    return success();
  BlockCheck check(kernel);
  for (auto [i, dims] : llvm::enumerate(check.getSpace().operands))
    if (isa<RankedTensorType>(op->getOperand(i).getType()) &&
        failed(check.add(op->getOperand(i), dims, operands[i].place)))
      return failure();
  for (auto [i, dims] : llvm::enumerate(check.getSpace().results))
    if (failed(check.add(op->getResult(i), dims, results[i].place)))
      return failure();
  return success();
}

template <typename T>
LogicalResult
proteus::interp::evaluate(Operation *op, ArrayRef<OperandBlockOf<T>> operands,
                          MutableArrayRef<ResultBlockOf<T>> results,
                          ScalarLookup<T> scalars) {
  if (isa<nn::GenericOp>(op))
    return op->emitOpError("at '")
           << nn::getPath(op)
           << "' is cost-only: it states iterators and FLOPs, but no values to "
              "execute; write it with other operations to check the lowering";
  if (failed(checkBlocks<T>(op, operands, results)))
    return failure();
  for (auto kind : {evaluateMatrix<T>, evaluateImage<T>, evaluateAttention<T>,
                    evaluateRows<T>, evaluateExperts<T>, evaluateElements<T>,
                    evaluateShapes<T>, evaluateSequences<T>, evaluateSoftmax<T>,
                    evaluateNormalizations<T>, evaluateRecommender<T>,
                    evaluateRecurrent<T>})
    if (Evaluated done = kind(op, operands, results))
      return *done;
  if (Evaluated done = evaluateLinalg<T>(op, operands, results, scalars))
    return *done;
  if constexpr (std::is_same_v<T, double>)
    if (Evaluated done = evaluateScaling(op, operands, results))
      return *done;
  if (std::is_same_v<T, Dual>)
    return op->emitOpError(
        "can't be evaluated on dual numbers: the interpreter "
        "can't compute the derivative of this operation");
  return op->emitOpError(
      "can't be evaluated: the interpreter does not support this operation");
}

template LogicalResult
proteus::interp::evaluate<double>(Operation *, ArrayRef<OperandBlock>,
                                  MutableArrayRef<ResultBlock>,
                                  ScalarLookup<double>);
template LogicalResult
proteus::interp::evaluate<Dual>(Operation *, ArrayRef<OperandBlockOf<Dual>>,
                                MutableArrayRef<ResultBlockOf<Dual>>,
                                ScalarLookup<Dual>);
