//===- TorchTitan.cpp - files of torchtitan -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"
#include "ModelText.h"

#include "Proteus/Support/TOML.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// A flavor of a model, as a preset of the model library or as the dimensions
/// of a model file.
struct Flavor {
  StringRef model, name;
  int64_t layers;
  /// Name of a preset, or dimensions in JSON.
  StringRef preset, dimensions;
  /// True if attention reads only tokens of the same document.
  bool hasDocuments = false;
};
} // namespace

static constexpr StringRef llamaDebug =
    R"("layers": 6, "hidden": 256, "heads": 16, "ffn": 768, "vocab": 2048)";
static constexpr StringRef deepSeekDebug =
    R"("layers": 6, "hidden": 256, "heads": 16, "ffn": 1024, "vocab": 2048,
       "dense_layers": 1, "experts": 8, "topk": 3, "moe_ffn": 256,
       "shared_expert_ffn": 512, "kv_lora_rank": 512, "qk_head_dim": 128,
       "qk_rope_dim": 64, "v_head_dim": 128)";

static constexpr Flavor flavors[] = {
    {"llama3", "debugmodel", 6, "", llamaDebug},
    {"llama3", "debugmodel_flex_attn", 6, "", llamaDebug, true},
    {"llama3", "debugmodel_varlen_attn", 6, "", llamaDebug, true},
    {"llama3", "8B", 32, "llama3-8b", ""},
    {"llama3", "8B_flex", 32, "llama3-8b", "", true},
    {"llama3", "8B_varlen", 32, "llama3-8b", "", true},
    {"llama3", "70B", 80, "llama3-70b", ""},
    {"llama3", "405B", 126, "llama3-405b", ""},
    {"deepseek_v3", "debugmodel", 6, "", deepSeekDebug},
    {"deepseek_v3", "debugmodel_flex_attn", 6, "", deepSeekDebug, true},
    {"deepseek_v3", "16B", 27, "deepseek-v2-lite", "", true},
    {"deepseek_v3", "236B", 60, "deepseek-v2", "", true},
    {"deepseek_v3", "671B", 61, "deepseek-v3", "", true},
    {"qwen3", "debugmodel", 8, "",
     R"("layers": 8, "hidden": 256, "heads": 16, "kv_heads": 8, "ffn": 3072,
        "vocab": 2048, "tied_embeddings": true)"},
    {"qwen3", "0.6B", 28, "",
     R"("layers": 28, "hidden": 1024, "heads": 16, "kv_heads": 8, "ffn": 3072,
        "vocab": 151936, "tied_embeddings": true)"},
    {"qwen3", "1.7B", 28, "",
     R"("layers": 28, "hidden": 2048, "heads": 16, "kv_heads": 8, "ffn": 6144,
        "vocab": 151936, "tied_embeddings": true)"},
    {"qwen3", "4B", 36, "",
     R"("layers": 36, "hidden": 2560, "heads": 32, "kv_heads": 8, "ffn": 9728,
        "vocab": 151936, "tied_embeddings": true)"},
    {"qwen3", "8B", 36, "",
     R"("layers": 36, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 12288,
        "vocab": 151936)"},
    {"qwen3", "14B", 40, "",
     R"("layers": 40, "hidden": 5120, "heads": 40, "kv_heads": 8, "ffn": 17408,
        "vocab": 151936)"},
    {"qwen3", "32B", 64, "",
     R"("layers": 64, "hidden": 5120, "heads": 64, "kv_heads": 8, "ffn": 25600,
        "vocab": 151936)"},
    {"qwen3", "debugmodel_moe", 8, "",
     R"("layers": 8, "hidden": 256, "heads": 16, "kv_heads": 8, "ffn": 3072,
        "vocab": 2048, "experts": 64, "topk": 8, "moe_ffn": 768)"},
    {"qwen3", "30B-A3B", 48, "qwen3-30b-a3b", ""},
    {"qwen3", "235B-A22B", 94, "qwen3-235b-a22b", ""}};

/// Returns the model file of a flavor without a preset.
static std::string textOf(const Flavor &flavor, int64_t seq) {
  std::string text = "{\"family\": \"decoder\", \"gated_mlp\": true, "
                     "\"name\": \"" +
                     (flavor.model + "-" + flavor.name).str() +
                     "\", \"seq\": " + std::to_string(seq) + ", ";
  if (flavor.model == "qwen3")
    text += "\"head_dim\": 128, \"head_norms\": true, ";
  return text + flavor.dimensions.str() + "}";
}

namespace {
/// Reads a job from a file.
class Reader {
public:
  Reader(const ConfigFile &file, Notes &notes, jobs::Job &job)
      : file(file), notes(notes), job(job), plan(job.plan) {}

  void read();

private:
  const Flavor *findFlavor();
  void model();
  void types();
  void sharding();
  void pipeline();
  int64_t chunks(int64_t stages, bool isLooped);
  void batches();
  void otherDegrees();
  void recomputation();

  int64_t degree(StringRef key) {
    return file.integer(("parallelism." + key).str(), 1, plan::maxDegree)
        .value_or(1);
  }

  const ConfigFile &file;
  Notes &notes;
  jobs::Job &job;
  plan::ParallelPlan &plan;
  int64_t layers = 1;
};
} // namespace

const Flavor *Reader::findFlavor() {
  std::string model = file.text("model.name").value_or("llama3");
  std::string name = file.text("model.flavor").value_or("debugmodel");
  std::vector<std::string> models, names;
  for (const Flavor &flavor : flavors) {
    if (!is_contained(models, flavor.model))
      models.push_back(flavor.model.str());
    if (flavor.model != model)
      continue;
    if (flavor.name == name)
      return &flavor;
    names.push_back(flavor.name.str());
  }
  if (names.empty())
    file.fail("model.name", "the model '" + model +
                                "' is not in the model library; use one of " +
                                join(models, ", "));
  else
    file.fail("model.flavor", "there is no flavor '" + name + "' of " + model +
                                  "; use one of " + join(names, ", "));
  return nullptr;
}

void Reader::model() {
  const Flavor *flavor = findFlavor();
  if (!flavor)
    return;
  layers = flavor->layers;
  job.seq = file.integer("training.seq_len", 1, plan::maxBatch).value_or(2048);
  job.model =
      flavor->preset.empty() ? textOf(*flavor, *job.seq) : flavor->preset.str();
  if (flavor->hasDocuments)
    notes.notModelled("model.flavor",
                      "attention reads the preceding tokens of all documents");
  if (!file.has("training.seq_len"))
    notes.byDefault("training.seq_len = 2048");
  bool isCompiled = file.flag("compile.enable", false) ||
                    file.flag("training.compile", false);
  std::vector<std::string> parts = file.list("compile.components");
  if (!file.has("compile.components"))
    parts = {"model", "loss"};
  // An override, so that the stack does not decide.
  job.overrides.push_back(isCompiled && is_contained(parts, "loss")
                              ? "logits=compute"
                              : "logits=f32");
  if (isCompiled && is_contained(parts, "model"))
    notes.notModelled("compile.components model",
                      "kernels are those of the stack");
}

void Reader::types() {
  if (auto name = file.text("optimizer.name");
      name && *name != "Adam" && *name != "AdamW")
    file.fail("optimizer.name", "the optimizer '" + *name +
                                    "' is not modelled; use Adam or AdamW");
  bool isSingle = file.word("training.mixed_precision_param",
                            {"bfloat16", "float32"}) == "float32";
  bool isHalf =
      file.word("training.dtype", {"bfloat16", "float32"}) == "bfloat16";
  job.precision =
      isSingle && !isHalf ? plan::Precision::FP32 : plan::Precision::BF16;
  // An empty text is the type of the parameters.
  job.gradientType = isHalf ? "" : "f32";
  if (isHalf)
    job.masterType = "";
  else if (!isSingle)
    notes.notModelled("training.dtype float32",
                      "parameters are bf16, with a float32 master copy");
  for (const std::string &converter : file.list("model.converters")) {
    StringRef kind = converter;
    kind.consume_front("quantize.");
    if (kind == "float8" || kind == "linear.float8") {
      job.precision = plan::Precision::FP8;
    } else if (kind == "mx" || kind == "linear.mx") {
      job.precision = plan::Precision::FP8;
      notes.notModelled("model.converters " + converter,
                        "scales per tensor are assumed");
    } else if (kind == "grouped_mm.float8" || kind == "grouped_mm.mx") {
      notes.notModelled("model.converters " + converter,
                        "experts are computed in fp8 exactly if "
                        "model.converters contains float8");
    } else {
      file.fail("model.converters",
                "unknown converter '" + converter +
                    "' (known: float8, mx, quantize.linear.float8, "
                    "quantize.linear.mx, quantize.grouped_mm.float8, "
                    "quantize.grouped_mm.mx)");
    }
  }
}

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

void Reader::otherDegrees() {
  plan.tp = degree("tensor_parallel_degree");
  plan.pp = degree("pipeline_parallel_degree");
  plan.cp = degree("context_parallel_degree");
  if (*plan.tp > 1) {
    plan.sequenceParallel = true;
    if (file.flag("parallelism.enable_async_tensor_parallel", false))
      plan.tensorOverlap = plan::TensorOverlap::Chunked;
  } else if (file.flag("parallelism.enable_async_tensor_parallel", false)) {
    notes.noEffect("parallelism.enable_async_tensor_parallel",
                   "needs tensor_parallel_degree 2 or more");
  }
  auto rotation = file.word("parallelism.context_parallel_rotate_method",
                            {"allgather", "alltoall"});
  if (*plan.cp > 1)
    plan.contextKind = rotation == "alltoall" ? plan::ContextKind::Ring
                                              : plan::ContextKind::AllGather;
  else if (rotation)
    notes.noEffect("parallelism.context_parallel_rotate_method",
                   "needs context_parallel_degree 2 or more");
  int64_t parts = *plan.tp * (*plan.cp > 1 ? 2 * *plan.cp : 1);
  if (job.seq && *job.seq % parts)
    file.fail("training.seq_len",
              "the " + Twine(*job.seq) +
                  " tokens of a sequence are no multiple of tensor and twice "
                  "the context parallel degree, " +
                  Twine(parts));
  int64_t expertParts = degree("expert_tensor_parallel_degree");
  plan.ep = degree("expert_parallel_degree");
  if (*plan.ep > 1 && *plan.tp > 1) {
    if (expertParts != 1 && expertParts != *plan.tp)
      file.fail("parallelism.expert_tensor_parallel_degree",
                "expected 1 or tensor_parallel_degree, which is " +
                    Twine(*plan.tp));
    plan.etp = expertParts;
  } else if (file.has("parallelism.expert_tensor_parallel_degree")) {
    notes.noEffect("parallelism.expert_tensor_parallel_degree",
                   "needs expert and tensor parallelism");
  }
}

void Reader::sharding() {
  int64_t replicas = degree("data_parallel_replicate_degree");
  StringRef key = "parallelism.data_parallel_shard_degree";
  int64_t shards = file.integer(key, -1, plan::maxDegree).value_or(-1);
  if (shards == 0)
    return file.fail(key, "expected -1, or 1 or more");
  if (shards < 0 && replicas > 1) {
    if (!job.gpus)
      return file.fail("parallelism.data_parallel_replicate_degree",
                       "with shards over all other ranks, the number of GPUs "
                       "is needed; use --gpus N");
    int64_t others = replicas * *plan.tp * *plan.pp * *plan.cp;
    if (*job.gpus % others)
      return file.fail("parallelism.data_parallel_replicate_degree",
                       "the degrees, " + Twine(others) +
                           " together, do not divide " + Twine(*job.gpus) +
                           " GPUs");
    shards = *job.gpus / others;
  }
  if (shards > 0 && replicas > plan::maxDegree / shards)
    return file.fail(key, "replicas times shards are more than " +
                              Twine(plan::maxDegree));
  if (shards > 0)
    plan.dp = replicas * shards;
  bool isSharded = shards != 1 || *plan.cp > 1;
  plan.zero = isSharded ? plan::ZeroStage::Parameters : plan::ZeroStage::None;
  // FSDP2 cuts parameters into rows.
  if (isSharded)
    plan.zeroShards = plan::ZeroShards::Rows;
  plan.bucketRule = isSharded ? plan::BucketRule::FSDP : plan::BucketRule::DDP;
  if (replicas > 1 && shards > 1)
    plan.zeroGroup = shards;
  if (file.flag("training.enable_cpu_offload", false)) {
    if (isSharded)
      plan.offloadWeight = plan.offloadState = true;
    else
      notes.noEffect("training.enable_cpu_offload", "nothing is sharded");
  }
  auto reshard = file.word("parallelism.fsdp_reshard_after_forward",
                           {"default", "always", "never"});
  if (!isSharded) {
    if (reshard)
      notes.noEffect("parallelism.fsdp_reshard_after_forward",
                     "nothing is sharded");
    return;
  }
  plan.reshardAfterForward =
      reshard == "always" || (reshard != "never" && *plan.pp == 1);
}

//===----------------------------------------------------------------------===//
// Pipeline and batches
//===----------------------------------------------------------------------===//

/// Returns the number of chunks of each of `stages` stages.
int64_t Reader::chunks(int64_t stages, bool isLooped) {
  StringRef key = "parallelism.pipeline_parallel_layers_per_stage";
  auto perChunk = file.integer(key, 1, plan::maxDegree);
  if (!perChunk)
    return isLooped ? 2 : 1;
  int64_t ends =
      file.integer("parallelism.pipeline_parallel_first_stage_less_layers", 0,
                   layers)
          .value_or(1) +
      file.integer("parallelism.pipeline_parallel_last_stage_less_layers", 0,
                   layers)
          .value_or(1);
  int64_t all = (layers + ends + *perChunk - 1) / *perChunk;
  int64_t each = all / stages;
  if (all % stages || (isLooped ? each < 2 : each != 1))
    file.fail(key, "makes " + Twine(all) + " chunks of layers, where " +
                       (isLooped ? "2 or more" : "exactly 1") +
                       " per stage are needed for " + Twine(stages) +
                       " stages");
  return std::max<int64_t>(each, 1);
}

void Reader::pipeline() {
  StringRef key = "parallelism.pipeline_parallel_schedule";
  auto schedule = file.word(key, {"1F1B", "GPipe", "Interleaved1F1B",
                                  "InterleavedZeroBubble", "ZBVZeroBubble"});
  int64_t stages = *plan.pp;
  if (stages == 1) {
    for (StringRef name :
         {"pipeline_parallel_schedule", "pipeline_parallel_microbatch_size",
          "pipeline_parallel_layers_per_stage",
          "pipeline_parallel_first_stage_less_layers",
          "pipeline_parallel_last_stage_less_layers"})
      if (file.has(("parallelism." + name).str()))
        notes.noEffect(("parallelism." + name).str(),
                       "needs pipeline_parallel_degree 2 or more");
    return;
  }
  bool isLooped = schedule && *schedule != "1F1B" && *schedule != "GPipe";
  bool isZeroBubble = isLooped && StringRef(*schedule).ends_with("ZeroBubble");
  if (schedule == "GPipe")
    plan.schedule = plan::ScheduleOrder::GPipe;
  else if (isZeroBubble)
    plan.schedule = plan::ScheduleOrder::ZeroBubble;
  else
    plan.schedule = plan::ScheduleOrder::OneForwardOneBackward;
  if (isZeroBubble)
    notes.notModelled(key, "a stage has one chunk of layers");
  int64_t perStage = chunks(stages, isLooped);
  if (perStage > 1 && !isZeroBubble)
    plan.virtualStages = perStage;
  auto less = [&](StringRef which) {
    return file
        .integer(
            ("parallelism.pipeline_parallel_" + which + "_less_layers").str(),
            0, layers)
        .value_or(1);
  };
  int64_t first = less("first_stage"), last = less("last_stage");
  bool areEven =
      (layers + first + last) % (stages * plan.virtualStages.value_or(1)) == 0;
  if (first == 1 && last == 1 && areEven)
    plan.stagePartition = plan::StagePartition::Ends;
  else if (first || last || !areEven)
    notes.notModelled("parallelism.pipeline_parallel_degree",
                      "stages have equally many layers, or equal work");
}

void Reader::batches() {
  int64_t local =
      file.integer("training.local_batch_size", 1, plan::maxBatch).value_or(8);
  if (!file.has("training.local_batch_size"))
    notes.byDefault("training.local_batch_size = 8");
  int64_t micro = local;
  if (*plan.pp > 1) {
    StringRef key = "parallelism.pipeline_parallel_microbatch_size";
    micro = file.integer(key, 1, plan::maxBatch).value_or(1);
    if (local % micro)
      file.fail(key, "training.local_batch_size " + Twine(local) +
                         " is no multiple of " + Twine(micro));
  }
  plan.microBatch = micro;
  int64_t whole = file.integer("training.global_batch_size", -1, plan::maxBatch)
                      .value_or(-1);
  if (whole == 0)
    file.fail("training.global_batch_size", "expected -1, or 1 or more");
  else if (whole > 0)
    job.globalBatch = whole;
  else
    plan.accumulation = local / micro;
}

void Reader::recomputation() {
  std::string mode = file.word("activation_checkpoint.mode",
                               {"none", "full", "selective", "memory_budget"})
                         .value_or("selective");
  StringRef key = "activation_checkpoint.selective_ac_option";
  std::string option = file.text(key).value_or("2");
  if (mode == "memory_budget")
    return file.fail("activation_checkpoint.mode",
                     "the choice of a compiler is not modelled; use none or "
                     "full");
  if (mode != "selective") {
    plan.recompute =
        mode == "full" ? plan::Recompute::Full : plan::Recompute::None;
    if (file.has(key))
      notes.noEffect(key, "needs activation_checkpoint.mode selective");
    return;
  }
  if (!file.has("activation_checkpoint.mode"))
    notes.byDefault("activation_checkpoint.mode = selective");
  if (!file.has(key))
    notes.byDefault(key + " = 2");
  int64_t period;
  if (option == "op") {
    plan.recompute = plan::Recompute::Selective;
    notes.notModelled((key + " op").str(),
                      "attention is recomputed, and every product is saved");
  } else if (!StringRef(option).getAsInteger(10, period) && period >= 1) {
    plan.recompute = plan::Recompute::Full;
    if (period > 1)
      notes.notModelled((key + " " + option).str(),
                        "all layers are recomputed, not every one of that "
                        "number");
  } else {
    file.fail(key, "expected op or a number, got '" + option + "'");
  }
}

void Reader::read() {
  model();
  types();
  otherDegrees();
  sharding();
  pipeline();
  batches();
  recomputation();
}

Expected<std::vector<std::string>>
proteus::frameworks::readTorchTitan(StringRef text, StringRef source,
                                    jobs::Job &job) {
  return readConfig<Reader>(frameworkOf("torchtitan"),
                            toml::parse(text, source), job);
}
