//===- DeepSpeed.cpp - configurations of DeepSpeed ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Largest number of elements of a bucket.
static constexpr int64_t mostElements = plan::maxBytes / 8;

namespace {
/// Reads the parts of a job that a configuration states.
class Reader {
public:
  Reader(const ConfigFile &file, Notes &notes, jobs::Job &job)
      : file(file), notes(notes), job(job), plan(job.plan) {}

  void read();

private:
  void batches();
  void types();
  void gradientType();
  void optimizer();
  void zero();
  void persistence();
  void offload();
  bool isOffloaded(StringRef part, StringRef old);
  void buckets();
  void prefetch();
  void degrees();

  int64_t bytesOf(bool isGradient) const {
    bool isSingle = job.precision == plan::Precision::FP32 ||
                    job.precision == plan::Precision::TF32;
    return isSingle || (isGradient && job.gradientType == "f32") ? 4 : 2;
  }
  plan::ZeroStage stage() const {
    return plan.zero.value_or(plan::ZeroStage::None);
  }
  /// Notes a key of ZeRO that is stated but does not apply.
  void ignore(StringRef key, StringRef reason) {
    if (file.has(key))
      notes.noEffect(key, reason);
  }

  const ConfigFile &file;
  Notes &notes;
  jobs::Job &job;
  plan::ParallelPlan &plan;
};
} // namespace

void Reader::batches() {
  if (auto value = file.integer("train_batch_size", 1, plan::maxBatch))
    job.globalBatch = value;
  if (auto value =
          file.integer("train_micro_batch_size_per_gpu", 1, plan::maxBatch))
    plan.microBatch = value;
  if (auto value =
          file.integer("gradient_accumulation_steps", 1, plan::maxBatch))
    plan.accumulation = value;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void Reader::types() {
  bool isBF16 = file.flag("bf16.enabled", false) ||
                file.flag("bfloat16.enabled", false),
       isFP16 = file.flag("fp16.enabled", false);
  if (isBF16 && isFP16)
    file.fail("", "both bf16 and fp16 are enabled; enable one of them");
  if (file.flag("torch_autocast.enabled", false)) {
    std::string type = file.text("torch_autocast.dtype").value_or("bfloat16");
    StringRef name = type;
    name.consume_front("torch.");
    if (name != "bfloat16" && name != "float16")
      file.fail("torch_autocast.dtype",
                "expected bfloat16 or float16, got '" + type + "'");
    (name == "float16" ? isFP16 : isBF16) = true;
  } else {
    ignore("torch_autocast.dtype", "torch_autocast is off");
  }
  bool isOpen = file.isAuto("bf16.enabled") || file.isAuto("fp16.enabled");
  if (!isBF16 && !isFP16 && !isOpen) {
    notes.byDefault("fp32 (neither bf16 nor fp16)");
    job.precision = plan::Precision::FP32;
  }
  if (isBF16 || isFP16)
    job.precision = isBF16 ? plan::Precision::BF16 : plan::Precision::FP16;
  if (file.flag("bf16.bf16_master_weights_and_grads", false) ||
      file.flag("fp16.fp16_master_weights_and_grads", false))
    job.masterType = "";
  gradientType();
}

void Reader::gradientType() {
  auto type = file.word("data_types.grad_accum_dtype",
                        {"fp32", "fp16", "bf16", "float32", "float16",
                         "bfloat16", "float", "half"});
  bool isSingle = job.precision == plan::Precision::FP32;
  bool isHalf = job.precision == plan::Precision::FP16;
  if (!type) {
    // An empty text is the type of the parameters.
    if (!isSingle)
      job.gradientType = "";
    return;
  }
  if (*type == "fp32" || *type == "float32" || *type == "float") {
    job.gradientType = "f32";
    return;
  }
  bool wantsHalf = *type == "fp16" || *type == "float16" || *type == "half";
  if (isSingle || wantsHalf != isHalf)
    file.fail("data_types.grad_accum_dtype",
              "gradients in " + *type +
                  " are modelled for parameters of this type only; use fp32");
  job.gradientType = "";
}

void Reader::optimizer() {
  auto name = file.text("optimizer.type");
  if (!name)
    return ignore("optimizer.params", "optimizer.type is absent");
  std::string type = StringRef(*name).lower();
  constexpr StringLiteral numbers =
      "learning rate and other numbers of the optimizer";
  if (type == "adam" || type == "adamw" || type == "fusedadam") {
    job.optimizer = plan::Optimizer::Adam;
    return ignore("optimizer.params", numbers);
  }
  if (type != "sgd")
    return file.fail("optimizer.type", "the optimizer '" + *name +
                                           "' is not modelled; use Adam, "
                                           "AdamW or SGD");
  bool hasMomentum = file.has("optimizer.params.momentum") &&
                     file.shown("optimizer.params.momentum") != "0" &&
                     file.shown("optimizer.params.momentum") != "0.0";
  job.optimizer =
      hasMomentum ? plan::Optimizer::Momentum : plan::Optimizer::SGD;
}

//===----------------------------------------------------------------------===//
// ZeRO
//===----------------------------------------------------------------------===//

void Reader::zero() {
  if (auto value = file.integer("zero_optimization.stage", 0, 3))
    plan.zero = static_cast<plan::ZeroStage>(*value);
  if (auto shards = file.integer("zero_optimization.mics_shard_size", -1,
                                 plan::maxDegree);
      shards && *shards > 0)
    plan.zeroGroup = shards;
  offload();
  buckets();
  prefetch();
  persistence();
}

/// Returns true if a part, `offload_optimizer` or `offload_param`, is offloaded
/// to host memory. `old` is the key of older releases.
bool Reader::isOffloaded(StringRef part, StringRef old) {
  std::string key = ("zero_optimization." + part + ".device").str();
  std::string device = file.text(key).value_or("none");
  if (device != "none" && device != "cpu")
    file.fail(key,
              "offload to '" + device + "' is not modelled; use cpu or none");
  return device == "cpu" ||
         file.flag(("zero_optimization." + old).str(), false);
}

void Reader::offload() {
  if (isOffloaded("offload_optimizer", "cpu_offload")) {
    if (stage() == plan::ZeroStage::None)
      notes.noEffect("zero_optimization.offload_optimizer",
                     "needs zero_optimization.stage 1 or more");
    else
      plan.offloadState = true;
  }
  if (isOffloaded("offload_param", "cpu_offload_param")) {
    if (stage() != plan::ZeroStage::Parameters)
      notes.noEffect("zero_optimization.offload_param",
                     "needs zero_optimization.stage 3");
    else
      plan.offloadWeight = true;
  }
}

void Reader::buckets() {
  // DeepSpeed counts elements, a plan bytes.
  constexpr StringLiteral reduce = "zero_optimization.reduce_bucket_size";
  if (stage() == plan::ZeroStage::Parameters && file.has(reduce))
    notes.notModelled(reduce,
                      "with stage 3, it is the size of buckets of gradients "
                      "that are not scattered only");
  if (auto elements = file.integer(reduce, 1, mostElements))
    plan.bucketSize = plan.firstBucketSize =
        *elements * bytesOf(/*isGradient=*/true);
  else
    plan.bucketRule = plan::BucketRule::DeepSpeed;
  constexpr StringLiteral gather = "zero_optimization.allgather_bucket_size";
  bool gathersOnce = stage() == plan::ZeroStage::States ||
                     stage() == plan::ZeroStage::Gradients;
  if (!gathersOnce)
    ignore(gather, "needs zero_optimization.stage 1 or 2");
  else if (auto elements = file.integer(gather, 1, mostElements))
    plan.gatherBucketSize = *elements * bytesOf(/*isGradient=*/false);

  constexpr StringLiteral overlap = "zero_optimization.overlap_comm";
  bool overlaps = file.flag(overlap, stage() == plan::ZeroStage::Parameters);
  if (stage() < plan::ZeroStage::Gradients)
    plan.gradientReduction = overlaps ? plan::GradientReduction::Overlapped
                                      : plan::GradientReduction::AfterBackward;
  else if (!overlaps)
    notes.notModelled("zero_optimization.overlap_comm = false",
                      "gradients are scattered during the backward pass");
  else
    ignore(overlap, "the value that is modelled");
  constexpr StringLiteral scatter = "zero_optimization.reduce_scatter";
  if (file.flag(scatter, true))
    return;
  if (stage() != plan::ZeroStage::States || overlaps)
    notes.notModelled("zero_optimization.reduce_scatter = false",
                      "gradients are scattered; whole gradients are reduced "
                      "with stage 1 and without overlap_comm only");
  else
    plan.allReduceGradients = true;
}

void Reader::prefetch() {
  for (StringRef name : {"zero_optimization.stage3_prefetch_bucket_size",
                         "zero_optimization.prefetch_bucket_size"}) {
    auto elements = file.integer(name, 0, mostElements);
    if (!elements)
      continue;
    if (stage() != plan::ZeroStage::Parameters)
      notes.noEffect(name, "needs zero_optimization.stage 3");
    else if (*elements == 0)
      plan.prefetch = 0;
    else
      notes.notModelled(name, "parameters are gathered by layers ahead; see "
                              "--prefetch");
  }
}

/// Reads the size up to which parameters stay whole on every device with stage
/// 3. By default, DeepSpeed keeps those of up to 100,000 elements.
void Reader::persistence() {
  std::optional<int64_t> limit;
  for (StringRef name :
       {"zero_optimization.param_persistence_threshold",
        "zero_optimization.stage3_param_persistence_threshold"})
    if (stage() != plan::ZeroStage::Parameters)
      ignore(name, "needs zero_optimization.stage 3");
    else if (auto elements = file.integer(name, 0, mostElements))
      limit = elements;
  if (stage() == plan::ZeroStage::Parameters)
    plan.zeroPersist = limit.value_or(100'000);
}

void Reader::degrees() {
  if (auto parts =
          file.integer("tensor_parallel.autotp_size", 0, plan::maxDegree);
      parts && *parts > 0)
    plan.tp = parts;
  if (auto stages = file.integer("pipeline.stages", 1, plan::maxDegree))
    plan.pp = stages;
  bool hasExperts = file.flag("expert_parallel.enabled", false);
  for (StringRef name : {"expert_parallel.autoep_size",
                         "expert_parallel.expert_tensor_parallel_size"})
    if (!hasExperts)
      ignore(name, "expert_parallel is off");
  if (hasExperts && !file.has("expert_parallel.autoep_size"))
    notes.noEffect("expert_parallel.enabled",
                   "needs expert_parallel.autoep_size");
  if (hasExperts) {
    plan.ep = file.integer("expert_parallel.autoep_size", 1, plan::maxDegree);
    plan.etp = file.integer("expert_parallel.expert_tensor_parallel_size", 1,
                            plan::maxDegree);
  }
  if (file.flag("activation_checkpointing.cpu_checkpointing", false))
    plan.offloadActivation = true;
}

void Reader::read() {
  batches();
  types();
  optimizer();
  zero();
  degrees();
}

Expected<std::vector<std::string>>
proteus::frameworks::readDeepSpeed(StringRef text, StringRef source,
                                   jobs::Job &job) {
  return readConfig<Reader>(frameworkOf("deepspeed"),
                            json::Document::parse(text, source), job);
}
