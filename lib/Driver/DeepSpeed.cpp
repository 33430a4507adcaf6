//===- DeepSpeed.cpp - configurations of DeepSpeed ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Job.h"
#include "Proteus/Support/JSON.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// A value that may be "auto": left to others.
static std::optional<int64_t>
integerOf(const json::Reader &object, StringRef key, int64_t min, int64_t max) {
  if (!object.has(key))
    return std::nullopt;
  json::Reader value = object[key];
  if (value.isString() && value.string() == "auto")
    return std::nullopt;
  // Sizes are often written as 5e8.
  return value.integer(min, max);
}

static bool isEnabled(const json::Reader &root, StringRef key) {
  if (!root.has(key) || !root[key].isObject() || !root[key].has("enabled"))
    return false;
  json::Reader value = root[key]["enabled"];
  return !(value.isString() && value.string() == "auto") && value.boolean();
}

/// Whether a part of the state is kept on the host.
static bool isOffloaded(const json::Reader &zero, StringRef key) {
  if (!zero.has(key))
    return false;
  json::Reader part = zero[key];
  std::string device = part.has("device") ? part["device"].string() : "none";
  if (device == "nvme")
    part["device"].fail("offload to nvme is not modelled; use cpu");
  return device == "cpu";
}

Error proteus::driver::readDeepSpeed(StringRef text, StringRef source,
                                     Job &job) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  json::Reader root = document->root();
  Strategy &s = job.strategy;
  constexpr int64_t most = 1'000'000'000;
  if (auto value = integerOf(root, "train_batch_size", 1, most))
    job.globalBatch = value;
  if (auto value = integerOf(root, "train_micro_batch_size_per_gpu", 1, most))
    s.microBatch = *value;
  if (auto value = integerOf(root, "gradient_accumulation_steps", 1, most))
    s.accumulation = value;
  if (isEnabled(root, "bf16"))
    job.precision = "bf16";
  else if (isEnabled(root, "fp16"))
    job.precision = "fp16";
  if (root.has("zero_optimization")) {
    json::Reader zero = root["zero_optimization"];
    if (auto value = integerOf(zero, "stage", 0, 3))
      s.zero = *value;
    if (auto value = integerOf(zero, "reduce_bucket_size", 1, int64_t(1) << 40))
      // DeepSpeed counts elements.
      s.bucketSize = *value * (job.precision == "fp32" ? 4 : 2);
    s.offloadState |= isOffloaded(zero, "offload_optimizer");
    s.offloadWeight |= isOffloaded(zero, "offload_param");
  }
  if (root.has("activation_checkpointing") &&
      root["activation_checkpointing"].has("cpu_checkpointing"))
    s.offloadActivation |=
        root["activation_checkpointing"]["cpu_checkpointing"].boolean();
  return document->takeError();
}
