//===- IterationSpace.cpp - iteration spaces of operations ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/IterationSpace.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace proteus::nn;

unsigned IterationSpace::add(StringRef name, int64_t size, IteratorKind kind) {
  iterators.push_back({name.str(), size, kind});
  return iterators.size() - 1;
}

std::optional<unsigned> IterationSpace::find(StringRef name) const {
  for (unsigned i = 0, e = iterators.size(); i != e; ++i)
    if (iterators[i].name == name)
      return i;
  return std::nullopt;
}

double IterationSpace::numPoints() const {
  double points = 1;
  for (const Iterator &iterator : iterators)
    points *= static_cast<double>(iterator.size);
  return points;
}

std::string proteus::nn::dataIteratorName(unsigned dim, unsigned rank) {
  if (dim == 0 && rank > 1)
    return "batch";
  if (rank == 4)
    return dim == 1 ? "channel" : dim == 2 ? "height" : "width";
  if (dim + 1 == rank)
    return "hidden";
  if (dim == 1)
    return "seq";
  return "d" + std::to_string(dim);
}

LogicalResult proteus::nn::verifyElementCount(Location loc,
                                              RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements) ||
        elements > maxElements)
      return emitError(loc)
             << type << " has more than 2^56 elements; sizes and "
             << "times of such tensors can't be computed";
  return success();
}

static LogicalResult verifyTensor(Operation *op, const IterationSpace &space,
                                  StringRef what, unsigned number, Type type,
                                  const TensorIterators &dims) {
  // Operations of other dialects, such as linalg.fill, also take scalars. These
  // are treated as tensors of rank 0.
  if (type.isIntOrIndexOrFloat())
    type = RankedTensorType::get({}, type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError()
           << what << " " << number << " must be a tensor of static shape, got "
           << type;
  if (tensor.getRank() != static_cast<int64_t>(dims.size()))
    return op->emitOpError() << what << " " << number << " must have rank "
                             << dims.size() << ", got " << tensor.getRank();
  if (failed(verifyElementCount(op->getLoc(), tensor)))
    return failure();
  for (auto [dim, iterators] : llvm::enumerate(dims)) {
    if (tensor.getDimSize(dim) < 1)
      return op->emitOpError() << what << " " << number << ": dimension " << dim
                               << " must not be empty";
    if (iterators.empty())
      continue;
    int64_t expected = 1;
    std::string names;
    for (unsigned iterator : iterators) {
      expected *= space.iterators[iterator].size;
      names += (names.empty() ? "" : " x ") + space.iterators[iterator].name;
    }
    if (tensor.getDimSize(dim) != expected)
      return op->emitOpError()
             << what << " " << number << ": dimension " << dim << " (" << names
             << ") has size " << tensor.getDimSize(dim) << ", expected "
             << expected;
  }
  return success();
}

LogicalResult proteus::nn::verifyIterationSpace(Operation *op,
                                                const IterationSpace &space) {
  for (auto [i, operand] : llvm::enumerate(op->getOperandTypes()))
    if (failed(
            verifyTensor(op, space, "operand", i, operand, space.operands[i])))
      return failure();
  for (auto [i, result] : llvm::enumerate(op->getResultTypes()))
    if (failed(verifyTensor(op, space, "result", i, result, space.results[i])))
      return failure();
  return success();
}
