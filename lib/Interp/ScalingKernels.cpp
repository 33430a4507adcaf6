//===- ScalingKernels.cpp - gradient norm and loss scale --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

static double compute(nn::SquareSumOp, Operands in) {
  double sum = 0;
  for (int64_t i = 0; i < in[0]->size(); ++i)
    sum += (*in[0])[i] * (*in[0])[i];
  return sum;
}

static double compute(nn::OverflowOp, Operands in) {
  for (int64_t i = 0; i < in[0]->size(); ++i)
    if (!std::isfinite((*in[0])[i]))
      return 1;
  return 0;
}

static double compute(nn::TotalOp op, Operands in) {
  double result = 0;
  for (const OperandBlock &operand : in)
    for (int64_t i = 0; i < operand->size(); ++i)
      result = op.getMax() ? std::max(result, (*operand)[i])
                           : result + (*operand)[i];
  return result;
}

static double compute(nn::UpdateFactorOp op, Operands in) {
  double scale = op.getLossScale() ? op.getLossScale()->convertToDouble() : 1.0;
  if (op.getLossScale() && (*in.back())[0] != 0)
    return 0;
  double factor = 1 / scale;
  if (op.getClip()) {
    double norm = std::sqrt((*in[0])[0]) / scale;
    double clip = op.getClip()->convertToDouble();
    if (norm > clip)
      factor *= clip / norm;
  }
  return factor;
}

Evaluated proteus::interp::evaluateScaling(Operation *op, Operands in,
                                           Results out) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<nn::SquareSumOp, nn::OverflowOp, nn::TotalOp, nn::UpdateFactorOp>(
          [&](auto kernel) {
            out[0].data[0] = compute(kernel, in);
            return success();
          })
      .Default([](Operation *) { return std::nullopt; });
}
