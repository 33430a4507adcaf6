//===- Job.cpp - description of a training job ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/Job.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

using plan::maxBatch;
using plan::maxDegree;

/// Returns the help text of a field, followed by the default of the field.
/// Leaves the default out if the text contains it already. Also leaves out the
/// default of an integer and the default "false", unless the stack decides the
/// field.
static std::string helpOf(const plan::Field &field) {
  if (field.help.find("(default") != std::string::npos)
    return field.help;
  // The default of these fields depends on the stack of the job.
  if (!field.stackKey.empty() || field.member == "gradientReduction")
    return field.help + " (default: that of the stack)";
  if (field.defaultText.empty() || field.kind == plan::Field::Kind::Integer ||
      field.defaultText == "false")
    return field.help;
  return field.help + " (default: " + field.defaultText + ")";
}

void proteus::jobs::addPlanFlags(Flags &flags, plan::ParallelPlan &plan) {
  auto refs = [](const std::vector<std::string> &names) {
    return SmallVector<StringRef>(names.begin(), names.end());
  };
  for (const plan::Field &field : plan::fields()) {
    flags.section(field.section);
    auto set = [&plan, &field](StringRef text) {
      return field.set(plan, text);
    };
    if (field.kind == plan::Field::Kind::Switch)
      flags.boolean(field.flag, helpOf(field), set, refs(field.aliases));
    else
      flags.value(field.flag, field.placeholder(), helpOf(field), set,
                  refs(field.aliases));
    for (const plan::Shorthand &other : plan::shorthands())
      if (other.field == &field)
        flags.boolean(
            other.flag, other.help,
            [&plan, &other](StringRef text) {
              return other.set(plan, text == "true");
            },
            refs(other.aliases));
  }
}

/// Adds a flag that takes a positive number of at most 1000.
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

/// Adds a flag that takes one of the words of an enumeration.
template <typename Enum>
static void choice(Flags &flags, StringRef name, StringRef help, Enum &target) {
  flags.choice(name, help, plan::wordsOf<Enum>(), [&target](StringRef word) {
    target = *plan::symbolizeEnum<Enum>(word);
  });
}
template <typename Enum>
static void choice(Flags &flags, StringRef name, StringRef help,
                   std::optional<Enum> &target) {
  flags.choice(name, help, plan::wordsOf<Enum>(), [&target](StringRef word) {
    target = *plan::symbolizeEnum<Enum>(word);
  });
}

void proteus::jobs::addModelFlags(Flags &flags, Job &job) {
  flags.section("model");
  flags.text("model", "NAME|FILE",
             "preset (see `proteus list models`), Hugging Face config.json, "
             "model file, or .mlir",
             job.model);
  flags.value(
      "set", "NAME=VALUE", "another dimension of the model: --set layers=4",
      [&job](StringRef text) -> Error {
        if (!text.contains('='))
          return createStringError("expected NAME=VALUE, got '" + text + "'");
        job.overrides.push_back(text.str());
        return Error::success();
      });
  flags.integer("seq", "tokens of a sequence", job.seq, 1, maxBatch,
                {"seq-length"});
  flags.integer("mean-tokens",
                "mean number of tokens of a sequence, for stacks that batch "
                "samples by length (default: full sequences)",
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
  choice(flags, "precision",
         "types of parameters and activations; fp8: bf16, and linear "
         "operations of layers in fp8",
         job.precision);
  flags.action("bf16", "the same as --precision bf16",
               [&job] { job.precision = plan::Precision::BF16; });
  flags.action("fp16", "the same as --precision fp16",
               [&job] { job.precision = plan::Precision::FP16; });
  choice(flags, "optimizer", "rule that updates parameters", job.optimizer);

  factor(flags, "expert-balance",
         "tokens of the fullest expert, as a multiple of the mean",
         job.expertBalance);
  factor(flags, "expert-capacity",
         "capacity of an expert in tokens, as a multiple of the mean; further "
         "tokens are dropped",
         job.expertCapacity, {"moe-expert-capacity-factor"});
  flags.flag("pad-experts", "empty slots of experts are computed too",
             job.padExperts, {"moe-pad-expert-input-to-capacity"});

  flags.section("cluster");
  flags.text("cluster", "NAME|FILE",
             "preset (see `proteus list clusters`) or cluster file, also with "
             "a number "
             "of nodes: NAME:NODES or FILE:NODES",
             job.cluster);
  flags.integer("gpus",
                "devices (default: those of the cluster, a node of a preset); "
                "clusters without a number of nodes grow",
                job.gpus, 1, maxDegree, {"world-size"});
  flags.integer("global-batch", "samples of a step", job.globalBatch, 1,
                maxBatch, {"global-batch-size"});

  flags.section("software and site");
  flags.text("stack", "NAME|FILE",
             "software stack (see `proteus list stacks`), or none", job.stack,
             {"framework"});
  flags.flag("cuda-graphs", "steps are CUDA graphs: no host time per kernel",
             job.cudaGraphs);
  flags.integer("step-gap-us",
                "microseconds between two steps: data loading, logging "
                "(default: as in the stack)",
                job.stepGap, 0, int64_t(1) << 40);
  flags.text("site", "NAME|FILE", "site (see `proteus list sites`)", job.site);

  flags.section("simulation");
  choice(flags, "fidelity",
         "this project's model, or the published Proteus reimplemented",
         job.fidelity);
  choice(flags, "fold", "equal work that is simulated once; changes no figure",
         job.fold);
  choice(flags, "kernels", "fitted models, or the peak rates of the datasheet",
         job.kernels);
  flags.value("profile", "FILE",
              "measured kernels (docs/profiles.md); may be given again",
              [&job](StringRef file) -> Error {
                job.profiles.push_back(file.str());
                return Error::success();
              });
  choice(flags, "share", "flows share the bandwidth of links", job.share);
  choice(flags, "overlap",
         "interference: kernels and communication that overlap slow each other",
         job.overlap);
}

Error proteus::jobs::parsePlan(StringRef text, plan::ParallelPlan &plan) {
  Flags flags;
  addPlanFlags(flags, plan);
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
