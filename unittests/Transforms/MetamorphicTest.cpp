//===- MetamorphicTest.cpp - comparisons of whole runs ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares whole runs, from text to figures, with each other. If an input
// changes, the result must change in a known direction by a bounded amount.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/InitAll.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// A machine and a job; with the defaults, every resource limits the time.
struct Job {
  double peakTflops = 100;
  double memoryGBps = 1000;
  double intraGBps = 100;
  double interGBps = 10;
  double latencyUs = 1;
  double launchUs = 1;
  int64_t layers = 8;
  int64_t dp = 2, pp = 2, tp = 2;
  int64_t microBatches = 4;
  /// Sequences of a micro-batch per data-parallel rank.
  int64_t microBatchSize = 1;
  std::string order = "1f1b";
  bool recompute = false;
};

std::string text(const Job &job) {
  int64_t batch = job.dp * job.microBatches * job.microBatchSize;
  std::string x = llvm::formatv("tensor<{0}x256x1024xbf16>", batch);
  std::string wide = llvm::formatv("tensor<{0}x256x4096xbf16>", batch);
  std::string w1 = "tensor<4096x1024xbf16>", w2 = "tensor<1024x4096xbf16>";
  std::string module = llvm::formatv(
      "module attributes {{proteus.cluster = {{name = \"test\", device = "
      "{{name = \"d\", peak_tflops = {{bf16 = {0:F6}, f32 = {0:F6}}, "
      "memory_gib = 80, memory_bandwidth_gbps = {1:F6}, launch_latency_us = "
      "{2:F6}, kernel_overhead_us = 0}, nodes = 64, devices_per_node = 4, "
      "intra_node = {{bandwidth_gbps = {3:F6}, latency_us = {5:F6}}, "
      "inter_node = {{bandwidth_gbps = {4:F6}, latency_us = {5:F6}}}} {{\n",
      job.peakTflops, job.memoryGBps, job.launchUs, job.intraGBps,
      job.interGBps, job.latencyUs);
  module += llvm::formatv(
      "func.func @m(%x: {0} {{nn.role = \"input\"}, %t: tensor<{1}x256xi32> "
      "{{nn.role = \"input\"}, %a: tensor<{2}x4096x1024xbf16> {{nn.role = "
      "\"parameter\", nn.path = \"layers[*].a\"}, %b: "
      "tensor<{2}x1024x4096xbf16> {{nn.role = \"parameter\", nn.path = "
      "\"layers[*].b\"}) -> tensor<f32> attributes {{nn.training = "
      "#nn.training<optimizer = adam, gradient = f32, master = f32>} {{\n",
      x, batch, job.layers);
  module += llvm::formatv(
      "%y = nn.repeat \"layers\" count {0} carry(%h = %x : {1}) slice(%p = %a "
      ": tensor<{0}x4096x1024xbf16> to {2}, %q = %b : "
      "tensor<{0}x1024x4096xbf16> to {3}) -> ({1}) {{\n"
      "%0 = nn.linear \"up\"(%h, %p) : ({1}, {2}) -> {4}\n"
      "%1 = nn.relu \"act\"(%0) : ({4}) -> {4}\n"
      "%2 = nn.linear \"down\"(%1, %q) : ({4}, {3}) -> {1}\n"
      "%3 = nn.add \"residual\"(%h, %2) : ({1}, {1}) -> {1}\n"
      "nn.yield %3 : {1}\n}\n",
      job.layers, x, w1, w2, wide);
  module += llvm::formatv(
      "%loss, %lse = nn.cross_entropy \"loss\"(%y, %t) : ({0}, "
      "tensor<{1}x256xi32>) -> (tensor<f32>, tensor<{1}x256xf32>)\n"
      "return %loss : tensor<f32>\n}\n"
      "strategy.tree @s for @m {{\n"
      "mesh [dp = {2}, pp = {3}, tp = {4}]\n"
      "schedule micro_batches = {5} order = \"{6}\"\n"
      "split op [batch -> dp]\n"
      "node \"layers[*]\" {{ stages pp {7} node \"up\" {{ split op [out -> tp] "
      "} }\n}\n}\n",
      x, batch, job.dp, job.pp, job.tp, job.microBatches, job.order,
      job.recompute ? "recompute" : "");
  return module;
}

struct Figures {
  double milliseconds = 0;
  double megabytes = 0;
};

Figures run(const std::string &source, proteus::Fold fold) {
  DialectRegistry registry;
  proteus::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  PassManager manager(&context);
  proteus::LowerStrategyOptions options;
  proteus::buildLowerStrategyPipeline(manager, options);
  proteus::SimulateOptions simulate;
  simulate.fold = fold;
  manager.addPass(proteus::createSimulate(simulate));
  if (!module || failed(manager.run(*module))) {
    ADD_FAILURE() << "the job does not run";
    return {};
  }
  using proteus::ProteusDialect;
  auto value = [&](StringRef name) {
    return (*module)->getAttrOfType<FloatAttr>(name).getValueAsDouble();
  };
  return {value(ProteusDialect::iterationTimeAttrName),
          value(ProteusDialect::peakMemoryAttrName)};
}

Figures run(const Job &job, proteus::Fold fold = proteus::Fold::Ranks) {
  return run(text(job), fold);
}

/// Expects that a factor on `member` of the default job lengthens the step, but
/// at most by the factor `most`.
void expectSlower(double Job::*member, double factor, double most) {
  Job slower;
  slower.*member *= factor;
  double before = run(Job()).milliseconds, after = run(slower).milliseconds;
  EXPECT_GT(after, before);
  EXPECT_LE(after, most * before);
}

} // namespace

TEST(Metamorphic, HalvingThePeakSlowsByAtMostTwo) {
  expectSlower(&Job::peakTflops, 0.5, 2);
}
TEST(Metamorphic, HalvingTheMemoryBandwidthSlowsByAtMostTwo) {
  expectSlower(&Job::memoryGBps, 0.5, 2);
}
TEST(Metamorphic, HalvingTheLinksInANodeSlowsByAtMostTwo) {
  expectSlower(&Job::intraGBps, 0.5, 2);
}
TEST(Metamorphic, HalvingTheNetworkSlowsByAtMostTwo) {
  expectSlower(&Job::interGBps, 0.5, 2);
}
TEST(Metamorphic, DoublingTheLatencySlowsByAtMostTwo) {
  expectSlower(&Job::latencyUs, 2, 2);
}
TEST(Metamorphic, HalvingEverythingDoublesTheTimeExactly) {
  Job slower;
  for (double Job::*rate :
       {&Job::peakTflops, &Job::memoryGBps, &Job::intraGBps, &Job::interGBps})
    slower.*rate *= 0.5;
  for (double Job::*latency : {&Job::latencyUs, &Job::launchUs})
    slower.*latency *= 2;
  double before = run(Job()).milliseconds;
  // Every task is rounded to a picosecond separately.
  EXPECT_NEAR(run(slower).milliseconds, 2 * before, 1e-6 * before);
}
TEST(Metamorphic, HalfTheLayersTakeAboutHalfTheTime) {
  Job half;
  half.layers /= 2;
  double whole = run(Job()).milliseconds, less = run(half).milliseconds;
  EXPECT_LT(less, 0.6 * whole);
  EXPECT_GT(less, 0.4 * whole);
}
TEST(Metamorphic, WeakScalingIsFlatOnTheFastestNetwork) {
  // The fastest possible links, 60 TB/s without latency, leave less than a
  // microsecond of the reductions.
  auto scaled = [](int64_t dp) {
    Job job;
    job.dp = dp;
    job.intraGBps = job.interGBps = 6e4;
    job.latencyUs = 0;
    return run(job).milliseconds;
  };
  double one = scaled(1);
  for (int64_t dp : {2, 8, 32})
    EXPECT_NEAR(scaled(dp), one, 1e-3) << "dp = " << dp;
}
TEST(Metamorphic, WeakScalingNeverGetsFaster) {
  double previous = 0;
  for (int64_t dp : {1, 2, 8, 32}) {
    Job job;
    job.dp = dp;
    double time = run(job).milliseconds;
    EXPECT_GE(time, previous) << "dp = " << dp;
    previous = time;
  }
}
TEST(Metamorphic, GPipeKeepsMoreActivationsThanOneForwardOneBackward) {
  Job oneByOne, gpipe;
  oneByOne.microBatches = gpipe.microBatches = 16;
  gpipe.order = "gpipe";
  EXPECT_GT(run(gpipe).megabytes, run(oneByOne).megabytes);
  // Per micro-batch in flight, a stage keeps the input and the result of the
  // relu for each of its 4 layers (256 tokens, 2 bytes, the hidden layer halved
  // by tp). The operand of the relu is freed in the forward pass. The last
  // stage also keeps its output, the logits, and their log-sum-exp, and once
  // the loss.
  double layers = 4 * 256.0 * (1024 + 2048) * 2;
  double head = 256.0 * 1024 * 2 + 256 * 4;
  // 1F1B has 2 micro-batches in flight on the first stage and 1 on the last, so
  // the first is the worst device; GPipe has all 16 on both, so the last is.
  double expected = (16 * (layers + head) + 4 - 2 * layers) / 1e6;
  EXPECT_NEAR(run(gpipe).megabytes - run(oneByOne).megabytes, expected, 1e-9);
}
TEST(Metamorphic, MoreMicroBatchesShrinkTheBubble) {
  // The same batch in more, smaller parts: compute stays, the bubble shrinks.
  Job few, many;
  few.microBatches = 2;
  few.microBatchSize = 8;
  many.microBatches = 16;
  many.microBatchSize = 1;
  few.latencyUs = many.latencyUs = 0;
  few.launchUs = many.launchUs = 0;
  EXPECT_LT(run(many).milliseconds, run(few).milliseconds);
}
TEST(Metamorphic, RecomputationTradesTimeForMemory) {
  Job keep, recompute;
  keep.microBatchSize = recompute.microBatchSize = 16;
  recompute.recompute = true;
  EXPECT_GT(run(recompute).milliseconds, run(keep).milliseconds);
  EXPECT_LT(run(recompute).megabytes, run(keep).megabytes);
  // Recomputation adds a forward pass, less than half of forward and backward.
  EXPECT_LT(run(recompute).milliseconds, 1.5 * run(keep).milliseconds);
}
TEST(Metamorphic, FoldingRanksChangesNothing) {
  for (int64_t tp : {1, 2, 3}) {
    Job job;
    job.tp = tp; // 3 does not divide a node of 4: groups differ in shape.
    if (tp == 3)
      job.dp = 3;
    Figures folded = run(job), every = run(job, proteus::Fold::None);
    EXPECT_EQ(folded.milliseconds, every.milliseconds) << "tp = " << tp;
    EXPECT_EQ(folded.megabytes, every.megabytes) << "tp = " << tp;
  }
}
TEST(Metamorphic, CausalAttentionTakesHalfTheTime) {
  auto attention = [](StringRef causal) {
    Job job;
    job.launchUs = 0;
    std::string module = text(job);
    std::string x = "tensor<8x4096x1024xbf16>";
    // The machine of the job with one device, and a forward-only model with
    // nothing but attention.
    module = module.substr(0, module.find("func.func"));
    module += llvm::formatv(
        "func.func @m(%x: {0} {{nn.role = \"input\"}) -> {0} {{\n"
        "%y, %l = nn.attention \"a\"(%x, %x, %x) {{heads = 8 : i64{1}} : "
        "({0}, {0}, {0}) -> ({0}, tensor<8x8x4096xf32>)\n"
        "return %y : {0}\n}\n"
        "strategy.tree @s for @m {{ mesh [dp = 1] }\n}\n",
        x, causal);
    return run(module, proteus::Fold::Ranks).milliseconds;
  };
  EXPECT_NEAR(attention(", causal"), attention("") / 2, 1e-9);
}
