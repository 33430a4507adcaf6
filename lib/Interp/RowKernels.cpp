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

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

/// Returns the index or label at a row-major position. Tensors store integers
/// as doubles.
static int64_t indexAt(const Tensor &indices, int64_t position) {
  return static_cast<int64_t>(indices[position]);
}

static void compute(nn::EmbeddingOp, Operands in, Results out) {
  const Tensor &indices = *in[0], &table = *in[1];
  Tensor &y = out[0].data;
  int64_t hidden = table.getDim(1);
  for (int64_t r = 0; r < indices.size(); ++r) {
    // A device that does not hold the row contributes 0 to the result.
    std::optional<int64_t> row = in[1].place.toLocal(0, indexAt(indices, r));
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
    std::optional<int64_t> row = out[0].place.toLocal(0, indexAt(indices, r));
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
struct NormalisedRow {
  NormalisedRow(const Tensor &x, int64_t row, int64_t hidden)
      : x(x), begin(row * hidden) {
    for (int64_t h = 0; h < hidden; ++h)
      mean += x[begin + h] / hidden;
    double variance = 0;
    for (int64_t h = 0; h < hidden; ++h)
      variance += (x[begin + h] - mean) * (x[begin + h] - mean) / hidden;
    inverse = 1 / std::sqrt(variance + normEpsilon);
  }
  double operator[](int64_t h) const { return (x[begin + h] - mean) * inverse; }

  const Tensor &x;
  int64_t begin;
  double mean = 0, inverse = 0;
};
} // namespace

static void compute(nn::LayerNormOp, Operands in, Results out) {
  const Tensor &x = *in[0], &scale = *in[1], &shift = *in[2];
  int64_t hidden = x.getDim(-1);
  for (int64_t r = 0, e = leadingSize(x); r < e; ++r) {
    NormalisedRow row(x, r, hidden);
    for (int64_t h = 0; h < hidden; ++h)
      out[0].data[r * hidden + h] = row[h] * scale[h] + shift[h];
  }
}

static void compute(nn::LayerNormGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &scale = *in[2];
  Tensor &dx = out[0].data, &dscale = out[1].data, &dshift = out[2].data;
  int64_t hidden = x.getDim(-1);
  for (int64_t r = 0, e = leadingSize(x); r < e; ++r) {
    NormalisedRow row(x, r, hidden);
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

static double rowMax(const Tensor &logits, int64_t row) {
  int64_t vocab = logits.getDim(-1);
  double most = logits[row * vocab];
  for (int64_t v = 1; v < vocab; ++v)
    most = std::max(most, logits[row * vocab + v]);
  return most;
}

static double rowExpSum(const Tensor &logits, int64_t row, double max) {
  int64_t vocab = logits.getDim(-1);
  double sum = 0;
  for (int64_t v = 0; v < vocab; ++v)
    sum += std::exp(logits[row * vocab + v] - max);
  return sum;
}

static void compute(nn::CrossEntropyOp op, Operands in, Results out) {
  const Tensor &logits = *in[0], &labels = *in[1];
  for (int64_t r = 0; r < labels.size(); ++r) {
    double max = rowMax(logits, r);
    double total = max + std::log(rowExpSum(logits, r, max));
    int64_t label = indexAt(labels, r);
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
    bool isLabel = in[1].place.toGlobal(last, i % vocab) == indexAt(labels, r);
    out[0].data[i] = (std::exp(logits[i] - lse[r]) - (isLabel ? 1 : 0)) *
                     dloss[0] / globalRows(op.getLabels());
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
        in[0].place.toLocal(logits.getRank() - 1, indexAt(labels, r));
    if (label)
      out[1].data[r] = logits[r * vocab + *label];
  }
}

static void compute(nn::RowLossOp op, Operands in, Results out) {
  const Tensor &max = *in[0], &sum = *in[1], &picked = *in[2];
  for (int64_t r = 0; r < max.size(); ++r) {
    out[1].data[r] = max[r] + std::log(sum[r]);
    out[0].data[0] += (out[1].data[r] - picked[r]) / globalRows(op.getMax());
  }
}

/// Returns the number of elements of the whole tensor. The loss is the mean
/// over these elements.
static double globalElements(Value value) {
  return static_cast<double>(
      cast<RankedTensorType>(value.getType()).getNumElements());
}

static void compute(nn::MSELossOp op, Operands in, Results out) {
  const Tensor &prediction = *in[0], &target = *in[1];
  for (int64_t i = 0; i < prediction.size(); ++i) {
    double difference = prediction[i] - target[i];
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

Evaluated proteus::interp::evaluateRows(Operation *op, Operands in,
                                        Results out) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<nn::EmbeddingOp, nn::EmbeddingGradOp, nn::LayerNormOp,
            nn::LayerNormGradOp, nn::CrossEntropyOp, nn::CrossEntropyGradOp,
            nn::RowMaxOp, nn::RowExpSumOp, nn::RowLossOp, nn::MSELossOp,
            nn::MSELossGradOp>([&](auto kernel) {
        compute(kernel, in, out);
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}
