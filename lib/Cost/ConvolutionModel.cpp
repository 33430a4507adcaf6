//===- ConvolutionModel.cpp - convolutions by algorithm -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/KernelModels.h"

#include <algorithm>
#include <cmath>

using namespace proteus::cost;
using proteus::machine::ConvolutionParameters;

/// Channels below which the matrix of windows is narrow in every direction.
static constexpr double fewChannels = 8;
/// Share of the transformed image that reaches the memory.
static constexpr double transformTraffic = 0.44;
/// Pixels of a side of a tile of Fourier's transform.
static constexpr double frequencyTile = 32;
/// Share of the vector rate that convolutions of single channels reach.
static constexpr double directRate = 0.3;

const TileRules &proteus::cost::convolutionTileRules(bool onMatrixUnits,
                                                     bool weightGradient) {
  static constexpr TileRules rules[2][2] = {
      {{55, 8, 64, 32, 3e-6, {1, 1.18, 1.54}},
       {55, 8, 64, 64, 3e-6, {1, 1.18, 1.54}}},
      {{55, 8, 64, 32, 3e-6, {1, 1.36, 2.09}},
       {55, 8, 64, 64, 3e-6, {1, 1.36, 2.09}}}};
  return rules[onMatrixUnits][weightGradient];
}

namespace {
/// The ways to compute one convolution.
class ConvolutionEstimator {
public:
  ConvolutionEstimator(const Device &device,
                       const ConvolutionParameters &parameters,
                       const Kernel &kernel)
      : device(device), parameters(parameters), kernel(kernel),
        conv(*kernel.convolution) {}

  Estimate run() const {
    Estimate best = implicitProduct();
    auto consider = [&](const Estimate &other) {
      if (other.seconds < best.seconds)
        best = other;
    };
    if (mayTransform())
      for (double outputs : {2, 4})
        consider(winograd(outputs));
    if (mayUseFrequencies())
      consider(frequencies());
    if (conv.groups > 1)
      consider(direct());
    best.seconds += parameters.fixedTime;
    return best;
  }

private:
  double window() const { return conv.kernelHeight * conv.kernelWidth; }
  double positions() const {
    return conv.batch * conv.outHeight * conv.outWidth;
  }
  double bandwidth() const {
    return parameters.memoryEfficiency * device.memoryBandwidth;
  }
  double rateOf(double share) const {
    if (kernel.pass == Pass::DataGradient)
      share *= parameters.dataGradient;
    if (kernel.pass == Pass::WeightGradient)
      share *= parameters.weightGradient;
    return share;
  }

  /// The channels that are multiplied: matrix units take eight at a time.
  double inChannels() const {
    return parameters.onMatrixUnits
               ? fewChannels * std::ceil(conv.inChannels / fewChannels)
               : conv.inChannels;
  }

  TiledProduct product(double rows, double columns, double inner,
                       double share) const {
    TiledProduct tiled;
    tiled.batch = conv.groups;
    tiled.rows = rows;
    tiled.columns = columns;
    tiled.inner = inner;
    tiled.bytes = kernel.bytes;
    tiled.rate = share * device.sustained * device.peak(kernel.type);
    tiled.bandwidth = bandwidth();
    tiled.multiprocessors = static_cast<double>(device.multiprocessors);
    return tiled;
  }
  Estimate tiled(const TiledProduct &product) const {
    return estimateTiled(
        product, convolutionTileRules(parameters.onMatrixUnits,
                                      kernel.pass == Pass::WeightGradient));
  }

  /// Rate of narrow images relative to others. Matrix units take eight channels
  /// at a time: libraries pad those that are last, and leave the matrix units
  /// where channels are apart, as in the tables.
  double rateOfFewChannels() const {
    if (conv.inChannels >= fewChannels ||
        (conv.channelsLast && parameters.onMatrixUnits))
      return 1;
    return kernel.pass == Pass::WeightGradient
               ? parameters.fewChannels * parameters.fewChannelsWeightGradient
               : parameters.fewChannels;
  }

  /// The matrix of windows times the weights.
  Estimate implicitProduct() const {
    double share = rateOf(parameters.efficiency) * rateOfFewChannels();
    if (kernel.pass == Pass::DataGradient && conv.stride > 1)
      share *= parameters.stridedDataGradient;
    switch (kernel.pass) {
    case Pass::Forward:
      return tiled(product(positions(), conv.outChannels,
                           inChannels() * window(), share));
    case Pass::DataGradient: {
      double pixels = conv.height * conv.width;
      // Each pixel is in as many windows as there are on average.
      double windows = window() * conv.outHeight * conv.outWidth / pixels;
      return tiled(product(conv.batch * pixels, inChannels(),
                           conv.outChannels * windows, share));
    }
    case Pass::WeightGradient:
      return tiled(product(conv.outChannels, inChannels() * window(),
                           positions(), share));
    }
    return {};
  }

  bool mayTransform() const {
    return parameters.winograd > 0 &&
           (conv.kernelHeight == 3 || conv.kernelHeight == 5) &&
           conv.kernelWidth == conv.kernelHeight && conv.stride == 1 &&
           conv.inChannels >= fewChannels;
  }

  /// The product of one element of all transformed tiles of the image and the
  /// same element of the transformed weights.
  TiledProduct transformedProduct(double tiles) const {
    double in = conv.inChannels, out = conv.outChannels;
    switch (kernel.pass) {
    case Pass::Forward:
      return product(tiles, out, in, parameters.winograd);
    case Pass::DataGradient:
      return product(tiles, in, out, parameters.winograd);
    case Pass::WeightGradient:
      return product(out, in, tiles, parameters.winograd);
    }
    return {};
  }

  /// Winograd's transform: a product for each of (outputs + 2)^2 elements of a
  /// tile of the image.
  Estimate winograd(double outputs) const {
    double side = outputs + conv.kernelHeight - 1;
    double elements = side * side;
    double tiles = conv.batch * std::ceil(conv.outHeight / outputs) *
                   std::ceil(conv.outWidth / outputs);
    double in = conv.inChannels, out = conv.outChannels;
    TiledProduct transformed = transformedProduct(tiles);
    transformed.batch *= elements;
    transformed.bytes =
        kernel.bytes +
        transformTraffic * static_cast<double>(byteWidth(kernel.type)) *
            elements * conv.groups * (tiles * (in + out) + in * out);
    return tiled(transformed);
  }

  bool mayUseFrequencies() const {
    return parameters.winograd > 0 && conv.stride == 1 &&
           std::min(conv.kernelHeight, conv.kernelWidth) >= 5 &&
           std::max(conv.kernelHeight, conv.kernelWidth) < frequencyTile &&
           conv.inChannels >= fewChannels;
  }

  /// Fourier's transform of tiles of the image: a complex product, which is
  /// four of real numbers, for each frequency; half of them are conjugates of
  /// the others. It is worth its memory where batches are large.
  Estimate frequencies() const {
    double count = frequencyTile * (frequencyTile / 2 + 1);
    double tiles =
        conv.batch *
        std::ceil(conv.outHeight / (frequencyTile - conv.kernelHeight + 1)) *
        std::ceil(conv.outWidth / (frequencyTile - conv.kernelWidth + 1));
    double in = conv.inChannels, out = conv.outChannels;
    TiledProduct transformed = transformedProduct(tiles);
    transformed.batch *= 4 * count;
    // Each transform is written and read.
    transformed.bytes =
        kernel.bytes + 2 * 2 * static_cast<double>(byteWidth(kernel.type)) *
                           count * conv.groups *
                           (tiles * (in + out) + in * out);
    return tiled(transformed);
  }

  /// One channel at a time on the vector units.
  Estimate direct() const {
    double compute = kernel.flops / (directRate * device.peak(DType::F32));
    double memory = kernel.bytes / bandwidth();
    return {std::max(compute, memory), memory > compute};
  }

  const Device &device;
  const ConvolutionParameters &parameters;
  const Kernel &kernel;
  const Convolution &conv;
};
} // namespace

Estimate
proteus::cost::estimateConvolution(const Device &device,
                                   const ConvolutionParameters &parameters,
                                   const Kernel &kernel) {
  return ConvolutionEstimator(device, parameters, kernel).run();
}
