//===- FlopsTest.cpp - work of models against formulas ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the floating-point operations of the forward pass, counted as in the
// simulation, with formulas that do not depend on the graph.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Models/BuildModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

namespace {

/// Returns the operations of all kernels of `block`. Repeated layers count once
/// per iteration.
double countFlops(Block &block) {
  double sum = 0;
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<nn::RepeatOp>(op))
      sum += repeat.getCount() * countFlops(repeat.getBody().front());
    else if (auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op))
      sum += kernel.getIterationSpace().numPoints() *
             kernel.getFlopsPerPoint() * kernel.getVisitedShare();
  }
  return sum;
}

/// Returns the operations of the forward pass per sample.
double flopsOf(const ModelRequest &request) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::Expected<OwningOpRef<ModuleOp>> module = buildModel(context, request);
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return 0;
  }
  auto function = *(*module)->getOps<func::FuncOp>().begin();
  return countFlops(function.front()) / static_cast<double>(request.batch);
}

void expectFlopsPerToken(const std::string &name, double seq, double expected) {
  double flops =
      flopsOf({name, 4, {}, {"seq=" + std::to_string(int64_t(seq))}});
  EXPECT_NEAR(flops / seq / expected, 1, 0.01) << name;
}

/// Returns two operations per weight that a token uses, plus causal attention
/// to half of `seq` keys with `width` numbers for scores and `valueWidth` for
/// values.
double decoder(double weights, double layers, double seq, double width,
               double valueWidth) {
  return 2 * weights + layers * 2 * (width + valueWidth) * seq / 2;
}

TEST(Flops, OfGptAreThoseOfTheCommonFormula) {
  // A third of 72 B s l h² (1 + s / 6h + V / 12lh), with half of the square of
  // attention.
  for (auto [name, l, h] : {std::tuple("gpt3-175b", 96.0, 12288.0),
                            std::tuple("gpt3-13b", 40.0, 5120.0)}) {
    double s = 2048, v = 50257;
    expectFlopsPerToken(name, s,
                        24 * l * h * h * (1 + s / (12 * h) + v / (12 * l * h)));
  }
}

TEST(Flops, OfLlamaAreTwoPerWeight) {
  // All weights but the embedding, of which only rows are read.
  expectFlopsPerToken(
      "llama3-8b", 8192,
      decoder(8030261248.0 - 128256 * 4096.0, 32, 8192, 4096, 4096));
  expectFlopsPerToken(
      "llama3-405b", 8192,
      decoder(405853388800.0 - 128256 * 16384.0, 126, 8192, 16384, 16384));
  // The table is tied: its rows are read, and it is a factor of a product.
  expectFlopsPerToken("llama3.2-1b", 4096,
                      decoder(1235814400.0, 16, 4096, 2048, 2048));
}

TEST(Flops, OfMixturesAreThoseOfTheExpertsThatATokenMeets) {
  // A token does not use six of eight experts.
  double idle = 32 * 6 * 3.0 * 4096 * 14336;
  expectFlopsPerToken(
      "mixtral-8x7b", 4096,
      decoder(46702792704.0 - idle - 32000 * 4096.0, 32, 4096, 4096, 4096));
  idle = 48 * 120 * 3.0 * 2048 * 768;
  expectFlopsPerToken(
      "qwen3-30b-a3b", 4096,
      decoder(30532122624.0 - idle - 151936 * 2048.0, 48, 4096, 4096, 4096));
}

TEST(Flops, OfLatentAttentionHaveKeysWiderThanValues) {
  double idle = 58 * 248 * 3.0 * 7168 * 2048;
  expectFlopsPerToken("deepseek-v3", 4096,
                      decoder(671026419200.0 - idle - 129280 * 7168.0, 61, 4096,
                              128 * 192, 128 * 128));
}

TEST(Flops, OfBertSeeTheWholeSequence) {
  // The pooler and its head run once per sequence.
  double s = 512, h = 1024, l = 24, v = 30522;
  expectFlopsPerToken("bert-large", s,
                      2 * (l * 12 * h * h + h * h + v * h) + l * 4 * s * h +
                          2 * h * h / s);
  // 80 predictions in place of 512.
  double flops = flopsOf({"bert-large", 4, {}, {"predictions=80"}});
  EXPECT_NEAR(flops / (2 * (s * l * 12 * h * h + 80 * (h * h + v * h)) +
                       l * 4 * s * s * h),
              1, 0.01);
}

TEST(Flops, OfAnEncoderAndADecoder) {
  // Per sample: 512 positions are read, 114 written.
  double s = 512, t = 114, h = 1024, w = 4096, f = 16384, l = 24, v = 32128;
  double attention = 4 * h * w, feed = 2 * h * f;
  double encoder = s * (attention + feed);
  double decoder = t * (attention + attention / 2 + feed) + s * attention / 2;
  double scores = 2 * w * (s * s + t * t / 2 + t * s);
  EXPECT_NEAR(flopsOf({"t5-3b", 4, {}, {}}) /
                  (2 * l * (encoder + decoder + scores) + 2 * t * h * v),
              1, 0.01);
}

TEST(Flops, OfAMemoryAreThoseOfItsKeys) {
  // Per sample: 384 positions, and as many of the last segment.
  double s = 384, k = 768, h = 1024, f = 4096, l = 18;
  // Query, key and value of all positions; position differences are computed
  // once per batch of 4.
  double products = k * 3 * h * h + k * h * h / 4 + s * h * h + 2 * s * h * f;
  double scores = 3 * s * k * h;
  double head = s * (h * h + 20000 * h);
  // 11, 15 and 3 tokens are in rarer clusters; all are projected.
  double tails = 11 * (h * 256 + 256 * 20000.0) +
                 15 * (h * 64 + 64 * 160000.0) + 3 * (h * 16 + 16 * 67735.0);
  double embedding = 355 * h * h + 11 * 256 * h + 15 * 64 * h + 3 * 16 * h;
  EXPECT_NEAR(flopsOf({"transformer-xl-large", 4, {}, {}}) /
                  (2 * (l * (products + scores) + head + tails + embedding)),
              1, 0.01);
}

} // namespace
