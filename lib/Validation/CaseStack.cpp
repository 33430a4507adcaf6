//===- CaseStack.cpp - stacks and sites of measured runs ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection of the stack and the site of a case. The framework and the
// compiler, which is part of the precision ("AMP+XLA"), select the stack. The
// network and the GPU select the site.
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::validation;

namespace {
/// A part of a framework's name, and the stack that it selects.
struct Known {
  StringRef words;
  StringRef profile;
};

/// Parts of the descriptions of the network and the GPU, and the site that they
/// select together.
struct KnownPlace {
  StringRef network, gpu;
  StringRef site;
};
} // namespace

/// The first entry that the framework's name contains applies. So
/// "megatron-deepspeed" must come before "megatron".
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

/// The first entry that matches both the network and the GPU of the case
/// applies.
static constexpr KnownPlace places[] = {
    {"omni-path", "a100", "jean-zay-a100"},
    {"omni-path", "v100", "jean-zay-v100"},
    // The cases from the Ultra-Scale Playbook do not describe the network.
    // Instead, `inter_link` contains the path of a file of measured
    // collectives, and the name of the playbook is part of this path.
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

/// Returns true if the precision of the case names the compiler XLA: "AMP+XLA".
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
