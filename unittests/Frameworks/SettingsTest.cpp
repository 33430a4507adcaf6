//===- SettingsTest.cpp - every setting of a framework is handled ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds each setting that a table calls used to a job that lacks it. The job or
// the remarks must change, or the value must be refused: nothing is ignored in
// silence.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::frameworks;
using jobs::Job;

namespace {

/// Returns everything that a reader has set or returned, as text.
std::string shown(const Job &job,
                  llvm::Expected<std::vector<std::string>> remarks) {
  if (!remarks)
    return llvm::toString(remarks.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  auto number = [](const auto &value) {
    return value ? std::to_string(*value) : "-";
  };
  os << job.model << "\n"
     << llvm::join(job.overrides, " ") << "\n"
     << job.plan.label() << "\n"
     << number(job.seq) << number(job.gpus) << number(job.globalBatch)
     << number(job.vocabMultiple) << number(job.expertCapacity)
     << (job.precision ? plan::stringifyEnum(*job.precision) : "-")
     << (job.optimizer ? plan::stringifyEnum(*job.optimizer) : "-")
     << job.gradientType.value_or("-") << job.masterType.value_or("-")
     << job.padExperts << job.cudaGraphs << "\n"
     << llvm::join(*remarks, "\n");
  return text;
}

std::string readArguments(const std::string &text) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(text).split(words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> arguments(words.begin(), words.end());
  Job job;
  job.gpus = 64;
  auto remarks = readMegatron(arguments, job);
  return shown(job, std::move(remarks));
}

TEST(Settings, NamesAreUnique) {
  for (const Framework &framework : allFrameworks()) {
    llvm::StringSet<> names;
    for (const Setting &setting : framework.settings) {
      EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
      EXPECT_FALSE(setting.text.empty()) << setting.name;
    }
  }
}

TEST(Settings, MegatronHandlesAllThatAreUsed) {
  const std::string base =
      "--num-layers 8 --hidden-size 256 --num-attention-heads 8 --seq-length "
      "128 --max-position-embeddings 128 --micro-batch-size 2 ";
  llvm::StringMap<std::string> samples = {
      {"num-layers", "4"},
      {"normalization", "RMSNorm"},
      {"position-embedding-type", "rope"},
      {"tokenizer-type", "Llama2Tokenizer"},
      {"hidden-dropout", "0.2"},
      {"attention-backend", "unfused"},
      {"cross-entropy-fusion-impl", "te"},
      {"fp8-format", "hybrid"},
      {"main-params-dtype", "fp16"},
      {"main-grads-dtype", "bf16"},
      {"optimizer", "sgd"},
      {"sgd-momentum", "0"},
      {"moe-layer-freq", "1"},
      {"moe-expert-capacity-factor", "1.5"},
      {"recompute-granularity", "selective"},
      {"recompute-method", "block"},
      {"recompute-modules", "mlp"},
      {"cp-comm-type", "a2a"},
      {"data-parallel-sharding-strategy", "optim"},
      {"cuda-graph-impl", "local"},
      {"micro-batch-size", "1"},
      {"hidden-size", "512"},
      {"kv-channels", "64"}};
  // Flags that change nothing alone get those that they need.
  llvm::StringMap<std::string> context = {
      {"main-grads-dtype", "--bf16 "},
      {"grad-reduce-in-bf16", "--bf16 "},
      {"accumulate-allreduce-grads-in-fp32", "--fp16 "},
      {"cross-entropy-loss-fusion", "--bf16 --cross-entropy-fusion-impl te "},
      {"add-qkv-bias", "--disable-bias-linear "},
      {"overlap-grad-reduce", "--bf16 "},
      {"use-flash-attn", "--attention-backend unfused "},
      {"no-overlap-p2p-communication",
       "--pipeline-model-parallel-size 4 "
       "--num-virtual-stages-per-pipeline-rank 2 "},
      {"num-virtual-stages-per-pipeline-rank",
       "--pipeline-model-parallel-size 2 "}};
  for (const Setting &setting : frameworkOf("megatron").settings) {
    if (setting.effect != Effect::Used)
      continue;
    std::string text = base + context.lookup(setting.name);
    std::string words = "--" + setting.name;
    if (setting.kind != ValueKind::Flag) {
      std::string sample = samples.lookup(setting.name);
      if (sample.empty()) {
        ASSERT_EQ(setting.kind, ValueKind::Integer)
            << setting.name << " has no sample";
        sample = "2";
      }
      words += " " + sample;
    }
    EXPECT_NE(readArguments(text), readArguments(text + words))
        << setting.name << " is ignored";
  }
}

/// Returns the text of a file with one key.
std::string withKey(const std::string &base, llvm::StringRef path,
                    const std::string &value) {
  std::string open, close;
  llvm::SmallVector<llvm::StringRef> keys;
  path.split(keys, '.');
  for (llvm::StringRef key : keys) {
    open += "{\"" + key.str() + "\": ";
    close += "}";
  }
  // The base has other keys at its root only.
  std::string added = open + value + close;
  return base.empty() ? added : "{" + base + ", " + added.substr(1);
}

TEST(Settings, DeepSpeedHandlesAllThatAreUsed) {
  llvm::StringMap<std::string> samples = {
      {"data_types.grad_accum_dtype", "\"fp32\""},
      {"torch_autocast.dtype", "\"float16\""},
      {"optimizer.type", "\"SGD\""},
      {"optimizer.params", "{\"lr\": 1}"},
      {"zero_optimization.reduce_scatter", "false"},
      {"zero_optimization.stage", "1"},
      {"zero_optimization.offload_optimizer.device", "\"cpu\""},
      {"zero_optimization.offload_param.device", "\"cpu\""}};
  auto read = [](const std::string &text) {
    Job job;
    auto remarks = readDeepSpeed(text, "file", job);
    return shown(job, std::move(remarks));
  };
  for (const Setting &setting : frameworkOf("deepspeed").settings) {
    if (setting.effect != Effect::Used)
      continue;
    std::string sample = samples.lookup(setting.name);
    if (sample.empty())
      sample = setting.kind == ValueKind::Boolean ? "true" : "2";
    std::string base;
    if (setting.name == "data_types.grad_accum_dtype")
      base = R"("bf16": {"enabled": true})";
    EXPECT_NE(read(base.empty() ? "{}" : "{" + base + "}"),
              read(withKey(base, setting.name, sample)))
        << setting.name << " is ignored";
  }
}

TEST(Settings, TorchTitanHandlesAllThatAreUsed) {
  llvm::StringMap<std::string> samples = {
      {"model.name", "\"qwen3\""},
      {"model.flavor", "\"8B\""},
      {"model.converters", "[\"float8\"]"},
      {"optimizer.name", "\"SGD\""},
      {"training.dtype", "\"bfloat16\""},
      {"training.mixed_precision_param", "\"float32\""},
      {"training.seq_len", "4096"},
      {"compile.components", "[\"loss\"]"},
      {"parallelism.fsdp_reshard_after_forward", "\"never\""},
      {"parallelism.pipeline_parallel_schedule", "\"GPipe\""},
      {"parallelism.context_parallel_rotate_method", "\"alltoall\""},
      {"activation_checkpoint.mode", "\"none\""},
      {"activation_checkpoint.selective_ac_option", "\"op\""}};
  auto read = [](const std::string &text) {
    Job job;
    job.gpus = 64;
    auto remarks = readTorchTitan(text, "file", job);
    return shown(job, std::move(remarks));
  };
  for (const Setting &setting : frameworkOf("torchtitan").settings) {
    if (setting.effect != Effect::Used)
      continue;
    std::string sample = samples.lookup(setting.name);
    if (sample.empty())
      sample = setting.kind == ValueKind::Boolean ? "true" : "2";
    std::string base;
    if (setting.name == "compile.components")
      base = "compile.enable = true\n";
    EXPECT_NE(read(base), read(base + setting.name + " = " + sample + "\n"))
        << setting.name << " is ignored";
  }
}

} // namespace
