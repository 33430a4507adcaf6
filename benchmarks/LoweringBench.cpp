//===- LoweringBench.cpp - time of lowering and simulation ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/InitAll.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"

#include <benchmark/benchmark.h>

using namespace mlir;

namespace {

/// Returns the text of 64 experts in place of an MLP: two per token, a group
/// per sample, 1.25 * 2048 * 2 / 64 = 80 slots.
std::string expertsText(int64_t batch, const std::string &x) {
  std::string logits = llvm::formatv("tensor<{0}x2048x64xbf16>", batch);
  std::string gates = llvm::formatv("tensor<{0}x2048x2xbf16>", batch);
  std::string choices = llvm::formatv("tensor<{0}x2048x2xi32>", batch);
  std::string rows = llvm::formatv("tensor<64x{0}x80x12288xbf16>", batch);
  std::string wide = llvm::formatv("tensor<64x{0}x80x4096xbf16>", batch);
  std::string text = llvm::formatv(
      "%gate = nn.linear \"gate\"(%n2, %wg_i) : ({0}, tensor<64x12288xbf16>) "
      "-> {1}\n"
      "%gates, %chosen, %slots = nn.moe_route \"route\"(%gate) {{groups = {4} "
      ": i64, capacity_factor = 1.25 : f64, normalize} : ({1}) -> ({2}, {3}, "
      "{3})\n",
      x, logits, gates, choices, batch);
  text += llvm::formatv(
      "%d = nn.moe_dispatch \"dispatch\"(%n2, %chosen, %slots) : ({0}, {1}, "
      "{1}) -> {2}\n"
      "%f = nn.expert_linear \"fc1\"(%d, %w1_i) : ({2}, "
      "tensor<64x4096x12288xbf16>) -> {3}\n"
      "%g = nn.gelu \"act\"(%f) : ({3}) -> {3}\n"
      "%m = nn.expert_linear \"fc2\"(%g, %w2_i) : ({3}, "
      "tensor<64x12288x4096xbf16>) -> {2}\n"
      "%o = nn.moe_combine \"combine\"(%m, %chosen, %slots, %gates) : ({2}, "
      "{1}, {1}, {4}) -> {0}\n",
      x, choices, rows, wide, gates);
  return text;
}

/// Returns the text of a GPT-like model with the dimensions of GPT-3, except
/// for the number of layers and the batch. With `experts`, 64 small experts
/// replace the MLP.
std::string modelText(int64_t layers, int64_t batch, int64_t devices,
                      bool experts = false) {
  std::string x = llvm::formatv("tensor<{0}x2048x12288xbf16>", batch);
  std::string qkv = llvm::formatv("tensor<{0}x2048x36864xbf16>", batch);
  std::string wide = llvm::formatv("tensor<{0}x2048x49152xbf16>", batch);
  std::string logits = llvm::formatv("tensor<{0}x2048x51200xbf16>", batch);
  std::string ids = llvm::formatv("tensor<{0}x2048xi32>", batch);
  std::string rows = llvm::formatv("tensor<{0}x2048xf32>", batch);
  std::string lse = llvm::formatv("tensor<{0}x96x2048xf32>", batch);
  std::string n = std::to_string(layers);
  struct Parameter {
    const char *name;
    const char *shape;
  };
  llvm::SmallVector<Parameter> parameters = {
      {"g1", "12288"},       {"b1", "12288"}, {"wq", "36864x12288"},
      {"wp", "12288x12288"}, {"g2", "12288"}, {"b2", "12288"}};
  if (experts)
    parameters.append(
        {{"wg", "64x12288"}, {"w1", "64x4096x12288"}, {"w2", "64x12288x4096"}});
  else
    parameters.append({{"w1", "49152x12288"}, {"w2", "12288x49152"}});
  std::string text = llvm::formatv(
      "module attributes {{proteus.cluster = \"dgx-a100:{0}\"} {{\n"
      "func.func @gpt(%ids: {1} {{nn.role = \"input\"}, %labels: {1} {{nn.role "
      "= \"input\"}, %wte: tensor<51200x12288xbf16> {{nn.role = "
      "\"parameter\"}, %head: tensor<51200x12288xbf16> {{nn.role = "
      "\"parameter\"}",
      std::max<int64_t>(1, devices / 8), ids);
  std::string slices;
  for (const Parameter &parameter : parameters) {
    text += llvm::formatv(
        ", %{0}: tensor<{1}x{2}xbf16> {{nn.role = \"parameter\", nn.path = "
        "\"layers[*].{0}\"}",
        parameter.name, n, parameter.shape);
    slices += llvm::formatv(
        "{0}%{1}_i = %{1} : tensor<{2}x{3}xbf16> to tensor<{3}xbf16>",
        slices.empty() ? "" : ", ", parameter.name, n, parameter.shape);
  }
  std::string v = "tensor<12288xbf16>";
  text += ") -> tensor<f32> attributes {nn.training = #nn.training<optimizer = "
          "adam, gradient = f32, master = f32>} {\n";
  text += llvm::formatv("%x = nn.embedding \"embedding\"(%ids, %wte) : ({0}, "
                        "tensor<51200x12288xbf16>) -> {1}\n",
                        ids, x);
  text += llvm::formatv("%y = nn.repeat \"layers\" count {0} carry(%h = %x : "
                        "{1}) slice({2}) -> ({1}) {{\n",
                        n, x, slices);
  text += llvm::formatv(
      "%n1 = nn.layer_norm \"ln1\"(%h, %g1_i, %b1_i) : ({0}, {1}, {1}) -> "
      "{0}\n"
      "%a = nn.linear \"qkv\"(%n1, %wq_i) : ({0}, tensor<36864x12288xbf16>) "
      "-> {2}\n"
      "%q, %k, %v = nn.split \"split\"(%a) {{groups = 96 : i64} : ({2}) -> "
      "({0}, {0}, {0})\n"
      "%c, %s = nn.attention \"core\"(%q, %k, %v) {{heads = 96 : i64, causal} "
      ": ({0}, {0}, {0}) -> ({0}, {3})\n"
      "%p = nn.linear \"proj\"(%c, %wp_i) : ({0}, tensor<12288x12288xbf16>) "
      "-> {0}\n"
      "%r = nn.add \"r1\"(%h, %p) : ({0}, {0}) -> {0}\n",
      x, v, qkv, lse);
  text += llvm::formatv(
      "%n2 = nn.layer_norm \"ln2\"(%r, %g2_i, %b2_i) : ({0}, {1}, {1}) -> "
      "{0}\n",
      x, v);
  if (experts)
    text += expertsText(batch, x);
  else
    text += llvm::formatv(
        "%f = nn.linear \"fc1\"(%n2, %w1_i) : ({0}, tensor<49152x12288xbf16>) "
        "-> {2}\n"
        "%g = nn.gelu \"act\"(%f) : ({2}) -> {2}\n"
        "%o = nn.linear \"fc2\"(%g, %w2_i) : ({2}, tensor<12288x49152xbf16>) "
        "-> "
        "{0}\n",
        x, v, wide);
  text += llvm::formatv("%z = nn.add \"r2\"(%r, %o) : ({0}, {0}) -> {0}\n"
                        "nn.yield %z : {0}\n}\n",
                        x);
  text += llvm::formatv(
      "%l = nn.linear \"head\"(%y, %head) : ({0}, tensor<51200x12288xbf16>) "
      "-> {1}\n"
      "%loss, %e = nn.cross_entropy \"loss\"(%l, %labels) : ({1}, {2}) -> "
      "(tensor<f32>, {3})\n"
      "return %loss : tensor<f32>\n}\n",
      x, logits, ids, rows);
  return text;
}

/// Returns the model with a Megatron strategy.
std::string gptText(int64_t layers, int64_t dp, int64_t pp, int64_t tp,
                    int64_t microBatches) {
  std::string text = modelText(layers, dp * microBatches, dp * pp * tp);
  text += llvm::formatv("strategy.tree @s for @gpt {{\n"
                        "mesh [dp = {0}, pp = {1}, tp = {2}]\n"
                        "schedule micro_batches = {3}\n"
                        "split op [batch -> dp]\n"
                        "node \"embedding\" {{ split op [vocab -> tp] }\n"
                        "node \"layers[*]\" {{\n stages pp\n recompute\n"
                        "node \"qkv\" {{ split op [out -> tp] }\n"
                        "node \"fc1\" {{ split op [out -> tp] }\n}\n"
                        "node \"head\" {{ split op [out -> tp] }\n}\n}\n",
                        dp, pp, tp, microBatches);
  return text;
}

enum class Work { Lower, LowerUnrolled, Simulate };

/// Parses and processes a module. If `preset` has options, runs apply-strategy
/// with them first. Aborts on errors, which a benchmark must not hide.
void process(MLIRContext &context, const std::string &text, Work work,
             const std::string &preset = "") {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context);
  if (work == Work::LowerUnrolled)
    manager.addNestedPass<func::FuncOp>(proteus::createUnrollRepeats());
  if (!preset.empty() &&
      failed(parsePassPipeline("apply-strategy{" + preset + "}", manager)))
    llvm::report_fatal_error("apply-strategy does not take these options");
  proteus::LowerStrategyOptions options;
  proteus::buildLowerStrategyPipeline(manager, options);
  if (work == Work::Simulate)
    manager.addPass(proteus::createSimulate());
  if (!module || failed(manager.run(*module)))
    llvm::report_fatal_error("the benchmark model does not lower");
}

MLIRContext &sharedContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    proteus::registerAllDialects(registry);
    proteus::registerAllPasses();
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *context;
}

/// Measures lowering by number of layers under nn.repeat: should be constant.
void lowerRepeated(benchmark::State &state) {
  std::string text = gptText(state.range(0), 2, 2, 4, 8);
  for (auto _ : state)
    process(sharedContext(), text, Work::Lower);
}
BENCHMARK(lowerRepeated)
    ->Arg(12)
    ->Arg(24)
    ->Arg(48)
    ->Arg(96)
    ->Unit(benchmark::kMillisecond);

/// Measures the same with every layer written out: should grow linearly.
void lowerUnrolled(benchmark::State &state) {
  std::string text = gptText(state.range(0), 2, 2, 4, 8);
  for (auto _ : state)
    process(sharedContext(), text, Work::LowerUnrolled);
}
BENCHMARK(lowerUnrolled)
    ->Arg(12)
    ->Arg(24)
    ->Arg(48)
    ->Arg(96)
    ->Unit(benchmark::kMillisecond);

/// Measures lowering by number of devices, with a growing data-parallel degree:
/// should be constant.
void lowerByDevices(benchmark::State &state) {
  std::string text = gptText(96, state.range(0) / 8, 2, 4, 8);
  for (auto _ : state)
    process(sharedContext(), text, Work::Lower);
}
BENCHMARK(lowerByDevices)
    ->Arg(8)
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

/// A preset by its name and its options of apply-strategy.
struct NamedPreset {
  const char *name;
  const char *options;
  bool experts = false;
};

constexpr NamedPreset presets[] = {
    {"dp", "dp=64"},
    {"tp", "dp=8 tp=8"},
    {"tp-sp", "dp=8 tp=8 sp=true"},
    {"pp-1f1b", "dp=8 pp=8 micro-batches=8"},
    {"pp-gpipe", "dp=8 pp=8 micro-batches=8 schedule=gpipe"},
    {"pp-interleaved", "dp=8 pp=8 micro-batches=8 virtual-stages=2"},
    {"pp-zero-bubble", "dp=8 pp=8 micro-batches=8 schedule=zero-bubble"},
    {"zero-1", "dp=64 zero=1"},
    {"zero-2", "dp=64 zero=2"},
    {"zero-3", "dp=64 zero=3"},
    {"recompute", "dp=8 tp=8 recompute=full"},
    {"cp-ring", "dp=8 cp=8 cp-kind=ring"},
    {"ep", "dp=8 ep=8", /*experts=*/true},
    {"all", "dp=2 tp=4 pp=8 micro-batches=8 zero=1 recompute=full"},
};

/// Measures lowering of 96 layers under one preset of apply-strategy.
void lowerPreset(benchmark::State &state, const NamedPreset &preset) {
  std::string text = modelText(96, 64, 64, preset.experts) + "}\n";
  for (auto _ : state)
    process(sharedContext(), text, Work::Lower, preset.options);
}

/// Measures the same with every layer written out.
void lowerPresetUnrolled(benchmark::State &state, const NamedPreset &preset) {
  std::string text = modelText(96, 64, 64, preset.experts) + "}\n";
  for (auto _ : state)
    process(sharedContext(), text, Work::LowerUnrolled, preset.options);
}

const bool presetsRegistered = [] {
  for (const NamedPreset &preset : presets) {
    auto add = [&](const char *benchmark, auto run) {
      benchmark::RegisterBenchmark(
          (std::string(benchmark) + "/" + preset.name).c_str(), run, preset)
          ->Unit(benchmark::kMillisecond);
    };
    add("lowerPreset", lowerPreset);
    add("lowerPresetUnrolled", lowerPresetUnrolled);
  }
  return true;
}();

/// Measures the time from text to figures by data-parallel degree, with 8
/// stages, tensor parallelism over 8 devices and 96 micro-batches: should be
/// constant.
void simulateByDataParallelDegree(benchmark::State &state) {
  std::string text = gptText(96, state.range(0), 8, 8, 96);
  for (auto _ : state)
    process(sharedContext(), text, Work::Simulate);
}
BENCHMARK(simulateByDataParallelDegree)
    ->Arg(8)
    ->Arg(128)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

} // namespace
