//===- MatrixKernels.cpp - matrix products and their gradients --*- C++ -*-===//
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

/// Computes the m × n matrix c[i, j] = Σ_l a(i, l) b(l, j), with l < k.
template <typename T>
static void multiply(int64_t m, int64_t n, int64_t k,
                     function_ref<T(int64_t, int64_t)> a,
                     function_ref<T(int64_t, int64_t)> b, T *c) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a(i, l) * b(l, j);
      c[i * n + j] = sum;
    }
}

template <typename T>
static void compute(nn::LinearOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0], &w = *in[1];
  TensorOf<T> &y = out[0].data;
  int64_t rows = leadingSize(x), outs = w.getDim(0), ins = w.getDim(1);
  multiply<T>(
      rows, outs, ins, [&](int64_t r, int64_t i) { return x[r * ins + i]; },
      [&](int64_t i, int64_t o) { return w[o * ins + i]; }, &y[0]);
  // If the iterator `in` is split, the output is a sum over devices, so only
  // the devices with the first shard of `in` add the bias.
  if (op.getBias() && in[1].place.toLocal(1, 0))
    for (int64_t i = 0; i < rows * outs; ++i)
      y[i] += (*in[2])[i % outs];
}

static void compute(nn::LinearDgradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &w = *in[1];
  int64_t outs = w.getDim(0), ins = w.getDim(1);
  multiply<double>(
      leadingSize(dy), ins, outs,
      [&](int64_t r, int64_t o) { return dy[r * outs + o]; },
      [&](int64_t o, int64_t i) { return w[o * ins + i]; }, &out[0].data[0]);
}

static void compute(nn::LinearWgradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1];
  int64_t outs = dy.getDim(-1), ins = x.getDim(-1);
  multiply<double>(
      outs, ins, leadingSize(dy),
      [&](int64_t o, int64_t r) { return dy[r * outs + o]; },
      [&](int64_t r, int64_t i) { return x[r * ins + i]; }, &out[0].data[0]);
}

template <typename T>
static void compute(nn::MatmulOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &a = *in[0], &b = *in[1];
  TensorOf<T> &c = out[0].data;
  bool ta = op.getTransposeA(), tb = op.getTransposeB();
  int64_t m = c.getDim(-2), n = c.getDim(-1), k = a.getDim(ta ? -2 : -1);
  for (int64_t l = 0, e = leadingSize(c, 2); l < e; ++l)
    multiply<T>(
        m, n, k,
        [&](int64_t i, int64_t p) {
          return a[l * m * k + (ta ? p * m + i : i * k + p)];
        },
        [&](int64_t p, int64_t j) {
          return b[l * k * n + (tb ? j * k + p : p * n + j)];
        },
        &c[l * m * n]);
}

template <typename T>
Evaluated proteus::interp::evaluateMatrix(Operation *op, OperandsOf<T> in,
                                          ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::LinearOp, nn::MatmulOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::LinearDgradOp, nn::LinearWgradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateMatrix);
