//===- DeepSpeed.cpp - configurations of DeepSpeed ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/Job.h"
#include "Proteus/Support/JSON.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

/// Returns the integer under `key`. Returns nullopt if the key is absent, or if
/// its value is "auto", with which DeepSpeed chooses the value itself.
static std::optional<int64_t>
integerOf(const json::Reader &object, StringRef key, int64_t min, int64_t max) {
  if (!object.has(key))
    return std::nullopt;
  json::Reader value = object[key];
  if (value.isString() && value.string() == "auto")
    return std::nullopt;
  // `integer` also accepts 5e8, a common notation for sizes.
  return value.integer(min, max);
}

/// Returns the object under `key`, or nullopt if the key is absent. Records an
/// error if the value is not an object.
static std::optional<json::Reader> partOf(const json::Reader &object,
                                          StringRef key) {
  if (!object.has(key))
    return std::nullopt;
  json::Reader part = object[key];
  if (!part.isObject())
    part.fail("expected an object");
  return part;
}

static bool isEnabled(const json::Reader &root, StringRef key) {
  std::optional<json::Reader> part = partOf(root, key);
  if (!part || !part->has("enabled"))
    return false;
  json::Reader value = (*part)["enabled"];
  return !(value.isString() && value.string() == "auto") && value.boolean();
}

/// Returns true if the object under `key` ("offload_optimizer" or
/// "offload_param") selects offload to host memory. Records an error if it
/// selects another device, for example "nvme".
static bool isOffloaded(const json::Reader &zero, StringRef key) {
  std::optional<json::Reader> part = partOf(zero, key);
  if (!part || !part->has("device"))
    return false;
  std::string device = (*part)["device"].string();
  if (device != "none" && device != "cpu")
    (*part)["device"].fail("offload to '" + device +
                           "' is not modelled; use cpu or none");
  return device == "cpu";
}

Error proteus::jobs::readDeepSpeed(StringRef text, StringRef source, Job &job) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  json::Reader root = document->root();
  if (!root.isObject())
    root.fail("expected an object");
  plan::ParallelPlan &plan = job.plan;
  constexpr int64_t most = 1'000'000'000;
  if (auto value = integerOf(root, "train_batch_size", 1, most))
    job.globalBatch = value;
  if (auto value = integerOf(root, "train_micro_batch_size_per_gpu", 1, most))
    plan.microBatch = *value;
  if (auto value = integerOf(root, "gradient_accumulation_steps", 1, most))
    plan.accumulation = value;
  bool bf16 = isEnabled(root, "bf16"), fp16 = isEnabled(root, "fp16");
  if (bf16 && fp16)
    root.fail("both bf16 and fp16 are enabled; enable one of them");
  if (bf16 || fp16)
    job.precision = bf16 ? plan::Precision::BF16 : plan::Precision::FP16;
  if (std::optional<json::Reader> zero = partOf(root, "zero_optimization")) {
    if (auto value = integerOf(*zero, "stage", 0, 3))
      plan.zero = static_cast<plan::ZeroStage>(*value);
    if (auto value =
            integerOf(*zero, "reduce_bucket_size", 1, int64_t(1) << 40))
      // DeepSpeed states the size in elements, a plan in bytes.
      plan.bucketSize =
          *value * (job.precision == plan::Precision::FP32 ? 4 : 2);
    if (isOffloaded(*zero, "offload_optimizer"))
      plan.offloadState = true;
    if (isOffloaded(*zero, "offload_param"))
      plan.offloadWeight = true;
  }
  if (std::optional<json::Reader> part =
          partOf(root, "activation_checkpointing");
      part && part->has("cpu_checkpointing") &&
      (*part)["cpu_checkpointing"].boolean())
    plan.offloadActivation = true;
  return document->takeError();
}
