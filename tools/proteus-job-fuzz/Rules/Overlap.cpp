//===- Overlap.cpp - settings that never cost time ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

static bool hasShardedParameters(const JobCase &job) {
  return hasReplicas(job) && job.get("zero") == "3";
}

/// Returns true if no states are in shards. ZeRO has nothing to shard for sgd
/// in fp32, so its collectives would differ from those of adam.
static bool hasWholeStates(const JobCase &job) {
  return !hasReplicas(job) || job.get("zero") == "0";
}

/// Returns true if stages have one chunk, gradients are reduced once a step,
/// and weights stay on the device.
static bool reducesOnce(const JobCase &job) {
  return hasPlainStages(job) && job.get("offload-weight") != "true" &&
         (!hasReplicas(job) || job.get("zero") == "0" ||
          job.get("zero") == "1");
}

// Times within `anomaly`: an earlier end of one task can make others overlap.
static const FlagRule rows[] = {
    // Overlap hides communication. Both jobs have the same buckets. The first
    // rule leaves out interference, by which hidden communication slows
    // kernels.
    {"time-gradient-overlap",
     "--gradient-reduction after-backward --bucket-size 26214400 --overlap off",
     "--gradient-reduction overlapped --bucket-size 26214400 --overlap off",
     FlagRule::Time, anomaly, hasReplicas},
    {"time-gradient-interference",
     "--gradient-reduction after-backward --bucket-size 26214400",
     "--gradient-reduction overlapped --bucket-size 26214400", FlagRule::Time,
     anomaly, hasReplicas},
    {"time-prefetch", "--prefetch 0", "--prefetch 1", FlagRule::Time, anomaly,
     hasShardedParameters},
    {"time-tensor-overlap", "--tp-overlap none", "--tp-overlap async",
     FlagRule::Time, anomaly, hasTensorRanks},
    // The gradients of weights fill the bubble; all other work is the same.
    // Elsewhere these kernels hide collectives of tensor parallelism,
    // reductions of gradients and fetches of weights, so the first rule leaves
    // out all three.
    {"time-zero-bubble",
     "--schedule 1f1b --overlap off --tp-overlap none --gradient-reduction "
     "after-backward",
     "--schedule zero-bubble --overlap off --tp-overlap none "
     "--gradient-reduction after-backward",
     FlagRule::Time, anomaly, reducesOnce},
    {"time-zero-bubble-overlap", "--schedule 1f1b", "--schedule zero-bubble",
     FlagRule::Time, anomaly, hasPlainStages},
    // Less work. The rules leave out activations in host memory: their copies
    // may take longer than their recomputation.
    {"time-recompute", "--recompute full", "--recompute none", FlagRule::Time,
     anomaly, keepsActivations},
    {"time-selective", "--recompute full", "--recompute selective",
     FlagRule::Time, anomaly, keepsActivations},
    {"time-sgd", "--optimizer adam", "--optimizer sgd", FlagRule::Time, anomaly,
     hasWholeStates},
    // Fewer copies between host and device.
    {"time-offload-state", "--offload-state", "--offload-state=false",
     FlagRule::Time, anomaly},
    {"time-offload-weight", "--offload-weight", "--offload-weight=false",
     FlagRule::Time, anomaly},
    {"time-offload-activation", "--offload-activation",
     "--offload-activation=false", FlagRule::Time, anomaly},
    // Less time of the host.
    {"time-graphs", "--cuda-graphs=false", "--cuda-graphs", FlagRule::Time,
     anomaly},
    {"time-gap", "--step-gap-us 1000", "--step-gap-us 0", FlagRule::Time, 0},
    // No mutual slowdown of flows, or of kernels and communication.
    {"time-share", "--share on", "--share off", FlagRule::Time, anomaly},
    {"time-interference", "--overlap on", "--overlap off", FlagRule::Time,
     anomaly},
};

/// Kernels that run during messages hide them. Messages slow these kernels,
/// which may cost more than it hides where messages are short, so the rule
/// leaves out the time by which kernels take longer.
static Rule messageOverlap() {
  Rule rule = makeRule({"time-message-overlap", "--p2p-overlap=false",
                        "--p2p-overlap", FlagRule::Time, anomaly, hasStages});
  rule.compare = [](const Evaluated &base, const Evaluated &variant) {
    return compareTimesWithout(Kernels::All, base, variant, anomaly);
  };
  return rule;
}

/// Twice the replicas with the same work each: every kernel is the same, and
/// gradients are summed over more devices. Does not apply if more replicas also
/// mean less work or memory per replica.
static Rule doubledReplicas() {
  Rule rule;
  rule.name = "time-replicas";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    int64_t gpus = job.getInteger("gpus", 0), replicas = job.getReplicas();
    if (gpus == 0 || replicas == 0 || job.has("place-tables") ||
        job.get("fidelity") == "paper" ||
        (job.has("zero") && job.get("zero") != "0"))
      return std::nullopt;
    Pair pair;
    // ZeRO of the stack would shard over more replicas.
    pair.variant = job.with("zero", "0");
    pair.base = pair.variant.with("gpus", std::to_string(2 * gpus));
    if (job.has("dp"))
      pair.base.set("dp", std::to_string(2 * replicas));
    if (int64_t batch = job.getInteger("global-batch", 0))
      pair.base.set("global-batch", std::to_string(2 * batch));
    return pair;
  };
  rule.compare = [](const Evaluated &base, const Evaluated &variant) {
    return compareTimes(base, variant, anomaly);
  };
  return rule;
}

/// Half of the micro-batches: each stage does a part of the same work.
static Rule halvedMicroBatches() {
  Rule rule;
  rule.name = "time-micro-batches";
  rule.derive = [](const JobCase &job, StringRef) -> std::optional<Pair> {
    int64_t number = job.getInteger("accumulation", 0);
    if (number == 0 || job.has("global-batch") ||
        job.get("fidelity") == "paper")
      return std::nullopt;
    return Pair{job.with("accumulation", std::to_string(2 * number)), job};
  };
  rule.compare = [](const Evaluated &base, const Evaluated &variant) {
    return compareTimes(base, variant, anomaly);
  };
  return rule;
}

void proteus::fuzz::addOverlapRules(std::vector<Rule> &list) {
  for (const FlagRule &row : rows)
    list.push_back(makeRule(row));
  list.push_back(messageOverlap());
  list.push_back(doubledReplicas());
  list.push_back(halvedMicroBatches());
}
