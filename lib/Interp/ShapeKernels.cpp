//===- ShapeKernels.cpp - broadcast and transposition -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

template <typename T>
static void compute(nn::BroadcastOp op, OperandsOf<T> in, ResultsOf<T> out) {
  forEachIndex(out[0].data.getShape(), [&](ArrayRef<int64_t> index) {
    Shape kept;
    for (int64_t dim : op.getKeep())
      kept.push_back(index[dim]);
    out[0].data.at(index) = in[0]->at(kept);
  });
}

template <typename T>
static void compute(nn::TransposeOp op, OperandsOf<T> in, ResultsOf<T> out) {
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    Shape permuted;
    for (int64_t dim : op.getPermutation())
      permuted.push_back(index[dim]);
    out[0].data.at(permuted) = in[0]->at(index);
  });
}

template <typename T>
Evaluated proteus::interp::evaluateShapes(Operation *op, OperandsOf<T> in,
                                          ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .template Case<nn::BroadcastOp, nn::TransposeOp>(run)
      .Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateShapes);
