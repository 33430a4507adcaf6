//===- RowKernels.cpp - embedding, normalisation, losses --------*- C++ -*-===//
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
using std::log;
using std::sqrt;

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

template <typename T>
static void compute(nn::EmbeddingOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &indices = *in[0], &table = *in[1];
  TensorOf<T> &y = out[0].data;
  int64_t hidden = table.getDim(1);
  for (int64_t r = 0; r < indices.size(); ++r) {
    // A device that does not hold the row contributes 0 to the result.
    std::optional<int64_t> row = in[1].place.toLocal(0, integerAt(indices, r));
    if (!row)
      continue;
    for (int64_t h = 0; h < hidden; ++h)
      y[r * hidden + h] = table[*row * hidden + h];
  }
}

static void compute(nn::EmbeddingGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &indices = *in[1];
  Tensor &table = out[0].data;
  int64_t hidden = table.getDim(1);
  for (int64_t r = 0; r < indices.size(); ++r) {
    std::optional<int64_t> row = out[0].place.toLocal(0, integerAt(indices, r));
    if (!row)
      continue;
    for (int64_t h = 0; h < hidden; ++h)
      table[*row * hidden + h] += dy[r * hidden + h];
  }
}

//===----------------------------------------------------------------------===//
// Layer normalisation
//===----------------------------------------------------------------------===//

namespace {
/// Row of a layer normalisation: the normalised elements, the mean, and the
/// inverse of the standard deviation.
template <typename T> struct NormalisedRow {
  NormalisedRow(const TensorOf<T> &x, int64_t row, int64_t hidden)
      : x(x), begin(row * hidden) {
    for (int64_t h = 0; h < hidden; ++h)
      mean += x[begin + h] / hidden;
    T variance = 0;
    for (int64_t h = 0; h < hidden; ++h)
      variance += (x[begin + h] - mean) * (x[begin + h] - mean) / hidden;
    inverse = 1 / sqrt(variance + normEpsilon);
  }
  T operator[](int64_t h) const { return (x[begin + h] - mean) * inverse; }

  const TensorOf<T> &x;
  int64_t begin;
  T mean = 0, inverse = 0;
};
} // namespace

template <typename T>
static void compute(nn::LayerNormOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0], &scale = *in[1], &shift = *in[2];
  int64_t hidden = x.getDim(-1);
  for (int64_t r = 0, e = leadingSize(x); r < e; ++r) {
    NormalisedRow<T> row(x, r, hidden);
    for (int64_t h = 0; h < hidden; ++h)
      out[0].data[r * hidden + h] = row[h] * scale[h] + shift[h];
  }
}

static void compute(nn::LayerNormGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &scale = *in[2];
  Tensor &dx = out[0].data, &dscale = out[1].data, &dshift = out[2].data;
  int64_t hidden = x.getDim(-1);
  for (int64_t r = 0, e = leadingSize(x); r < e; ++r) {
    NormalisedRow<double> row(x, r, hidden);
    double mean = 0, slope = 0;
    for (int64_t h = 0; h < hidden; ++h) {
      double g = dy[r * hidden + h];
      dscale[h] += g * row[h];
      dshift[h] += g;
      mean += g * scale[h] / hidden;
      slope += g * scale[h] * row[h] / hidden;
    }
    for (int64_t h = 0; h < hidden; ++h)
      dx[r * hidden + h] =
          row.inverse * (dy[r * hidden + h] * scale[h] - mean - row[h] * slope);
  }
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Returns the number of rows of the whole tensor. The loss is the mean over
/// these rows.
static double globalRows(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getNumElements();
}

template <typename T> static T rowMax(const TensorOf<T> &logits, int64_t row) {
  int64_t vocab = logits.getDim(-1);
  T most = logits[row * vocab];
  for (int64_t v = 1; v < vocab; ++v)
    most = std::max(most, logits[row * vocab + v]);
  return most;
}

template <typename T>
static T rowExpSum(const TensorOf<T> &logits, int64_t row, T max) {
  int64_t vocab = logits.getDim(-1);
  T sum = 0;
  for (int64_t v = 0; v < vocab; ++v)
    sum += exp(logits[row * vocab + v] - max);
  return sum;
}

template <typename T>
static void compute(nn::CrossEntropyOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &logits = *in[0], &labels = *in[1];
  for (int64_t r = 0; r < labels.size(); ++r) {
    T max = rowMax(logits, r);
    T total = max + log(rowExpSum(logits, r, max));
    int64_t label = integerAt(labels, r);
    out[1].data[r] = total;
    out[0].data[0] += (total - logits[r * logits.getDim(-1) + label]) /
                      globalRows(op.getLogsumexp());
  }
}

static void compute(nn::CrossEntropyGradOp op, Operands in, Results out) {
  const Tensor &dloss = *in[0], &logits = *in[1], &labels = *in[2],
               &lse = *in[3];
  int64_t vocab = logits.getDim(-1), last = logits.getRank() - 1;
  for (int64_t i = 0; i < logits.size(); ++i) {
    int64_t r = i / vocab;
    bool isLabel =
        in[1].place.toGlobal(last, i % vocab) == integerAt(labels, r);
    out[0].data[i] = (exp(logits[i] - lse[r]) - (isLabel ? 1 : 0)) * dloss[0] /
                     globalRows(op.getLabels());
  }
}

static void compute(nn::RowMaxOp, Operands in, Results out) {
  for (int64_t r = 0; r < out[0].data.size(); ++r)
    out[0].data[r] = rowMax(*in[0], r);
}

static void compute(nn::RowExpSumOp, Operands in, Results out) {
  const Tensor &logits = *in[0], &labels = *in[1], &max = *in[2];
  int64_t vocab = logits.getDim(-1);
  for (int64_t r = 0; r < labels.size(); ++r) {
    out[0].data[r] = rowExpSum(logits, r, max[r]);
    std::optional<int64_t> label =
        in[0].place.toLocal(logits.getRank() - 1, integerAt(labels, r));
    if (label)
      out[1].data[r] = logits[r * vocab + *label];
  }
}

static void compute(nn::RowLossOp op, Operands in, Results out) {
  const Tensor &max = *in[0], &sum = *in[1], &picked = *in[2];
  for (int64_t r = 0; r < max.size(); ++r) {
    out[1].data[r] = max[r] + log(sum[r]);
    out[0].data[0] += (out[1].data[r] - picked[r]) / globalRows(op.getMax());
  }
}

/// Returns the number of elements of the whole tensor. The loss is the mean
/// over these elements.
static double globalElements(Value value) {
  return static_cast<double>(
      cast<RankedTensorType>(value.getType()).getNumElements());
}

template <typename T>
static void compute(nn::MSELossOp op, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &prediction = *in[0], &target = *in[1];
  for (int64_t i = 0; i < prediction.size(); ++i) {
    T difference = prediction[i] - target[i];
    out[0].data[0] +=
        difference * difference / globalElements(op.getPrediction());
  }
}

static void compute(nn::MSELossGradOp op, Operands in, Results out) {
  const Tensor &dloss = *in[0], &prediction = *in[1], &target = *in[2];
  for (int64_t i = 0; i < prediction.size(); ++i)
    out[0].data[i] = 2 * (prediction[i] - target[i]) * dloss[0] /
                     globalElements(op.getPrediction());
}

template <typename T>
Evaluated proteus::interp::evaluateRows(Operation *op, OperandsOf<T> in,
                                        ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::EmbeddingOp, nn::LayerNormOp, nn::CrossEntropyOp,
                        nn::MSELossOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::EmbeddingGradOp, nn::LayerNormGradOp,
                          nn::CrossEntropyGradOp, nn::RowMaxOp, nn::RowExpSumOp,
                          nn::RowLossOp, nn::MSELossGradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateRows);
