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

static void compute(nn::BroadcastOp op, Operands in, Results out) {
  forEachIndex(out[0].data.getShape(), [&](ArrayRef<int64_t> index) {
    Shape kept;
    for (int64_t dim : op.getKeep())
      kept.push_back(index[dim]);
    out[0].data.at(index) = in[0]->at(kept);
  });
}

static void compute(nn::TransposeOp op, Operands in, Results out) {
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    Shape permuted;
    for (int64_t dim : op.getPermutation())
      permuted.push_back(index[dim]);
    out[0].data.at(permuted) = in[0]->at(index);
  });
}

Evaluated proteus::interp::evaluateShapes(Operation *op, Operands in,
                                          Results out) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<nn::BroadcastOp, nn::TransposeOp>([&](auto kernel) {
        compute(kernel, in, out);
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}
