//===- SequenceKernels.cpp - position-dependent operations ------*- C++ -*-===//
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
#include <limits>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

template <typename T>
static void compute(nn::RopeOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  TensorOf<T> &y = out[0].data;
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t dim = type.getDimSize(2) / static_cast<int64_t>(op.getHeads());
  int64_t half = dim / 2, width = x.getDim(2);
  double base = op.getBase().convertToDouble();
  for (int64_t row = 0, e = x.getDim(0) * x.getDim(1); row < e; ++row) {
    auto position =
        static_cast<double>(in[0].place.toGlobal(1, row % x.getDim(1)));
    for (int64_t first = row * width; first < (row + 1) * width; first += dim)
      for (int64_t i = 0; i < half; ++i) {
        double angle = position * std::pow(base, -2.0 * static_cast<double>(i) /
                                                     static_cast<double>(dim));
        if (op.getInverse())
          angle = -angle;
        T a = x[first + i], b = x[first + half + i];
        y[first + i] = a * std::cos(angle) - b * std::sin(angle);
        y[first + half + i] = a * std::sin(angle) + b * std::cos(angle);
      }
  }
}

template <typename T>
static void compute(nn::CausalMaskOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  int64_t seqs = x.getDim(-2), keys = x.getDim(-1);
  double hidden = op.getZero() ? 0 : -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t seq = in[0].place.toGlobal(x.getRank() - 2, i / keys % seqs);
    int64_t key = in[0].place.toGlobal(x.getRank() - 1, i % keys);
    out[0].data[i] = key > seq ? T(hidden) : x[i];
  }
}

template <typename T>
Evaluated proteus::interp::evaluateSequences(Operation *op, OperandsOf<T> in,
                                             ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .template Case<nn::RopeOp, nn::CausalMaskOp>(run)
      .Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateSequences);
