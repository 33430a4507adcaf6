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

/// Number of input channels below which libraries use slower kernels.
static constexpr double fewChannels = 8;
/// Memory traffic of Winograd's algorithm for transformed tensors, as a share
/// of the size of these tensors.
static constexpr double transformTraffic = 0.44;
/// Height and width of a tile of the Fourier transform, in pixels.
static constexpr double frequencyTile = 32;
/// Share of the peak rate of the vector units that direct convolutions reach.
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
/// Estimates the time of a convolution with each algorithm and returns the
/// shortest time.
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
  /// Returns `share` times the rate factor for the pass of the kernel.
  double rateOf(double share) const {
    if (kernel.pass == Pass::DataGradient)
      share *= parameters.dataGradient;
    if (kernel.pass == Pass::WeightGradient)
      share *= parameters.weightGradient;
    return share;
  }

  /// Returns the number of input channels per group. For matrix units, the
  /// number is padded to a multiple of eight.
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

  /// Returns the factor on the rate of a convolution with fewer than eight
  /// input channels; 1 for other convolutions. Matrix units process eight
  /// channels at a time. If the channels of a pixel are adjacent in memory,
  /// libraries pad them to eight and use the matrix units, so the factor is 1.
  /// Published measurements show that libraries otherwise run such convolutions
  /// on the slower vector units.
  double rateOfFewChannels() const {
    if (conv.inChannels >= fewChannels ||
        (conv.channelsLast && parameters.onMatrixUnits))
      return 1;
    return kernel.pass == Pass::WeightGradient
               ? parameters.fewChannels * parameters.fewChannelsWeightGradient
               : parameters.fewChannels;
  }

  /// Estimates the convolution as one product of two matrices: the matrix of
  /// the windows and the matrix of the weights.
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
      // The mean number of windows that contain one pixel.
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

  /// Returns the product that Winograd's algorithm or the Fourier transform
  /// computes for one position in the transformed tiles. In the forward pass,
  /// it multiplies a matrix (tiles, in) by a matrix (in, out). The first holds
  /// the elements at this position in all image tiles, the second those in the
  /// transformed weights.
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

  /// Estimates Winograd's algorithm with tiles of `outputs` x `outputs`
  /// results. The algorithm computes one product for each of the (outputs +
  /// kernelHeight - 1)^2 elements of a tile of the image.
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

  /// Estimates the algorithm that transforms tiles of the image to frequencies
  /// (Fourier). Nearly half of the frequencies are complex conjugates of others
  /// and need no product. For each remaining frequency, the algorithm computes
  /// one complex product, which is four real products.
  Estimate frequencies() const {
    double count = frequencyTile * (frequencyTile / 2 + 1);
    double tiles =
        conv.batch *
        std::ceil(conv.outHeight / (frequencyTile - conv.kernelHeight + 1)) *
        std::ceil(conv.outWidth / (frequencyTile - conv.kernelWidth + 1));
    double in = conv.inChannels, out = conv.outChannels;
    TiledProduct transformed = transformedProduct(tiles);
    transformed.batch *= 4 * count;
    // Each transformed value consists of two numbers, because it is complex. It
    // is written once and read once.
    transformed.bytes =
        kernel.bytes + 2 * 2 * static_cast<double>(byteWidth(kernel.type)) *
                           count * conv.groups *
                           (tiles * (in + out) + in * out);
    return tiled(transformed);
  }

  /// Estimates a direct convolution on the vector units.
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
