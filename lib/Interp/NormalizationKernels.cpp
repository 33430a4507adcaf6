//===- NormalizationKernels.cpp - RMS and batch normalisation ---*- C++ -*-===//
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
#include <vector>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using std::sqrt;

//===----------------------------------------------------------------------===//
// RMS normalisation
//===----------------------------------------------------------------------===//

/// Returns 1 / √(mean(x²) + ε) of the row of `x` that starts at `begin`.
template <typename T>
static T inverseRms(const TensorOf<T> &x, int64_t begin, int64_t hidden) {
  T square = 0;
  for (int64_t h = 0; h < hidden; ++h)
    square += x[begin + h] * x[begin + h] / static_cast<double>(hidden);
  return 1 / sqrt(square + normEpsilon);
}

template <typename T>
static void compute(nn::RMSNormOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0], &scale = *in[1];
  int64_t hidden = x.getDim(-1);
  for (int64_t begin = 0; begin < x.size(); begin += hidden) {
    T inverse = inverseRms(x, begin, hidden);
    for (int64_t h = 0; h < hidden; ++h)
      out[0].data[begin + h] = x[begin + h] * inverse * scale[h];
  }
}

static void compute(nn::RMSNormGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &scale = *in[2];
  int64_t hidden = x.getDim(-1);
  for (int64_t begin = 0; begin < x.size(); begin += hidden) {
    double inverse = inverseRms(x, begin, hidden), slope = 0;
    for (int64_t h = 0; h < hidden; ++h) {
      double normalised = x[begin + h] * inverse;
      out[1].data[h] += dy[begin + h] * normalised;
      slope +=
          dy[begin + h] * scale[h] * normalised / static_cast<double>(hidden);
    }
    for (int64_t h = 0; h < hidden; ++h)
      out[0].data[begin + h] =
          inverse * (dy[begin + h] * scale[h] - x[begin + h] * inverse * slope);
  }
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

namespace {
/// A cell is the set of values that share one mean and one variance: those of
/// one group of samples and one channel. `operator()` maps the row-major
/// position of a value in `[batch, channel, ..]` to the row-major position of
/// its cell in `[group, channel]`, the shape of the statistics.
struct Cells {
  template <typename T>
  Cells(const TensorOf<T> &data, int64_t groups)
      : channels(data.getDim(1)), cells(groups * channels),
        positions(numElements(data.getShape().drop_front(2))),
        groupSize(data.size() / groups),
        count(static_cast<double>(groupSize / channels)) {}
  int64_t channel(int64_t i) const { return i / positions % channels; }
  int64_t operator()(int64_t i) const {
    return i / groupSize * channels + channel(i);
  }
  int64_t channels, cells, positions, groupSize;
  /// Number of values per cell.
  double count;
};
} // namespace

template <typename T>
static void compute(nn::BatchNormOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0], &scale = *in[1], &shift = *in[2];
  TensorOf<T> &mean = out[1].data, &inverse = out[2].data;
  Cells cell(x, mean.getDim(0));
  for (int64_t i = 0; i < x.size(); ++i)
    mean[cell(i)] += x[i] / cell.count;
  std::vector<T> variance(cell.cells, 0);
  for (int64_t i = 0; i < x.size(); ++i) {
    T deviation = x[i] - mean[cell(i)];
    variance[cell(i)] += deviation * deviation / cell.count;
  }
  for (int64_t c = 0; c < cell.cells; ++c)
    inverse[c] = 1 / sqrt(variance[c] + normEpsilon);
  for (int64_t i = 0; i < x.size(); ++i)
    out[0].data[i] =
        (x[i] - mean[cell(i)]) * inverse[cell(i)] * scale[cell.channel(i)] +
        shift[cell.channel(i)];
}

static void compute(nn::BatchNormGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &mean = *in[2], &inverse = *in[3],
               &scale = *in[4];
  Cells cell(x, mean.getDim(0));
  auto normalised = [&](int64_t i) {
    return (x[i] - mean[cell(i)]) * inverse[cell(i)];
  };
  std::vector<double> sum(cell.cells, 0.0), slope(cell.cells, 0.0);
  for (int64_t i = 0; i < x.size(); ++i) {
    sum[cell(i)] += dy[i];
    slope[cell(i)] += dy[i] * normalised(i);
  }
  for (int64_t c = 0; c < cell.cells; ++c) {
    out[1].data[c % cell.channels] += slope[c];
    out[2].data[c % cell.channels] += sum[c];
  }
  for (int64_t i = 0; i < x.size(); ++i)
    out[0].data[i] = scale[cell.channel(i)] * inverse[cell(i)] *
                     (dy[i] - sum[cell(i)] / cell.count -
                      normalised(i) * slope[cell(i)] / cell.count);
}

static void compute(nn::BatchNormSumsOp, Operands in, Results out) {
  const Tensor &x = *in[0];
  Cells cell(x, 1);
  for (int64_t i = 0; i < x.size(); ++i) {
    out[0].data[cell(i)] += x[i];
    out[0].data[cell.channels + cell(i)] += x[i] * x[i];
  }
}

static void compute(nn::BatchNormStatisticsOp op, Operands in, Results out) {
  const Tensor &sums = *in[0];
  auto count = static_cast<double>(op.getCount());
  for (int64_t c = 0, channels = sums.getDim(1); c < channels; ++c) {
    double mean = sums[c] / count;
    double variance = sums[channels + c] / count - mean * mean;
    out[0].data[c] = mean;
    out[1].data[c] = 1 / sqrt(variance + normEpsilon);
  }
}

static void compute(nn::BatchNormApplyOp, Operands in, Results out) {
  const Tensor &x = *in[0], &mean = *in[1], &inverse = *in[2], &scale = *in[3],
               &shift = *in[4];
  Cells cell(x, 1);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = cell(i);
    out[0].data[i] = (x[i] - mean[c]) * inverse[c] * scale[c] + shift[c];
  }
}

static void compute(nn::BatchNormGradSumsOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &mean = *in[2], &inverse = *in[3];
  Cells cell(x, 1);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = cell(i);
    out[0].data[c] += dy[i] * (x[i] - mean[c]) * inverse[c];
    out[1].data[c] += dy[i];
  }
}

static void compute(nn::BatchNormInputGradOp op, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1], &mean = *in[2], &inverse = *in[3],
               &scale = *in[4], &dscale = *in[5], &dshift = *in[6];
  // `dscale` and `dshift` are sums over all devices, so `count` is the number
  // of elements per channel in the whole tensor, not in the block.
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto count = static_cast<double>(type.getNumElements() / type.getDimSize(1));
  Cells cell(x, 1);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t c = cell(i);
    double normalised = (x[i] - mean[c]) * inverse[c];
    out[0].data[i] =
        scale[c] * inverse[c] *
        (dy[i] - dshift[c] / count - normalised * dscale[c] / count);
  }
}

template <typename T>
Evaluated proteus::interp::evaluateNormalizations(Operation *op,
                                                  OperandsOf<T> in,
                                                  ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::RMSNormOp, nn::BatchNormOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::RMSNormGradOp, nn::BatchNormGradOp,
                          nn::BatchNormSumsOp, nn::BatchNormStatisticsOp,
                          nn::BatchNormApplyOp, nn::BatchNormGradSumsOp,
                          nn::BatchNormInputGradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateNormalizations);
