//===- CaseStack.cpp - stacks and sites of measured runs ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The framework of a case, and the compiler that its precision names, select
// its stack. The network and the devices select its site.
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::validation;

namespace {
/// Words of a framework's name and the stack that they select.
struct Known {
  StringRef words;
  StringRef profile;
};

/// Words for the network and the GPU that select a site.
struct KnownPlace {
  StringRef network, gpu;
  StringRef site;
};
} // namespace

/// The first entry whose words are part of the framework's name applies.
static constexpr Known frameworks[] = {
    {"megatron-deepspeed", "megatron-deepspeed"},
    {"nemo", "nemo"},
    {"megatron", "megatron-lm"},
    {"nanotron", "nanotron"},
    {"composer", "composer-fsdp"},
    {"llm-foundry", "composer-fsdp"},
    {"internevo", "internevo"},
    {"internlm", "internevo"},
    {"mxnet", "mxnet"},
    {"tensorflow", "tensorflow-1"},
    {"tf1", "tensorflow-1"},
    {"pytorch", "pytorch-ddp"},
    {"ddp", "pytorch-ddp"},
};

/// The first entry whose two words are part of the case's descriptions applies.
static constexpr KnownPlace places[] = {
    {"omni-path", "a100", "jean-zay-a100"},
    {"omni-path", "v100", "jean-zay-v100"},
    // Cases of this source describe their network only by the path of a file of
    // measured collectives. The path contains this word.
    {"ultrascale-playbook", "h100", "ultra-scale"},
};

static StringRef profileFor(ArrayRef<Known> known, StringRef words) {
  std::string lower = words.lower();
  for (const Known &one : known)
    if (StringRef(lower).contains(one.words))
      return one.profile;
  return "";
}

static StringRef siteFor(StringRef network, StringRef gpu) {
  for (const KnownPlace &place : places)
    if (network.contains_insensitive(place.network) &&
        gpu.contains_insensitive(place.gpu))
      return place.site;
  return "";
}

/// Returns true if the precision names the XLA compiler: "AMP+XLA".
static bool isCompiled(const json::Reader &strategy) {
  return hasValue(strategy, "precision") &&
         StringRef(strategy["precision"].string()).contains_insensitive("xla");
}

void proteus::validation::stackOfCase(const json::Reader &strategy,
                                      const json::Reader &hardware, Job &job,
                                      CaseNotes &notes) {
  std::string framework =
      hasValue(strategy, "framework") ? strategy["framework"].string() : "";
  StringRef stack = profileFor(frameworks, framework);
  if (stack.empty())
    notes.assumed.push_back(
        framework.empty()
            ? "the framework is not stated: it is the generic stack"
            : "the framework '" + framework + "' is the generic stack");
  job.stack = stack == "tensorflow-1" && isCompiled(strategy) ? "tensorflow-xla"
                                                              : stack.str();
  job.cudaGraphs =
      hasValue(strategy, "cuda_graphs") && strategy["cuda_graphs"].boolean();
  if (hasValue(hardware, "inter_link") && hardware.has("gpu"))
    job.site =
        siteFor(hardware["inter_link"].string(), hardware["gpu"].string())
            .str();
}
