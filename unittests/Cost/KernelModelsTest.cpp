//===- KernelModelsTest.cpp - models of kernel times ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/KernelModels.h"
#include "Proteus/Cost/Measurements.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace proteus::cost;
using namespace proteus::machine;

namespace {

/// Returns an A100 with constants that were fitted with an independent
/// implementation of the same formulas.
Device a100() {
  Device device;
  device.name = "a100";
  device.computeCapability = 80;
  device.multiprocessors = 108;
  device.peakFlops = {{DType::F32, 19.5e12}, {DType::BF16, 312e12}};
  device.memoryBandwidth = 2039e9;
  KernelParameters kernels;
  ProductParameters product;
  product.efficiency = 0.751;
  product.memoryEfficiency = 0.784;
  product.fixedTime = 4.2e-6;
  product.basis = Basis::Measured;
  product.error = 0.044;
  ProductParameters vector = product;
  vector.onMatrixUnits = false;
  vector.basis = Basis::Datasheet;
  vector.error = 0.3;
  kernels.products = {{DType::F32, vector}, {DType::BF16, product}};
  kernels.attention.forward = 0.678;
  kernels.attention.backward = 0.516;
  kernels.attention.tail = 0.3;
  kernels.attention.fixedTime = 5e-6;
  ConvolutionParameters convolution;
  convolution.efficiency = 0.76;
  convolution.dataGradient = 0.8;
  convolution.stridedDataGradient = 0.5;
  convolution.fixedTime = 11e-6;
  ConvolutionParameters single = convolution;
  single.onMatrixUnits = false;
  single.winograd = 0.8;
  kernels.convolutions = {{DType::F32, single}, {DType::BF16, convolution}};
  for (MemoryParameters &memory : kernels.memory) {
    memory.efficiency = 0.3;
    memory.fixedTime = 7e-6;
  }
  kernels.memory[0].efficiency = 0.84;
  kernels.memory[0].fixedTime = 2e-6;
  kernels.memory[0].basis = Basis::Measured;
  kernels.memory[0].error = 0.03;
  device.kernels = kernels;
  return device;
}

double microseconds(const Device &device, const Kernel &kernel,
                    const KernelModelOptions &options = {}) {
  return toSeconds(createDeviceModel(device, options)->cost(kernel).time) * 1e6;
}

Kernel product(double m, double n, double k, double batch = 1) {
  return makeProduct(batch, m, n, k, DType::BF16, DType::BF16);
}

TEST(GemmModel, AgreesWithAnIndependentImplementation) {
  Device device = a100();
  // The constants have three digits.
  EXPECT_NEAR(microseconds(device, product(4096, 4096, 4096)), 619.9, 0.5);
  EXPECT_NEAR(microseconds(device, product(256, 8192, 8192)), 169.6, 0.1);
  EXPECT_NEAR(microseconds(device, product(16, 12288, 4096)), 68.4, 0.1);
  EXPECT_NEAR(microseconds(device, product(4096, 4096, 512)), 93.1, 0.1);
}

TEST(GemmModel, MoreWorkNeverTakesLess) {
  Device device = a100();
  for (double m : {1, 17, 64, 100, 128, 129, 1000, 4096, 5000})
    for (double n : {8, 64, 200, 1024, 4000})
      for (double k : {8, 64, 500, 4096}) {
        double time = microseconds(device, product(m, n, k));
        EXPECT_LE(time, microseconds(device, product(m + 8, n, k)) + 1e-6);
        EXPECT_LE(time, microseconds(device, product(m, n + 8, k)) + 1e-6);
        EXPECT_LE(time, microseconds(device, product(m, n, k + 8)) + 1e-6);
        EXPECT_LE(time, microseconds(device, product(m, n, k, 2)) + 1e-6);
      }
}

TEST(GemmModel, NothingIsFasterThanItsRates) {
  Device device = a100();
  for (double size : {32, 256, 1000, 4096, 20000}) {
    Kernel kernel = product(size, size, size);
    double time = microseconds(device, kernel) * 1e-6;
    EXPECT_GT(time, kernel.flops / (0.751 * 312e12));
    EXPECT_GT(time, kernel.bytes / (0.784 * 2039e9));
    EXPECT_GT(time, 4.2e-6);
  }
  // Large products nearly reach the rates.
  Kernel large = product(32768, 32768, 32768);
  EXPECT_LT(microseconds(device, large) * 1e-6,
            1.02 * large.flops / (0.751 * 312e12));
}

TEST(GemmModel, PartsOfTheInnerDimensionFillTheDevice) {
  // There is one tile of results. Without a split of the inner dimension, one
  // multiprocessor would compute it alone.
  Kernel kernel = product(128, 128, 65536);
  double alone = kernel.flops / (0.751 * 312e12 / 108) * 1e6;
  EXPECT_LT(microseconds(a100(), kernel), alone / 8);
}

TEST(GemmModel, WeightGradientsAccumulateAndAreSlower) {
  Device device = a100();
  auto gradient = [&](Pass pass, DType result, bool accumulates) {
    return microseconds(device, makeProduct(1, 4096, 4096, 512, DType::BF16,
                                            result, pass, accumulates));
  };
  double forward = gradient(Pass::Forward, DType::BF16, false);
  EXPECT_EQ(gradient(Pass::DataGradient, DType::BF16, false), forward);
  double weight = gradient(Pass::WeightGradient, DType::BF16, false);
  EXPECT_GT(weight, forward);
  double single = gradient(Pass::WeightGradient, DType::F32, false);
  EXPECT_GT(single, weight);
  EXPECT_GT(gradient(Pass::WeightGradient, DType::F32, true), single);
}

TEST(GemmModel, BatchesWithOddHeadsLeaveTheMatrixUnits) {
  Device device = a100();
  double even = microseconds(device, product(2048, 2048, 80, 96));
  EXPECT_GT(microseconds(device, product(2048, 2048, 84, 96)), 8 * even);
  // The library pads single products.
  EXPECT_LT(microseconds(device, product(2048, 2048, 84)),
            1.5 * microseconds(device, product(2048, 2048, 80)));
}

TEST(GemmModel, SustainedRatesSlowWhatComputesOnly) {
  Device device = a100(), slow = a100();
  slow.sustained = 0.5;
  Kernel large = product(16384, 16384, 16384);
  EXPECT_NEAR(microseconds(slow, large) / microseconds(device, large), 2, 0.01);
  Kernel add = makeMemoryKernel(Family::Stream, 1e9, DType::BF16);
  EXPECT_EQ(microseconds(slow, add), microseconds(device, add));
}

TEST(GemmModel, GroupsAreOneCall) {
  Device device = a100();
  device.kernels->grouped.groupTime = 2e-6;
  Kernel grouped =
      makeGroupedProduct(32, 512, 4096, 4096, DType::BF16, DType::BF16);
  double together = microseconds(device, grouped);
  device.kernels->grouped.groupTime = 0;
  EXPECT_NEAR(together - microseconds(device, grouped), 64, 1e-6);
  EXPECT_LT(microseconds(device, grouped),
            32 * microseconds(device, product(512, 4096, 4096)));
  device.kernels->grouped.weightGradient = 0.5;
  Kernel gradient = grouped;
  gradient.pass = Pass::WeightGradient;
  EXPECT_GT(microseconds(device, gradient),
            1.8 * microseconds(device, grouped));
}

Attention attention(double heads, double length, double visited,
                    double dim = 128) {
  return {1, heads, length, length, dim, dim, visited};
}

TEST(AttentionModel, ClosedForm) {
  // 16 blocks of 256 queries; 136 of 256 blocks are computed. The work of a
  // head is 136 * 4 * 256^2 * 128; the longest row has 16 blocks.
  Device device = a100();
  double block = 4.0 * 256 * 256 * 128;
  double expected = 5 + (64 * 136 * block / 108 + 0.3 * 16 * block) * 108 /
                            (0.678 * 312e12) * 1e6;
  EXPECT_NEAR(microseconds(device, makeAttention(attention(64, 4096, 0.5),
                                                 DType::BF16, false)),
              expected, 1e-5);
}

TEST(AttentionModel, CausalIsHalfTheWorkAndBackwardMore) {
  Device device = a100();
  auto time = [&](double visited, bool backward, double dim = 128) {
    return microseconds(device,
                        makeAttention(attention(64, 16384, visited, dim),
                                      DType::BF16, backward));
  };
  EXPECT_NEAR(time(1, false) / time(0.5, false), 2, 0.06);
  EXPECT_NEAR(time(0.5, true) / time(0.5, false), 2.5 * 0.678 / 0.516, 0.1);
  // Heads are padded to the next size with a kernel.
  EXPECT_EQ(time(0.5, false, 80), time(0.5, false, 96));
  EXPECT_LT(time(0.5, false, 64), time(0.5, false, 80));
}

TEST(AttentionModel, FewHeadsWaitForTheLongestRow) {
  Device device = a100();
  auto time = [&](double heads) {
    return microseconds(
        device, makeAttention(attention(heads, 4096, 0.5), DType::BF16, false));
  };
  EXPECT_EQ(time(1), time(2));
  EXPECT_LT(time(2), time(64));
}

Convolution convolution(double channels, double size, double kernel,
                        double stride = 1, double groups = 1) {
  Convolution conv;
  conv.batch = 32;
  conv.groups = groups;
  conv.inChannels = conv.outChannels = channels;
  conv.height = conv.width = size;
  conv.outHeight = conv.outWidth = size / stride;
  conv.kernelHeight = conv.kernelWidth = kernel;
  conv.stride = stride;
  return conv;
}

TEST(ConvolutionModel, OneByOneIsAProduct) {
  Device device = a100();
  Kernel conv =
      makeConvolution(convolution(512, 28, 1), DType::BF16, Pass::Forward);
  TiledProduct tiled;
  tiled.rows = 32 * 28 * 28;
  tiled.columns = tiled.inner = 512;
  tiled.bytes = conv.bytes;
  tiled.rate = 0.76 * 312e12;
  tiled.bandwidth = 2039e9;
  tiled.multiprocessors = 108;
  EXPECT_NEAR(
      microseconds(device, conv),
      11 +
          estimateTiled(tiled, convolutionTileRules(true, false)).seconds * 1e6,
      1e-6);
}

TEST(ConvolutionModel, WinogradSavesOperationsInSinglePrecision) {
  Device device = a100();
  Kernel conv =
      makeConvolution(convolution(256, 56, 3), DType::F32, Pass::Forward);
  double with = microseconds(device, conv);
  device.kernels->convolutions[0].second.winograd = 0;
  EXPECT_LT(with, 0.7 * microseconds(device, conv));
  // Strided convolutions have no such kernels.
  Kernel strided =
      makeConvolution(convolution(256, 56, 3, 2), DType::F32, Pass::Forward);
  EXPECT_EQ(microseconds(device, strided), microseconds(a100(), strided));
}

TEST(ConvolutionModel, FrequenciesSaveOperationsOfLargeBatches) {
  Device device = a100();
  auto gain = [&](double batch, double stride) {
    // Winograd's transform applies to smaller windows only.
    Kernel conv = makeConvolution(convolution(192, 27, 7, stride), DType::F32,
                                  Pass::Forward);
    conv.bytes *= batch / conv.convolution->batch;
    conv.convolution->batch = batch;
    Device without = device;
    without.kernels->convolutions[0].second.winograd = 0;
    return microseconds(without, conv) / microseconds(device, conv);
  };
  EXPECT_GT(gain(512, 1), 2);
  // Few images give slow products, so the transform gains less.
  EXPECT_LT(1.1 * gain(8, 1), gain(512, 1));
  EXPECT_EQ(gain(512, 2), 1);
}

TEST(ConvolutionModel, StridedGradientsAreSlower) {
  Device device = a100();
  Kernel gradient = makeConvolution(convolution(256, 56, 3, 2), DType::BF16,
                                    Pass::DataGradient);
  double strided = microseconds(device, gradient);
  gradient.convolution->stride = 1;
  EXPECT_GT(strided, 1.6 * microseconds(device, gradient));
}

TEST(ConvolutionModel, FewChannelsAreSlowWhereTheyAreApart) {
  Device device = a100();
  auto time = [&](DType type, Pass pass, bool channelsLast) {
    Kernel first = makeConvolution(convolution(3, 112, 7), type, pass);
    first.convolution->outChannels = 64;
    first.convolution->channelsLast = channelsLast;
    return microseconds(device, first);
  };
  double padded = time(DType::BF16, Pass::Forward, true);
  double gradient = time(DType::BF16, Pass::WeightGradient, true);
  double onVectors = time(DType::F32, Pass::Forward, false);
  for (auto &[type, set] : device.kernels->convolutions) {
    set.fewChannels = 0.25;
    set.fewChannelsWeightGradient = 0.5;
  }
  // Channels in the last dimension are padded. In other layouts, the
  // convolution does not use matrix units.
  EXPECT_EQ(time(DType::BF16, Pass::Forward, true), padded);
  EXPECT_EQ(time(DType::BF16, Pass::WeightGradient, true), gradient);
  EXPECT_GT(time(DType::BF16, Pass::Forward, false), 3 * padded);
  EXPECT_GT(time(DType::BF16, Pass::WeightGradient, false), 6 * gradient);
  // Vector units do not pad, in any layout of channels.
  EXPECT_GT(time(DType::F32, Pass::Forward, true), 2 * onVectors);
}

TEST(ConvolutionModel, DepthwiseDoesNotPadItsChannels) {
  // Tiles of products would compute 32 channels for every single one.
  Kernel depthwise = makeConvolution(convolution(1, 112, 3, 1, 64), DType::BF16,
                                     Pass::Forward);
  double streaming = depthwise.bytes / 2039e9 * 1e6;
  EXPECT_LT(microseconds(a100(), depthwise), 11 + 2 * streaming);
  EXPECT_GT(microseconds(a100(), depthwise), 11 + streaming);
}

TEST(MemoryModel, SmallOnesTakeTheFixedTimeLargeOnesStream) {
  Device device = a100();
  auto time = [&](Family family, double bytes, bool fused) {
    KernelModelOptions options;
    options.fusedMemoryKernels = fused;
    return microseconds(device, makeMemoryKernel(family, bytes, DType::BF16),
                        options);
  };
  EXPECT_NEAR(time(Family::Stream, 1, true), 2, 1e-3);
  EXPECT_NEAR(time(Family::Stream, 1e9, true), 1e9 / (0.84 * 2039e9) * 1e6,
              1e-3);
  // If fixed and transfer time are equal, they overlap in part.
  EXPECT_NEAR(time(Family::Stream, 2e-6 * 0.84 * 2039e9, true),
              2 * std::cbrt(2.0), 1e-3);
  EXPECT_EQ(time(Family::Norm, 1e9, true), time(Family::Stream, 1e9, true));
  EXPECT_NEAR(time(Family::Norm, 1e9, false), 1e9 / (0.3 * 2039e9) * 1e6, 1e-3);
  EXPECT_EQ(time(Family::Stream, 1e9, false), time(Family::Stream, 1e9, true));
  // A few launches update all parameters.
  EXPECT_LT(time(Family::Update, 1000, true), 0.01);
}

TEST(DeviceModel, SaysWhereAnAnswerComesFrom) {
  Device device = a100();
  auto model = createDeviceModel(device);
  Answer fitted = model->cost(product(512, 512, 512));
  EXPECT_EQ(fitted.source, Source::Fitted);
  EXPECT_EQ(fitted.uncertainty, 0.044);
  Answer guessed =
      model->cost(makeProduct(1, 512, 512, 512, DType::F32, DType::F32));
  EXPECT_EQ(guessed.source, Source::Datasheet);
  EXPECT_EQ(guessed.uncertainty, 0.3);
  // The model assumes that a norm streams.
  Kernel norm = makeMemoryKernel(Family::Norm, 1e9, DType::BF16);
  EXPECT_EQ(model->cost(norm).uncertainty, 0.15);
  EXPECT_TRUE(model->cost(norm).memoryBound);
  EXPECT_FALSE(model->cost(product(8192, 8192, 8192)).memoryBound);
  EXPECT_TRUE(model->cost(product(8, 8192, 8192)).memoryBound);
  device.kernels.reset();
  Answer roofline = createDeviceModel(device)->cost(product(512, 512, 512));
  EXPECT_EQ(roofline.source, Source::Roofline);
  EXPECT_EQ(roofline.time,
            createRooflineModel(device)->cost(product(512, 512, 512)).time);
}

TEST(DeviceModel, KernelsOfUnknownShapeRunAtTheFittedRates) {
  Device device = a100();
  Kernel lstm;
  lstm.family = Family::OtherMatrix;
  lstm.matrix = true;
  lstm.type = DType::BF16;
  lstm.flops = 1e9;
  lstm.steps = 10;
  EXPECT_NEAR(microseconds(device, lstm), 1e9 / (0.751 * 312e12) * 1e6 + 42,
              1e-5);
}

TEST(DeviceModel, TF32TakesTheParametersOfTF32) {
  Device device = a100();
  device.setPeak(DType::TF32, 156e12);
  ProductParameters tf32 = device.kernels->product(DType::BF16);
  tf32.efficiency = 0.6;
  device.kernels->products.push_back({DType::TF32, tf32});
  device.useTF32();
  Kernel single = makeProduct(1, 16384, 16384, 16384, DType::F32, DType::F32);
  EXPECT_NEAR(microseconds(device, single) * 1e-6,
              single.flops / (0.6 * 156e12), 0.02 * single.flops / 93.6e12);
}

} // namespace
