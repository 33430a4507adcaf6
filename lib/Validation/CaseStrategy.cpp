//===- CaseStrategy.cpp - strategies of measured runs ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::validation;
using plan::ParallelPlan;

static bool isTrue(const json::Reader &object, StringRef key) {
  return hasValue(object, key) && object[key].boolean();
}

/// Returns the value of `key` in lower case, or "none" if the case does not
/// state it. A boolean becomes "true" or "false".
static std::string wordsOf(const json::Reader &object, StringRef key) {
  if (!hasValue(object, key))
    return "none";
  std::string text = object[key].text();
  if (text == "true" || text == "false")
    return text;
  return StringRef(object[key].string()).lower();
}

/// Sets the precision from words such as fp16, bf16, amp_bf16, TF32, AMP,
/// FP32+XLA, mxfp8 or bfloat16. The words "fp32 grad" set the type of gradients
/// in addition.
static Error setPrecision(const json::Reader &s, const json::Reader &hardware,
                          Job &job, CaseNotes &notes) {
  if (!hasValue(s, "precision")) {
    // These devices have matrix units for fp16, but none for bf16, the default.
    std::string gpu = hardware["gpu"].string();
    if (any_of(ArrayRef<StringRef>{"V100", "T4", "TITAN V", "2080"},
               [&](StringRef chip) { return StringRef(gpu).contains(chip); }))
      job.precision = plan::Precision::FP16;
    else
      job.precision = jobs::Job::defaultPrecision;
    notes.assumed.push_back("the precision is not stated: it is " +
                            plan::stringifyPrecision(*job.precision).str());
    return Error::success();
  }
  std::string words = s["precision"].string();
  std::string lower = StringRef(words).lower();
  StringRef text = lower;
  auto contains = [&](std::initializer_list<StringRef> names) {
    return any_of(names, [&](StringRef name) { return text.contains(name); });
  };
  if (contains({"fp8", "float8"}))
    job.precision = plan::Precision::FP8;
  else if (contains({"bf16", "bfloat16"}))
    job.precision = plan::Precision::BF16;
  else if (contains({"tf32"}))
    job.precision = plan::Precision::TF32;
  else if (contains({"fp16", "float16", "f16", "half", "amp", "mixed"}))
    job.precision = plan::Precision::FP16;
  else if (contains({"fp32", "float32", "f32", "single"}))
    job.precision = plan::Precision::FP32;
  else
    return createStringError("precision '" + words + "' is not known");
  if (text.contains("fp32 grad"))
    job.gradientType = "f32";
  return Error::success();
}

/// Sets the schedule from words such as "1f1b", "1F1B (DeepSpeed pipe)",
/// "interleaved 1F1B" or "AFAB". If a stage has several chunks, 1f1b becomes
/// interleaved.
static Error setSchedule(const json::Reader &s, ParallelPlan &plan,
                         CaseNotes &notes) {
  std::string words = wordsOf(s, "schedule");
  StringRef order = words;
  auto contains = [&](std::initializer_list<StringRef> names) {
    return any_of(names, [&](StringRef name) { return order.contains(name); });
  };
  // Without pipeline parallelism, schedule and chunks have no effect.
  if (plan.pp.value_or(1) == 1) {
    plan.virtualStages.reset();
    return Error::success();
  }
  if (contains({"interleav"}) && plan.virtualStages.value_or(1) == 1)
    notes.assumed.push_back("the number of chunks of the interleaved schedule "
                            "is not stated: it is 1, so the schedule is 1f1b");
  else if (contains({"interleav"}))
    plan.schedule = plan::ScheduleOrder::Interleaved;
  else if (contains({"zero-bubble", "zero bubble", "zb-h", "zb1p"}))
    plan.schedule = plan::ScheduleOrder::ZeroBubble;
  else if (contains({"gpipe", "afab", "all-forward-all-backward"}))
    plan.schedule = plan::ScheduleOrder::GPipe;
  else if (contains({"1f1b", "pipedream-flush", "pipedream flush"}))
    plan.schedule = plan::ScheduleOrder::OneForwardOneBackward;
  else if (order != "none")
    return createStringError("schedule '" + words + "' is not known");
  if (plan.virtualStages.value_or(1) > 1 &&
      plan.schedule.value_or(plan::ScheduleOrder::OneForwardOneBackward) ==
          plan::ScheduleOrder::OneForwardOneBackward)
    plan.schedule = plan::ScheduleOrder::Interleaved;
  return Error::success();
}

/// Sets the recomputation from words such as "full", "selective", "none
/// (default; flash-attention)" or true.
static Error setRecompute(const json::Reader &s, ParallelPlan &plan,
                          CaseNotes &notes) {
  std::string words = wordsOf(s, "recompute");
  // If the case states nothing, assume that nothing is recomputed. Jobs on one
  // device or with plain data parallelism usually recompute nothing, so note
  // the assumption only for other jobs.
  plan::ResolvedPlan job = plan::resolve(plan);
  if (!hasValue(s, "recompute") &&
      (job.tp * job.pp > 1 || job.zero != plan::ZeroStage::None))
    notes.assumed.push_back(
        "the recomputation is not stated: nothing is recomputed");
  StringRef text = words;
  auto startsWith = [&](std::initializer_list<StringRef> names) {
    return any_of(names,
                  [&](StringRef name) { return text.starts_with(name); });
  };
  if (startsWith({"none", "no", "false", "off"}))
    plan.recompute = plan::Recompute::None;
  else if (startsWith({"selective"}))
    plan.recompute = plan::Recompute::Selective;
  else if (startsWith({"full", "true", "yes", "on", "uniform", "block",
                       "checkpoint", "activation checkpoint"}))
    plan.recompute = plan::Recompute::Full;
  else
    return createStringError("recompute '" + words +
                             "' is not known: full, selective or none");
  return Error::success();
}

/// Sets the ZeRO stage: from the number under `zero`, or if the case does not
/// state it, from the terms of FSDP and Megatron-LM. Sets the ZeRO group if the
/// case states it. With hybrid sharding of FSDP, the group is otherwise one
/// node.
static Error setZero(const json::Reader &s, const json::Reader &hardware,
                     ParallelPlan &plan, CaseNotes &notes) {
  std::string fsdp = wordsOf(s, "fsdp");
  StringRef shards = fsdp;
  if (shards.contains("full_shard") || shards.contains("hybrid") ||
      shards == "true")
    plan.zero = plan::ZeroStage::Parameters;
  else if (shards.contains("shard_grad_op"))
    plan.zero = plan::ZeroStage::Gradients;
  else if (shards != "none" && shards != "false" &&
           !shards.contains("no_shard"))
    return createStringError(
        "fsdp '" + fsdp +
        "' is not known: FULL_SHARD, HYBRID_SHARD, SHARD_GRAD_OP or NO_SHARD");
  else if (isTrue(s, "distributed_optimizer"))
    plan.zero = plan::ZeroStage::States;
  else if (isTrue(s, "overlap_param_gather") && !hasValue(s, "zero")) {
    plan.zero = plan::ZeroStage::States;
    notes.assumed.push_back("ZeRO 1, because parameters are gathered");
  }
  // Hybrid sharding of FSDP shards within a node and replicates across nodes.
  if (shards.contains("hybrid") && hasValue(hardware, "gpus_per_node"))
    plan.zeroGroup = countOf(hardware, "gpus_per_node");
  if (std::optional<int64_t> stage = countOf(s, "zero", 0, 3))
    plan.zero = static_cast<plan::ZeroStage>(*stage);
  // A text such as "all dp ranks" selects the default group.
  if (hasValue(s, "zero_group") && !s["zero_group"].isString())
    plan.zeroGroup = countOf(s, "zero_group");
  return Error::success();
}

int64_t proteus::validation::gpusOfCase(const json::Reader &s,
                                        const json::Reader &hardware) {
  constexpr int64_t most = 1'000'000;
  if (hasValue(hardware, "gpus"))
    return hardware["gpus"].integer(1, most);
  int64_t gpus = 1;
  for (StringRef key : {"dp", "tp", "pp", "cp"})
    gpus *= std::min(countOf(s, key).value_or(1), most / gpus);
  return gpus;
}

/// Returns the number of devices of one replica of the model, tp * pp * cp.
/// Returns 0 if it exceeds a million, to avoid overflow. Such degrees are
/// rejected when the job runs.
static int64_t devicesOfReplica(const plan::ResolvedPlan &plan) {
  constexpr int64_t most = 1'000'000;
  int64_t devices = 1;
  for (int64_t degree : {plan.tp, plan.pp, plan.cp}) {
    if (degree > most / devices)
      return 0;
    devices *= degree;
  }
  return devices;
}

/// Corrects dp if the case states it multiplied by cp, or if it states the
/// number of copies of an expert as dp. The number of GPUs shows this. For
/// example, 64 GPUs with tp=2, pp=1 and cp=4 have dp=8, so a stated dp=32
/// includes cp.
static void settleReplicas(Job &job, CaseNotes &notes) {
  ParallelPlan &plan = job.plan;
  plan::ResolvedPlan resolved = plan::resolve(plan);
  int64_t inner = devicesOfReplica(resolved);
  if (!plan.dp || inner == 0 || *job.gpus % inner != 0)
    return;
  int64_t dp = *job.gpus / inner;
  if (*plan.dp == dp)
    return;
  if (resolved.cp > 1 && *plan.dp == dp * resolved.cp) {
    plan.dp = dp;
    notes.assumed.push_back(
        "cp is a part of dp, because of the number of GPUs");
  } else if (resolved.ep > 1 && dp % resolved.ep == 0 &&
             *plan.dp == dp / resolved.ep) {
    plan.dp = dp;
    notes.assumed.push_back(
        "dp is that of experts, because of the number of GPUs");
  }
}

/// Sets etp to 1 if the stated ep includes tp. With etp=1, each device of a
/// tensor-parallel group holds whole experts. ep includes tp if ep does not
/// divide dp, but ep / tp does: for example dp=4, ep=8 and tp=2.
static void settleExperts(Job &job, CaseNotes &notes) {
  plan::ResolvedPlan plan = plan::resolve(job.plan);
  int64_t inner = devicesOfReplica(plan);
  if (plan.etp || plan.tp == 1 || inner == 0)
    return;
  int64_t dp = *job.gpus / inner, replicas = plan.ep / plan.tp;
  if (dp % plan.ep == 0 || plan.ep % plan.tp != 0 || dp % replicas != 0)
    return;
  job.plan.etp = 1;
  notes.assumed.push_back("experts are whole (etp is 1), because of ep");
}

/// Sets the degrees of the plan. If the case does not state dp, dp stays open
/// and is computed from the number of devices when the job runs.
static void setDegrees(const json::Reader &s, const json::Reader &hardware,
                       Job &job, CaseNotes &notes) {
  ParallelPlan &plan = job.plan;
  // Leave degrees of 1 open. They are the default, and cases state them only
  // for completeness.
  auto degree = [&](StringRef key) -> std::optional<int64_t> {
    int64_t value = countOf(s, key).value_or(1);
    return value == 1 ? std::nullopt : std::optional(value);
  };
  job.gpus = gpusOfCase(s, hardware);
  plan.tp = degree("tp");
  plan.pp = degree("pp");
  plan.cp = degree("cp");
  plan.ep = degree("ep");
  plan.etp = countOf(s, "etp");
  plan.virtualStages = degree("vpp");
  plan.dp = countOf(s, "dp");
  settleReplicas(job, notes);
  settleExperts(job, notes);
}

/// Sets the micro-batch and either the global batch or the accumulation.
static Error setBatches(const json::Reader &s, Job &job, CaseNotes &notes) {
  ParallelPlan &plan = job.plan;
  std::optional<int64_t> micro = countOf(s, "micro_batch");
  std::optional<int64_t> steps = countOf(s, "num_microbatches");
  if (!steps)
    steps = countOf(s, "grad_accum");
  job.globalBatch = countOf(s, "global_batch");
  plan::ResolvedPlan resolved = plan::resolve(plan);
  int64_t dp = plan.dp.value_or(std::max<int64_t>(
      1, *job.gpus / resolved.tp / resolved.pp / resolved.cp));
  if (!micro && !steps && job.globalBatch &&
      (resolved.pp > 1 || resolved.tp > 1)) {
    micro = 1;
    notes.assumed.push_back("the micro-batch is not stated: it is 1");
  }
  if (!micro && job.globalBatch)
    micro = *job.globalBatch / dp / steps.value_or(1);
  if (!micro || *micro == 0)
    return createStringError("the size of a micro-batch is not stated");
  plan.microBatch = *micro;
  if (job.globalBatch)
    return Error::success();
  plan.accumulation = steps.value_or(1);
  if (!steps)
    notes.assumed.push_back("only the micro-batch is stated: a step has one");
  return Error::success();
}

/// Sets the kind of communication of context parallelism from the terms of
/// Megatron-LM, such as "p2p" or "a2a".
static Error setContext(const json::Reader &s, ParallelPlan &plan,
                        CaseNotes &notes) {
  if (plan.cp.value_or(1) == 1)
    return Error::success();
  std::string words = wordsOf(s, "cp_comm_type");
  StringRef kind = words;
  plan.contextKind = plan::ContextKind::Ring;
  if (kind == "none")
    notes.assumed.push_back("the communication of cp is not stated: parts of "
                            "sequences go round in a ring");
  else if (kind == "a2a" || kind == "all-to-all" || kind == "ulysses")
    plan.contextKind = plan::ContextKind::Ulysses;
  else if (kind == "all_gather" || kind == "allgather" || kind == "all-gather")
    plan.contextKind = plan::ContextKind::AllGather;
  else if (kind != "p2p" && kind != "ring")
    return createStringError("cp_comm_type '" + words +
                             "' is not known: p2p, a2a or all_gather");
  return Error::success();
}

/// Notes each key of the strategy that has no effect on the job.
static void noteUnused(const json::Reader &s, CaseNotes &notes) {
  static constexpr StringRef used[] = {"dp",
                                       "tp",
                                       "pp",
                                       "vpp",
                                       "cp",
                                       "ep",
                                       "etp",
                                       "zero",
                                       "zero_group",
                                       "fsdp",
                                       "distributed_optimizer",
                                       "sequence_parallel",
                                       "micro_batch",
                                       "num_microbatches",
                                       "grad_accum",
                                       "global_batch",
                                       "recompute",
                                       "schedule",
                                       "precision",
                                       "framework",
                                       "overlap_grad_reduce",
                                       "overlap_param_gather",
                                       "p2p_overlap",
                                       "tp_comm_overlap",
                                       "tensor_overlap",
                                       "scatter_messages",
                                       "stage_partition",
                                       "cpu_offload",
                                       "variable_update",
                                       "optimizer",
                                       "strategy",
                                       "ddp_bucket_mb",
                                       "cp_comm_type",
                                       "cuda_graphs"};
  for (const auto &[key, value] : s.members())
    if (!is_contained(used, key))
      notes.assumed.push_back("'" + key + "' of the strategy changes nothing");
}

/// Sets the field of the plan that has `key` as its `caseKey`, if the case
/// states it.
static Error setField(const json::Reader &s, StringRef key,
                      ParallelPlan &plan) {
  if (!hasValue(s, key))
    return Error::success();
  const plan::Field *field = find_if(
      plan::fields(), [&](const auto &field) { return field.caseKey == key; });
  assert(field != plan::fields().end() && "not a key of a case");
  if (field->kind == plan::Field::Kind::Switch)
    return field->set(plan, isTrue(s, key) ? "true" : "false");
  std::string word = s[key].string();
  if (Error error = field->set(plan, word)) {
    consumeError(std::move(error));
    return createStringError(key + " '" + word + "' is not known: " +
                             join(ArrayRef(field->words).drop_back(), ", ") +
                             " or " + field->words.back());
  }
  return Error::success();
}

Error proteus::validation::strategyOfCase(const json::Reader &s,
                                          const json::Reader &hardware,
                                          Job &job, CaseNotes &notes) {
  ParallelPlan &plan = job.plan;
  noteUnused(s, notes);
  setDegrees(s, hardware, job, notes);
  if (isTrue(s, "sequence_parallel") && plan.tp.value_or(1) > 1)
    plan.sequenceParallel = true;
  if (Error error = setContext(s, plan, notes))
    return error;
  if (Error error = setBatches(s, job, notes))
    return error;
  if (Error error = setZero(s, hardware, plan, notes))
    return error;
  if (Error error = setRecompute(s, plan, notes))
    return error;
  if (Error error = setSchedule(s, plan, notes))
    return error;
  if (Error error = setPrecision(s, hardware, job, notes))
    return error;
  if (std::optional<double> bucket = numberOf(s, "ddp_bucket_mb"))
    plan.bucketSize = static_cast<int64_t>(*bucket * 1024 * 1024);
  // Without `tp_comm_overlap`, the field stays open: `tensor_overlap` of the
  // case or the stack decides it.
  if (isTrue(s, "tp_comm_overlap"))
    plan.tensorOverlap = plan::TensorOverlap::Chunked;
  if (hasValue(s, "overlap_grad_reduce"))
    plan.gradientReduction = isTrue(s, "overlap_grad_reduce")
                                 ? plan::GradientReduction::Overlapped
                                 : plan::GradientReduction::AfterBackward;
  for (StringRef key : {"overlap_param_gather", "p2p_overlap", "tensor_overlap",
                        "scatter_messages", "stage_partition"})
    if (Error error = setField(s, key, plan))
      return error;
  if (isTrue(s, "cpu_offload"))
    plan.offloadWeight = plan.offloadState = true;
  if (hasValue(s, "variable_update") &&
      StringRef(s["variable_update"].string())
          .starts_with("parameter_server") &&
      plan.dp.value_or(*job.gpus) > 1)
    return createStringError("parameter servers are not modelled");
  if (hasValue(s, "optimizer") && s["optimizer"].string() == "sgd")
    job.optimizer = plan::Optimizer::SGD;
  if (hasValue(s, "strategy") &&
      StringRef(s["strategy"].string()).contains("table-wise"))
    plan.placeTables = true;
  return Error::success();
}
