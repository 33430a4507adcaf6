//===- Job.cpp - a training job, as a user states it ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Job.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus::driver;

/// More is a slip, and products of a few stay countable.
static constexpr int64_t maxDegree = 10'000'000, maxBatch = 1'000'000'000;

/// A switch that the stack decides unless it is given.
static void orAsTheStack(Flags &flags, StringRef name, const Twine &help,
                         std::optional<bool> &target,
                         ArrayRef<StringRef> aliases = {}) {
  flags.decision(name, (help + " (default: as the stack does)").str(), target,
                 aliases);
}

void proteus::driver::addStrategyFlags(Flags &flags, Strategy &s) {
  flags.section("parallelism");
  flags.integer("tp", "tensor parallel degree", s.tp, 1, maxDegree,
                {"tensor-model-parallel-size"});
  flags.integer("pp", "pipeline stages", s.pp, 1, maxDegree,
                {"pipeline-model-parallel-size"});
  flags.integer("cp", "context parallel degree: parts of a sequence", s.cp, 1,
                maxDegree, {"context-parallel-size"});
  flags.integer("ep", "expert parallel degree, part of the data parallel one",
                s.ep, 1, maxDegree, {"expert-model-parallel-size"});
  flags.integer("etp",
                "parts of an expert: tp, or 1: whole experts on the devices of "
                "tp too, which ep counts then (default: tp)",
                s.etp, 1, maxDegree, {"expert-tensor-parallel-size"});
  flags.integer("dp", "data parallel degree (default: GPUs / (tp * pp * cp))",
                s.dp, 1, maxDegree, {"data-parallel-size"});
  flags.flag("sequence-parallel",
             "split what tp does not split along the sequence",
             s.sequenceParallel, {"sp"});
  flags.choice("cp-kind", "how attention gets at other parts of a sequence",
               s.contextKind, {"all-gather", "ring", "ulysses"});
  flags.integer("zero", "ZeRO stage: 0, 1, 2 or 3", s.zero, 0, 3,
                {"zero-stage"});
  flags.integer(
      "zero-group",
      "data-parallel neighbours over which ZeRO splits (default: all)",
      s.zeroGroup, 1, maxDegree);
  flags.action("use-distributed-optimizer", "the same as --zero 1",
               [&s] { s.zero = std::max<int64_t>(s.zero, 1); });
  flags.flag("place-tables",
             "whole embedding tables on single data-parallel devices",
             s.placeTables);
  flags.integer("prefetch", "layers ahead for which ZeRO-3 gathers parameters",
                s.prefetch, 0, maxDegree);
  flags.flag("reshard-after-forward",
             "ZeRO-3 gathers parameters again for the backward pass",
             s.reshardAfterForward);

  flags.section("schedule and memory");
  flags.integer("micro-batch", "samples of a micro-batch", s.microBatch, 1,
                maxBatch, {"micro-batch-size"});
  flags.integer("accumulation", "micro-batches per step", s.accumulation, 1,
                maxBatch, {"gradient-accumulation-steps", "num-microbatches"});
  flags.integer("vpp", "chunks of layers per stage (interleaved)",
                s.virtualStages, 1, maxDegree, {"virtual-stages"});
  flags.choice("schedule", "order of micro-batches", s.schedule,
               {"1f1b", "gpipe", "interleaved", "zero-bubble"});
  flags.choice("recompute", "what the backward pass recomputes", s.recompute,
               {"none", "selective", "full"}, {"recompute-granularity"});
  flags.flag("offload-weight", "parameters in host memory", s.offloadWeight);
  flags.flag("offload-state", "optimizer states in host memory", s.offloadState,
             {"optimizer-cpu-offload"});
  flags.flag("offload-activation", "saved activations in host memory",
             s.offloadActivation);
  orAsTheStack(flags, "overlap-grad-reduce",
               "reduce gradients during the backward pass", s.overlapGradients);
  flags.choice("bucket-rule",
               "how gradients fill buckets (default: as the stack does)",
               s.bucketRule, {"ddp", "fsdp", "megatron", "deepspeed"});
  orAsTheStack(flags, "keep-gathered",
               "keep activations gathered between forward and backward pass",
               s.keepGathered);
  flags.choice("stage-partition",
               "what stages have: equally many layers; the same, with both "
               "ends of the model as a layer each; that where it divides; "
               "equally much work (default: as the stack does)",
               s.stagePartition, {"layers", "ends", "divisible", "work"});
  flags.integer("bucket-size", "bytes of a gradient bucket", s.bucketSize, 1,
                int64_t(1) << 40);
  flags.integer("first-bucket-size", "bytes of the first one",
                s.firstBucketSize, 1, int64_t(1) << 40);
  orAsTheStack(flags, "zero-all-reduce",
               "with ZeRO 1, sum whole gradients behind the backward pass and "
               "take a part",
               s.allReduceGradients);
  orAsTheStack(flags, "overlap-param-gather",
               "gather updated parameters during the next forward pass",
               s.overlapParameters);
  flags.choice("tp-overlap",
               "what runs beside collectives between kernels: nothing, kernels "
               "that do not wait, or also chunks of products (default: as the "
               "stack does)",
               s.tensorOverlap, {"none", "async", "chunked"});
  flags.action("tp-comm-overlap", "the same as --tp-overlap chunked",
               [&s] { s.tensorOverlap = "chunked"; });
  flags.integer("tp-overlap-chunks", "chunks of a product (default: 4)",
                s.overlapChunks, 2, 1024);
  orAsTheStack(flags, "p2p-overlap", "run kernels beside messages of stages",
               s.overlapMessages, {"overlap-p2p-communication"});
  orAsTheStack(flags, "p2p-scatter",
               "send slices to other stages where that is cheaper",
               s.scatterMessages, {"scatter-gather-tensors-in-pipeline"});
}

/// A positive number.
static void factor(Flags &flags, StringRef name, StringRef help,
                   std::optional<double> &target,
                   ArrayRef<StringRef> aliases = {}) {
  flags.value(
      name, "F", help,
      [&target](StringRef text) -> Error {
        double number = 0;
        if (text.getAsDouble(number) || !(number > 0 && number <= 1000))
          return createStringError("expected a number above 0 and up to 1000, "
                                   "got '" +
                                   text + "'");
        target = number;
        return Error::success();
      },
      aliases);
}

void proteus::driver::addModelFlags(Flags &flags, Job &job) {
  flags.section("model");
  flags.text("model", "NAME|FILE",
             "preset (see `proteus list models`), Hugging Face config.json, "
             "model file, or .mlir",
             job.model);
  flags.value("set", "NAME=VALUE", "another dimension: --set layers=4",
              [&job](StringRef text) -> Error {
                if (!text.contains('='))
                  return createStringError("expected NAME=VALUE, got '" + text +
                                           "'");
                job.overrides.push_back(text.str());
                return Error::success();
              });
  flags.integer("seq", "tokens of a sequence", job.seq, 1, maxBatch,
                {"seq-length"});
  flags.integer("mean-tokens",
                "tokens that a sequence holds on average, for stacks that "
                "batch samples by length (default: it is full)",
                job.meanTokens, 1, maxBatch);
  for (auto [name, dimension] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"num-layers", "layers"},
           {"hidden-size", "hidden"},
           {"ffn-hidden-size", "ffn"},
           {"num-attention-heads", "heads"},
           {"num-query-groups", "kv_heads"},
           {"num-experts", "experts"},
           {"moe-router-topk", "topk"},
           {"vocab-size", "vocab"}})
    flags.value(name, "N", ("the same as --set " + dimension + "=N").str(),
                [&job, dimension = dimension.str()](StringRef text) -> Error {
                  job.overrides.push_back(dimension + "=" + text.str());
                  return Error::success();
                });
  flags.choice("precision",
               "of parameters and activations; fp8: bf16, and linear "
               "operations of layers in fp8",
               job.precision, {"bf16", "fp16", "fp32", "tf32", "fp8"});
  flags.action("bf16", "the same as --precision bf16",
               [&job] { job.precision = "bf16"; });
  flags.action("fp16", "the same as --precision fp16",
               [&job] { job.precision = "fp16"; });
  flags.choice("optimizer", "what updates parameters", job.optimizer,
               {"adam", "sgd", "momentum"});

  factor(flags, "expert-balance",
         "tokens of the fullest expert, as a multiple of the mean",
         job.expertBalance);
  factor(
      flags, "expert-capacity",
      "tokens that an expert has room for, as a multiple of the mean; others "
      "are dropped",
      job.expertCapacity, {"moe-expert-capacity-factor"});
  flags.flag("pad-experts", "room that is left is computed too", job.padExperts,
             {"moe-pad-expert-input-to-capacity"});

  flags.section("cluster");
  flags.text(
      "cluster", "NAME|FILE",
      "preset (see `proteus list clusters`), NAME:NODES, or cluster file",
      job.cluster);
  flags.integer("gpus", "devices (default: those of the cluster)", job.gpus, 1,
                maxDegree, {"world-size"});
  flags.integer("global-batch", "samples of a step", job.globalBatch, 1,
                maxBatch, {"global-batch-size"});

  flags.section("software and place");
  flags.text("stack", "NAME|FILE",
             "software stack (see `proteus list stacks`), or none", job.stack,
             {"framework"});
  flags.flag("cuda-graphs", "steps are CUDA graphs: no host time per kernel",
             job.cudaGraphs);
  flags.integer("step-gap-us",
                "time between two steps: data loading, logging (default: as "
                "the stack says)",
                job.stepGap, 0, int64_t(1) << 40);
  flags.text("site", "NAME|FILE", "place (see `proteus list sites`)", job.site);

  flags.section("what is modelled");
  flags.choice("fidelity", "our rules and costs, or those of the paper",
               job.fidelity, {"flow", "paper"});
  flags.choice("fold", "what is simulated once; changes no figure", job.fold,
               {"none", "ranks", "all"});
  flags.choice("kernels", "fitted models, or the peak rates of the datasheet",
               job.kernels, {"fitted", "roofline"});
  flags.value("profile", "FILE",
              "measured kernels (docs/profiles.md); may be given again",
              [&job](StringRef file) -> Error {
                job.profiles.push_back(file.str());
                return Error::success();
              });
  flags.choice("share", "flows share links", job.share, {"on", "off"});
  flags.choice("overlap", "kernels and communication slow each other",
               job.overlap, {"on", "off"});
}

Error proteus::driver::parseStrategy(StringRef text, Strategy &strategy) {
  Flags flags;
  addStrategyFlags(flags, strategy);
  std::vector<std::string> arguments;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    arguments.push_back((word.starts_with("--") ? "" : "--") + word.str());
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return createStringError("in the strategy '" + text +
                             "': " + toString(rest.takeError()));
  return Error::success();
}

std::string Strategy::text() const {
  Strategy plain;
  std::string result;
  auto add = [&](StringRef name, const Twine &value) {
    result += (result.empty() ? "" : " ") + (name + "=" + value).str();
  };
  auto number = [&](StringRef name, int64_t value, int64_t usual) {
    if (value != usual)
      add(name, Twine(value));
  };
  if (dp)
    add("dp", Twine(*dp));
  number("tp", tp, 1);
  number("pp", pp, 1);
  number("cp", cp, 1);
  number("ep", ep, 1);
  if (etp)
    add("etp", Twine(*etp));
  number("vpp", virtualStages, 1);
  if (sequenceParallel)
    add("sequence-parallel", "true");
  number("zero", zero, 0);
  if (zeroGroup)
    add("zero-group", Twine(*zeroGroup));
  if (!bucketRule.empty())
    add("bucket-rule", bucketRule);
  if (!tensorOverlap.empty())
    add("tp-overlap", tensorOverlap);
  if (overlapChunks)
    add("tp-overlap-chunks", Twine(*overlapChunks));
  auto chosen = [&](StringRef name, std::optional<bool> value) {
    if (value)
      add(name, *value ? "true" : "false");
  };
  chosen("overlap-grad-reduce", overlapGradients);
  chosen("zero-all-reduce", allReduceGradients);
  chosen("overlap-param-gather", overlapParameters);
  chosen("p2p-overlap", overlapMessages);
  chosen("p2p-scatter", scatterMessages);
  number("micro-batch", microBatch, 1);
  if (schedule != plain.schedule)
    add("schedule", schedule);
  if (recompute != plain.recompute)
    add("recompute", recompute);
  if (contextKind != plain.contextKind)
    add("cp-kind", contextKind);
  if (placeTables)
    add("place-tables", "true");
  if (offloadWeight)
    add("offload-weight", "true");
  if (offloadState)
    add("offload-state", "true");
  if (offloadActivation)
    add("offload-activation", "true");
  return result.empty() ? "one device" : result;
}

Expected<Sizes> proteus::driver::sizesOf(const Job &job,
                                         std::optional<int64_t> clusterGPUs) {
  const Strategy &s = job.strategy;
  Sizes sizes;
  int64_t inner = s.tp * s.pp * s.cp;
  // Degrees are bounded, but not their product.
  if (s.tp > maxDegree / s.pp || s.tp * s.pp > maxDegree / s.cp)
    return createStringError("tp * pp * cp is more than " + Twine(maxDegree) +
                             " devices; choose smaller degrees");
  if (job.gpus)
    sizes.gpus = *job.gpus;
  else if (s.dp)
    sizes.gpus = *s.dp > maxDegree / inner ? maxDegree + 1 : *s.dp * inner;
  else
    sizes.gpus = clusterGPUs.value_or(inner);
  if (sizes.gpus > maxDegree)
    return createStringError("tp * pp * cp * dp is more than " +
                             Twine(maxDegree) +
                             " devices; choose smaller degrees");
  std::string degrees = "tp * pp * cp = " + std::to_string(s.tp) + " * " +
                        std::to_string(s.pp) + " * " + std::to_string(s.cp) +
                        " = " + std::to_string(inner);
  if (sizes.gpus % inner != 0) {
    int64_t below = sizes.gpus / inner * inner;
    return createStringError(degrees + " does not divide the " +
                             Twine(sizes.gpus) + " GPUs; use --gpus " +
                             (below ? Twine(below) + " or " : Twine("")) +
                             Twine(below + inner) + ", or other degrees");
  }
  sizes.dp = sizes.gpus / inner;
  if (s.dp && *s.dp != sizes.dp)
    return createStringError(degrees + " leaves dp = " + Twine(sizes.dp) +
                             " of the " + Twine(sizes.gpus) +
                             " GPUs, but --dp is " + Twine(*s.dp) +
                             "; leave --dp or --gpus out");
  if (s.etp && *s.etp != 1 && *s.etp != s.tp)
    return createStringError("etp = " + Twine(*s.etp) +
                             ": an expert is cut into tp = " + Twine(s.tp) +
                             " parts or left whole; use --etp 1, or leave it "
                             "out");
  if (s.hasWholeExperts() && s.ep % s.tp != 0)
    return createStringError("ep = " + Twine(s.ep) +
                             " counts the devices of tp too where etp is 1; "
                             "use a multiple of tp = " +
                             Twine(s.tp) + ", or leave --etp out");
  if (sizes.dp % s.expertReplicas() != 0)
    return createStringError(
        "ep = " + Twine(s.ep) +
        (s.hasWholeExperts() ? " / tp = " + std::to_string(s.expertReplicas())
                             : "") +
        " does not divide the data parallel degree " + Twine(sizes.dp) + " (" +
        Twine(sizes.gpus) + " GPUs / " + Twine(inner) + ")" +
        (s.hasWholeExperts() || s.tp == 1 || s.ep % s.tp != 0 ||
                 sizes.dp % (s.ep / s.tp) != 0
             ? ""
             : "; whole experts on the devices of tp are --etp 1"));
  if (s.virtualStages > 1 && s.pp == 1)
    return createStringError("--vpp " + Twine(s.virtualStages) +
                             " needs a pipeline: set --pp");

  int64_t perStep = s.microBatch * sizes.dp; // of one micro-batch
  if (!job.globalBatch) {
    sizes.microBatches = s.accumulation.value_or(1);
    if (perStep > maxBatch / sizes.microBatches)
      return createStringError("a step has more than " + Twine(maxBatch) +
                               " samples; choose a smaller micro-batch");
    sizes.globalBatch = perStep * sizes.microBatches;
    return sizes;
  }
  sizes.globalBatch = *job.globalBatch;
  if (sizes.globalBatch % perStep != 0) {
    int64_t below = sizes.globalBatch / perStep * perStep;
    return createStringError(
        "micro-batch * dp = " + Twine(s.microBatch) + " * " + Twine(sizes.dp) +
        " = " + Twine(perStep) + " does not divide the global batch of " +
        Twine(sizes.globalBatch) + "; use --global-batch " +
        (below ? Twine(below) + " or " : Twine("")) + Twine(below + perStep));
  }
  sizes.microBatches = sizes.globalBatch / perStep;
  if (s.accumulation && *s.accumulation != sizes.microBatches)
    return createStringError(
        "a global batch of " + Twine(sizes.globalBatch) + " makes " +
        Twine(sizes.microBatches) + " micro-batches of " + Twine(s.microBatch) +
        " samples on " + Twine(sizes.dp) +
        " data parallel ranks, but --accumulation is " +
        Twine(*s.accumulation) + "; leave one of them out");
  return sizes;
}
