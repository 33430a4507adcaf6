//===- LoweringTest.cpp - small models, split and executed ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a tiny model of each family under the strategies that apply to it.
// Executes the lowered program, which must compute the same values as the
// model.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/InitAll.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

namespace {

using Overrides = std::vector<std::string>;

/// Check of a lowered model.
enum class Proof { Execute, LowerOnly };

plan::ParallelPlan dataParallel() {
  plan::ParallelPlan plan;
  plan.dp = 2;
  plan.accumulation = 2;
  plan.zero = plan::ZeroStage::States;
  return plan;
}

plan::ParallelPlan tensorParallel(bool sequence) {
  plan::ParallelPlan plan;
  plan.tp = 2;
  plan.sequenceParallel = sequence;
  return plan;
}

plan::ParallelPlan pipelineParallel() {
  plan::ParallelPlan plan;
  plan.pp = 2;
  plan.accumulation = 2;
  return plan;
}

plan::ParallelPlan expertParallel() {
  plan::ParallelPlan plan;
  plan.dp = 4;
  plan.ep = 2;
  plan.tp = 2;
  return plan;
}

void expectRight(const std::string &model, const Overrides &overrides,
                 const std::string &label, const plan::ParallelPlan &plan,
                 Proof proof = Proof::Execute) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string messages;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages += diagnostic.str() + "\n";
  });
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      buildModel(context, {model, 4, {}, overrides});
  if (!module) {
    ADD_FAILURE() << model << ": " << llvm::toString(module.takeError());
    return;
  }
  (**module)->setAttr(ProteusDialect::clusterAttrName,
                      StringAttr::get(&context, "dgx-a100"));
  PassManager manager(&context);
  manager.addPass(createApplyStrategy(plan));
  if (proof == Proof::Execute)
    manager.addPass(createCheckLowering());
  else
    buildLowerStrategyPipeline(manager, LowerStrategyOptions());
  EXPECT_TRUE(succeeded(manager.run(**module)))
      << model << " under " << label << ":\n"
      << messages;
}

void expectRightEverywhere(const std::string &model,
                           const Overrides &overrides) {
  expectRight(model, overrides, "dp", dataParallel());
  expectRight(model, overrides, "tp", tensorParallel(false));
  expectRight(model, overrides, "tp and sp", tensorParallel(true));
  expectRight(model, overrides, "pp", pipelineParallel());
}

/// Learned positions are looked up in a table that is longer than the sequence.
const Overrides tinyGpt = {"layers=2", "hidden=8", "heads=2",
                           "ffn=16",   "vocab=12", "seq=4"};

Overrides operator+(Overrides list, const Overrides &more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

const Overrides tinyLlama =
    tinyGpt + Overrides{"heads=4", "kv_heads=2", "head_dim=4"};
const Overrides tinyExperts = {"experts=4", "topk=2", "moe_ffn=6"};
const Overrides tinyLatent = {"kv_lora_rank=6", "qk_head_dim=4",
                              "qk_rope_dim=2", "v_head_dim=3"};

TEST(Lowering, Gpt) {
  expectRightEverywhere("gpt2", tinyGpt + Overrides{"max_positions=6"});
  expectRightEverywhere("gpt3-125m", tinyGpt + Overrides{"max_positions=4"});
  expectRightEverywhere("gpt1", tinyGpt + Overrides{"max_positions=4"});
}

TEST(Lowering, RelativesOfGpt) {
  expectRightEverywhere("gpt-neox-20b", tinyGpt);
  expectRightEverywhere("bloom-560m", tinyGpt);
  expectRightEverywhere("mpt-7b", tinyGpt);
  expectRightEverywhere("opt-125m", tinyGpt + Overrides{"max_positions=6"});
  expectRightEverywhere("opt-350m",
                        tinyGpt + Overrides{"max_positions=6", "embedding=6"});
}

TEST(Lowering, Llama) {
  expectRightEverywhere("llama3-8b", tinyLlama);
  expectRightEverywhere("llama3.2-1b", tinyLlama);
  expectRightEverywhere("qwen2.5-7b", tinyLlama);
}

TEST(Lowering, KernelsThatStacksChoose) {
  expectRightEverywhere(
      "gpt2", tinyGpt + Overrides{"max_positions=4", "dropout=0.1",
                                  "attention_kernel=unfused", "logits=f32"});
  expectRightEverywhere(
      "llama3-8b", tinyLlama + Overrides{"gated_kernel=unfused", "logits=f32"});
}

TEST(Lowering, MixturesOfExperts) {
  for (const char *model :
       {"mixtral-8x7b", "qwen1.5-moe-a2.7b", "qwen3-30b-a3b"}) {
    Overrides overrides = tinyLlama + tinyExperts;
    if (StringRef(model).starts_with("qwen1.5"))
      overrides.push_back("shared_expert_ffn=10");
    expectRightEverywhere(model, overrides);
    expectRight(model, overrides, "dp, ep and tp", expertParallel());
  }
}

TEST(Lowering, LatentAttention) {
  Overrides overrides = tinyGpt + tinyExperts + tinyLatent +
                        Overrides{"shared_expert_ffn=10", "layers=4"};
  for (const char *model : {"deepseek-v2-lite", "deepseek-v2", "deepseek-v3"}) {
    Overrides own = overrides;
    if (StringRef(model) != "deepseek-v2-lite")
      own.push_back("q_lora_rank=4");
    expectRightEverywhere(model, own);
    expectRight(model, own, "dp, ep and tp", expertParallel());
  }
}

TEST(Lowering, Bert) {
  expectRightEverywhere("bert-base", tinyGpt + Overrides{"max_positions=6"});
  expectRightEverywhere(
      "bert-base", tinyGpt + Overrides{"max_positions=4", "predictions=2"});
  expectRightEverywhere("bert-base",
                        tinyGpt + Overrides{"max_positions=4", "task=squad"});
  expectRightEverywhere("bert-base",
                        tinyGpt + Overrides{"max_positions=6", "dropout=0.1",
                                            "attention_kernel=unfused"});
}

TEST(Lowering, EncodersAndDecoders) {
  Overrides tiny = {
      "encoder_layers=2", "decoder_layers=2", "hidden=8", "heads=2",
      "head_dim=3",       "ffn=16",           "vocab=12", "seq=6",
      "target_seq=4"};
  expectRightEverywhere("transformer-big", tiny);
  expectRightEverywhere("t5-small", tiny + Overrides{"relative_buckets=0"});
  // The `nn.generic` operation for position differences states only costs, so
  // these models can be lowered but not executed.
  expectRight("t5-small", tiny, "dp", dataParallel(), Proof::LowerOnly);
  expectRight("t5-small", tiny, "tp", tensorParallel(false), Proof::LowerOnly);
  expectRight("t5-small", tiny, "pp", pipelineParallel(), Proof::LowerOnly);
}

/// Position differences are the same for all samples. The gradient of tensors
/// computed from them is complete only after the last micro-batch, so the plan
/// has one.
TEST(Lowering, Memory) {
  Overrides tiny = {"layers=2", "hidden=8", "heads=2",   "ffn=16",
                    "vocab=24", "seq=6",    "mem_len=3", "cutoffs=8,12,18"};
  for (const char *model : {"transformer-xl-base", "transformer-xl-large"}) {
    Overrides own = tiny;
    if (StringRef(model).ends_with("large"))
      own.push_back("div_val=2");
    for (auto [label, plan] :
         {std::pair("dp", dataParallel()), std::pair("pp", pipelineParallel()),
          std::pair("tp", tensorParallel(false))}) {
      plan.accumulation = 1;
      expectRight(model, own, label, plan);
      expectRight(model, own + Overrides{"dropout=0.1"}, label, plan);
    }
  }
}

} // namespace
