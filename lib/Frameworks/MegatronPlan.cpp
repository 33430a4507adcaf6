//===- MegatronPlan.cpp - plans in the flags of Megatron-LM ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Megatron.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

namespace {
/// Reads the parallel decisions from the flags.
class Reader {
public:
  Reader(Arguments &arguments, Notes &notes, jobs::Job &job)
      : arguments(arguments), notes(notes), job(job), plan(job.plan) {}

  void read();

private:
  void flagsOfPlan();
  void batches();
  void pipeline();
  int64_t virtualStages(int64_t layers, int64_t stages);
  void context();
  void recomputation();
  void fullRecomputation();
  void selectiveRecomputation();
  void sharding();
  void fullSharding();
  void buckets();
  void overlap();
  void graphs();

  Arguments &arguments;
  Notes &notes;
  jobs::Job &job;
  plan::ParallelPlan &plan;
};
} // namespace

/// Sets the fields of the plan that have flags of the same names.
void Reader::flagsOfPlan() {
  for (const Setting *setting : arguments.stated()) {
    Error error = Error::success();
    if (const plan::Field *field = plan::findByFlag(setting->name)) {
      error =
          joinErrors(std::move(error),
                     field->set(plan, setting->kind == ValueKind::Flag
                                          ? "true"
                                          : *arguments.text(setting->name)));
    } else {
      for (const plan::Shorthand &shorthand : plan::shorthands())
        if (shorthand.flag == setting->name)
          error =
              joinErrors(std::move(error), shorthand.set(plan, /*value=*/true));
    }
    if (error)
      arguments.fail("--" + setting->name + ": " + toString(std::move(error)));
  }
}

void Reader::batches() {
  job.globalBatch = arguments.integer("global-batch-size", 1, plan::maxBatch);
  if (!job.globalBatch)
    notes.byDefault("one micro-batch per data-parallel rank");
}

//===----------------------------------------------------------------------===//
// Stages and sequences
//===----------------------------------------------------------------------===//

/// Returns the number of chunks per stage.
int64_t Reader::virtualStages(int64_t layers, int64_t stages) {
  bool statesLayers = arguments.has("num-layers-per-virtual-pipeline-stage");
  auto chunks = arguments.integer("num-virtual-stages-per-pipeline-rank", 1,
                                  plan::maxDegree);
  if (statesLayers && chunks) {
    arguments.fail("--num-layers-per-virtual-pipeline-stage and "
                   "--num-virtual-stages-per-pipeline-rank state the same; "
                   "leave one out");
    return 1;
  }
  auto perChunk = arguments.integer("num-layers-per-virtual-pipeline-stage", 1,
                                    plan::maxDegree);
  if (!perChunk)
    return chunks.value_or(1);
  int64_t perStage = layers / stages;
  if (perStage % *perChunk) {
    arguments.fail("the " + Twine(perStage) +
                   " layers of a stage are no multiple of "
                   "--num-layers-per-virtual-pipeline-stage " +
                   Twine(*perChunk));
    return 1;
  }
  return perStage / *perChunk;
}

void Reader::pipeline() {
  int64_t stages = plan.pp.value_or(1);
  bool countsEmbedding =
           arguments.has("account-for-embedding-in-pipeline-split"),
       countsLoss = arguments.has("account-for-loss-in-pipeline-split");
  int64_t layers = layersOf(arguments) + countsEmbedding + countsLoss;
  bool statesStages = arguments.has("pipeline-model-parallel-layout") ||
                      arguments.has("decoder-first-pipeline-num-layers") ||
                      arguments.has("decoder-last-pipeline-num-layers");
  if (layers % stages && !statesStages)
    return arguments.fail(
        "the " + Twine(layers) + " layers" +
        (countsEmbedding || countsLoss ? ", with embedding or head," : "") +
        " are no multiple of --pipeline-model-parallel-size " + Twine(stages));
  if (countsEmbedding && countsLoss)
    plan.stagePartition = plan::StagePartition::Ends;
  else if (countsEmbedding || countsLoss)
    notes.notModelled(countsLoss ? "--account-for-loss-in-pipeline-split"
                                 : "--account-for-embedding-in-pipeline-split",
                      "without the other of the two, all stages have equally "
                      "many layers");
  int64_t chunks = virtualStages(layers, stages);
  bool isOff = arguments.has("no-overlap-p2p-communication");
  if (chunks > 1) {
    plan.virtualStages = chunks;
    if (stages < (isOff ? 3 : 2))
      arguments.fail("chunks of layers (virtual stages) need "
                     "--pipeline-model-parallel-size " +
                     Twine(isOff ? 3 : 2) + " or more" +
                     (isOff ? " with --no-overlap-p2p-communication" : ""));
  }
  if (stages > 1)
    plan.overlapMessages = chunks > 1 && !isOff;
}

void Reader::context() {
  std::vector<std::string> kinds = arguments.list("cp-comm-type");
  if (plan.cp.value_or(1) == 1) {
    if (!kinds.empty())
      notes.noEffect("--cp-comm-type", "needs --context-parallel-size");
    return;
  }
  if (kinds.size() > 1 && !llvm::all_equal(kinds))
    notes.notModelled("--cp-comm-type", "all layers have the first kind");
  std::string kind = kinds.empty() ? "p2p" : kinds.front();
  if (kind == "p2p")
    plan.contextKind = plan::ContextKind::Ring;
  else if (kind == "a2a")
    plan.contextKind = plan::ContextKind::Ulysses;
  else if (kind == "all_gather" || kind == "allgather")
    plan.contextKind = plan::ContextKind::AllGather;
  else
    arguments.fail("--cp-comm-type " + kind +
                   " is not modelled; use p2p, a2a or all_gather");
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

void Reader::fullRecomputation() {
  auto method = arguments.word("recompute-method", {"uniform", "block"});
  auto layers = arguments.integer("recompute-num-layers", 1, plan::maxDegree);
  if (!method || !layers)
    return arguments.fail("--recompute-granularity full needs "
                          "--recompute-method uniform or block, and "
                          "--recompute-num-layers");
  int64_t perStage = layersOf(arguments) / plan.pp.value_or(1) /
                     plan.virtualStages.value_or(1);
  if (*method == "uniform" && *layers > 1)
    notes.notModelled("--recompute-num-layers " + std::to_string(*layers),
                      "the input of every layer is kept");
  if (*method == "block" && *layers < perStage)
    notes.notModelled("--recompute-method block",
                      "all layers are recomputed, not only the first of a "
                      "stage");
}

void Reader::selectiveRecomputation() {
  for (StringRef name : {"recompute-method", "recompute-num-layers"})
    if (arguments.has(name))
      arguments.fail("--" + name +
                     " is not allowed with selective recomputation");
  std::vector<std::string> modules = arguments.list("recompute-modules");
  if (!arguments.has("recompute-modules"))
    modules = {"core_attn"};
  static constexpr StringRef known[] = {"core_attn",     "moe_act", "layernorm",
                                        "mla_up_proj",   "mlp",     "moe",
                                        "shared_experts"};
  bool hasAttention = false;
  for (const std::string &module : modules) {
    if (!is_contained(known, StringRef(module)))
      return arguments.fail("--recompute-modules: there is no module '" +
                            module + "'");
    hasAttention |= module == "core_attn";
    if (module != "core_attn")
      notes.notModelled("--recompute-modules " + module,
                        "its activations are kept");
  }
  if (!hasAttention)
    plan.recompute = plan::Recompute::None;
}

void Reader::recomputation() {
  if (arguments.has("recompute-activations"))
    plan.recompute = plan::Recompute::Selective;
  switch (plan.recompute.value_or(plan::Recompute::None)) {
  case plan::Recompute::Full:
    return fullRecomputation();
  case plan::Recompute::Selective:
    return selectiveRecomputation();
  case plan::Recompute::None:
    for (StringRef name :
         {"recompute-method", "recompute-num-layers", "recompute-modules"})
      if (arguments.has(name))
        notes.noEffect(("--" + name).str(), "needs --recompute-granularity");
  }
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

void Reader::fullSharding() {
  auto refuse = [&](bool isWrong, const Twine &what) {
    if (isWrong)
      arguments.fail("--use-torch-fsdp2 is not allowed " + what);
  };
  refuse(plan.pp.value_or(1) > 1, "with pipeline parallelism");
  refuse(plan.ep.value_or(1) > 1, "with expert parallelism");
  refuse(arguments.has("use-distributed-optimizer"),
         "with --use-distributed-optimizer");
  refuse(arguments.has("fp16"), "with --fp16");
  refuse(!arguments.has("untie-embeddings-and-output-weights"),
         "without --untie-embeddings-and-output-weights");
  plan.zero = plan::ZeroStage::Parameters;
  plan.zeroShards = plan::ZeroShards::Rows;
  if (arguments.has("torch-fsdp2-no-reshard-after-forward"))
    plan.reshardAfterForward = false;
  plan.bucketRule = plan::BucketRule::FSDP;
}

void Reader::sharding() {
  bool isOwn =
      arguments.has("use-megatron-fsdp") || arguments.has("use-custom-fsdp");
  bool isTorch = arguments.has("use-torch-fsdp2");
  if (isOwn && isTorch)
    arguments.fail("--use-torch-fsdp2 and --use-megatron-fsdp exclude each "
                   "other; leave one out");
  if (isTorch)
    fullSharding();
  else if (arguments.has("torch-fsdp2-no-reshard-after-forward"))
    notes.noEffect("--torch-fsdp2-no-reshard-after-forward",
                   "needs --use-torch-fsdp2");
  std::string strategy =
      arguments
          .word("data-parallel-sharding-strategy",
                {"no_shard", "optim", "optim_grads", "optim_grads_params"})
          .value_or("no_shard");
  if (isOwn)
    plan.zero = strategy == "optim"                ? plan::ZeroStage::States
                : strategy == "optim_grads"        ? plan::ZeroStage::Gradients
                : strategy == "optim_grads_params" ? plan::ZeroStage::Parameters
                                                   : plan::ZeroStage::None;
  else if (arguments.has("data-parallel-sharding-strategy"))
    notes.noEffect("--data-parallel-sharding-strategy",
                   "needs --use-megatron-fsdp");
  auto instances = arguments.integer("num-distributed-optimizer-instances", 1,
                                     plan::maxDegree);
  if (instances.value_or(1) == 1)
    return;
  int64_t others = plan.tp.value_or(1) * plan.pp.value_or(1);
  if (!job.gpus)
    return arguments.fail("--num-distributed-optimizer-instances needs the "
                          "number of GPUs; use --gpus N before --megatron");
  if (*job.gpus % (others * *instances))
    return arguments.fail("--num-distributed-optimizer-instances " +
                          Twine(*instances) +
                          " does not divide the data-parallel ranks of " +
                          Twine(*job.gpus) + " GPUs");
  plan.zeroGroup = *job.gpus / others / *instances;
}

void Reader::buckets() {
  if (!plan.bucketRule)
    plan.bucketRule = plan::BucketRule::Megatron;
  // The flag counts elements, the plan bytes.
  bool isSingle = !arguments.has("bf16") && !arguments.has("fp16");
  int64_t bytes = isSingle || job.gradientType == "f32" ? 4 : 2;
  if (auto elements =
          arguments.integer("ddp-bucket-size", 1, plan::maxBytes / bytes)) {
    plan.bucketSize = plan.firstBucketSize = *elements * bytes;
    plan.bucketRule.reset();
  }
}

void Reader::overlap() {
  plan::ZeroStage zero = plan.zero.value_or(plan::ZeroStage::None);
  if (!plan.gradientReduction && zero < plan::ZeroStage::Gradients)
    plan.gradientReduction = plan::GradientReduction::AfterBackward;
  bool isOwn =
      arguments.has("use-megatron-fsdp") || arguments.has("use-custom-fsdp");
  if (plan.overlapParameters == true) {
    if (!arguments.has("use-distributed-optimizer") && !isOwn)
      arguments.fail("--overlap-param-gather needs "
                     "--use-distributed-optimizer or --use-megatron-fsdp");
    if (!arguments.has("overlap-grad-reduce"))
      arguments.fail("--overlap-param-gather needs --overlap-grad-reduce");
  }
  if (plan.tensorOverlap == plan::TensorOverlap::Chunked &&
      (plan.sequenceParallel != true || plan.tp.value_or(1) == 1))
    arguments.fail("--tp-comm-overlap needs --sequence-parallel, and "
                   "--tensor-model-parallel-size 2 or more");
  if (plan.sequenceParallel == true && plan.tp.value_or(1) == 1) {
    plan.sequenceParallel.reset();
    notes.noEffect("--sequence-parallel",
                   "needs --tensor-model-parallel-size 2 or more");
  }
}

void Reader::graphs() {
  auto kind = arguments.word("cuda-graph-impl",
                             {"none", "local", "transformer_engine"});
  bool isLocal = arguments.has("enable-cuda-graph"),
       isExternal = arguments.has("external-cuda-graph");
  if (isLocal + isExternal + (kind && *kind != "none") > 1)
    arguments.fail("--cuda-graph-impl, --enable-cuda-graph and "
                   "--external-cuda-graph state the same; leave one in");
  job.cudaGraphs = isLocal || isExternal || (kind && *kind != "none");
  if (job.cudaGraphs && plan.recompute == plan::Recompute::Full)
    arguments.fail("CUDA graphs are not allowed with "
                   "--recompute-granularity full");
}

void Reader::read() {
  flagsOfPlan();
  batches();
  pipeline();
  context();
  recomputation();
  sharding();
  buckets();
  overlap();
  graphs();
}

void proteus::frameworks::readMegatronPlan(Arguments &arguments, Notes &notes,
                                           jobs::Job &job) {
  Reader(arguments, notes, job).read();
}
