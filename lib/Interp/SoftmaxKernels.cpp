//===- SoftmaxKernels.cpp - softmax and its decomposition -------*- C++ -*-===//
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
using std::exp;

template <typename T>
static void compute(nn::SoftmaxOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  int64_t size = x.getDim(-1);
  for (int64_t begin = 0; begin < x.size(); begin += size) {
    T max = x[begin], sum = 0;
    for (int64_t i = begin; i < begin + size; ++i)
      max = std::max(max, x[i]);
    for (int64_t i = begin; i < begin + size; ++i)
      sum += out[0].data[i] = exp(x[i] - max);
    for (int64_t i = begin; i < begin + size; ++i)
      out[0].data[i] /= sum;
  }
}

static void compute(nn::SoftmaxSumOp, Operands in, Results out) {
  const Tensor &x = *in[0], &max = *in[1];
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t row = i / x.getDim(-1);
    out[0].data[row] += exp(x[i] - max[row]);
  }
}

static void compute(nn::SoftmaxNormalizeOp, Operands in, Results out) {
  const Tensor &x = *in[0], &max = *in[1], &sum = *in[2];
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t row = i / x.getDim(-1);
    out[0].data[i] = exp(x[i] - max[row]) / sum[row];
  }
}

static void compute(nn::SoftmaxDotOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &y = *in[1];
  for (int64_t i = 0; i < y.size(); ++i)
    out[0].data[i / y.getDim(-1)] += dy[i] * y[i];
}

static void compute(nn::SoftmaxInputGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &y = *in[1], &dot = *in[2];
  for (int64_t i = 0; i < y.size(); ++i)
    out[0].data[i] = y[i] * (dy[i] - dot[i / y.getDim(-1)]);
}

static void compute(nn::SoftmaxGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &y = *in[1];
  int64_t size = y.getDim(-1);
  for (int64_t begin = 0; begin < y.size(); begin += size) {
    double dot = 0;
    for (int64_t i = begin; i < begin + size; ++i)
      dot += dy[i] * y[i];
    for (int64_t i = begin; i < begin + size; ++i)
      out[0].data[i] = y[i] * (dy[i] - dot);
  }
}

template <typename T>
Evaluated proteus::interp::evaluateSoftmax(Operation *op, OperandsOf<T> in,
                                           ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::SoftmaxOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::SoftmaxGradOp, nn::SoftmaxSumOp,
                          nn::SoftmaxNormalizeOp, nn::SoftmaxDotOp,
                          nn::SoftmaxInputGradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateSoftmax);
