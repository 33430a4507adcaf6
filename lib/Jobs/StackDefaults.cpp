//===- StackDefaults.cpp - decisions that a stack takes for a job ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/File.h"

#include "Proteus/Jobs/Job.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

Expected<machine::Stack> proteus::jobs::stackOf(const Job &job) {
  StringRef name = job.stack;
  if (name == "none" || (name.empty() && job.isFile()))
    return machine::Stack();
  if (name.empty())
    name = "generic";
  if (name.starts_with("{"))
    return machine::parseStackJSON(name, "the stack");
  if (!name.ends_with(".json"))
    return machine::parseStackPreset(name);
  Expected<std::string> text = readInput(name);
  if (!text)
    return text.takeError();
  return machine::parseStackJSON(*text, name);
}

/// Returns the values of the dimensions of the job's model, by name.
static Expected<StringMap<std::string>> dimensionsOf(const Job &job) {
  models::ModelRequest request;
  request.model = job.model;
  request.overrides = job.overrides;
  Expected<models::ModelDescription> model = models::describe(request);
  if (!model)
    return model.takeError();
  StringMap<std::string> values;
  for (const auto &[name, value] : model->dimensions)
    values[name] = value;
  return values;
}

static Error applyToModel(const machine::Stack &stack, Job &job,
                          std::vector<std::string> &remarks) {
  Expected<StringMap<std::string>> values = dimensionsOf(job);
  if (!values)
    return values.takeError();
  auto isGiven = [&](StringRef name) {
    return any_of(job.overrides, [&](StringRef given) {
      return given.split('=').first == name;
    });
  };
  auto set = [&](StringRef name, const Twine &value) {
    if (values->contains(name) && !isGiven(name))
      job.overrides.push_back((name + "=" + value).str());
  };
  // Select the kernels of the stack if the model has a dimension for them.
  // Unfused attention is modelled only for models that have as many key heads
  // as heads (`kv_heads` is 0 or equals `heads`) and no latent attention
  // (`kv_lora_rank` is 0).
  auto isOneOf = [&](StringRef name, std::initializer_list<StringRef> allowed) {
    return !values->contains(name) ||
           is_contained(allowed, StringRef((*values)[name]));
  };
  if (stack.attention == plan::KernelForm::Unfused &&
      values->contains("attention_kernel")) {
    if (isOneOf("kv_heads", {"0", (*values)["heads"]}) &&
        isOneOf("kv_lora_rank", {"0"}))
      set("attention_kernel", "unfused");
    else
      remarks.push_back("stack '" + stack.name +
                        "' has unfused attention, which is not modelled for "
                        "models with fewer key heads than heads or latent "
                        "attention: it is fused here");
  }
  if (stack.gated == plan::KernelForm::Unfused)
    set("gated_kernel", "unfused");
  if (stack.logits == plan::LogitsType::F32)
    set("logits", "f32");
  if (stack.dropout > 0)
    set("dropout", json::formatNumber(stack.dropout));
  int64_t vocab = 0, multiple = job.vocabMultiple.value_or(stack.vocabMultiple);
  bool isPadded = job.vocabMultiple || multiple > 1;
  multiple *= job.plan.tp.value_or(1);
  if (isPadded && values->contains("vocab") &&
      !StringRef((*values)["vocab"]).getAsInteger(10, vocab))
    job.overrides.push_back("vocab=" + std::to_string((vocab + multiple - 1) /
                                                      multiple * multiple));
  return Error::success();
}

Error proteus::jobs::applyMeanTokens(const machine::Stack &stack, Job &job,
                                     std::vector<std::string> &remarks) {
  if (!job.meanTokens)
    return Error::success();
  if (job.isFile())
    return createStringError(
        "--mean-tokens does not apply to a model in a file; leave it out");
  Expected<StringMap<std::string>> values = dimensionsOf(job);
  if (!values)
    return values.takeError();
  int64_t seq = 0;
  if (!values->contains("seq") ||
      StringRef((*values)["seq"]).getAsInteger(10, seq))
    return createStringError("the model '" + job.model +
                             "' has no sequences; leave --mean-tokens out");
  seq = job.seq.value_or(seq);
  if (*job.meanTokens > seq)
    return createStringError("--mean-tokens " + Twine(*job.meanTokens) +
                             ": sequences have " + Twine(seq) +
                             " tokens at most (--seq)");
  if (stack.lengthBin == 0 || seq < stack.lengthBinsFrom) {
    remarks.push_back("stack '" + stack.name + "' pads every sequence to " +
                      std::to_string(seq) +
                      " tokens, so --mean-tokens changes nothing");
    return Error::success();
  }
  // The lengths of all samples in a batch are in the same bin, for example 65
  // to 128 tokens, and the samples are padded to the end of the bin. Lengths
  // are assumed to be spread evenly over the bin, so padding adds half a bin on
  // average. The result is rounded up to a multiple of 8, because products of
  // such sizes are fast.
  constexpr int64_t multiple = 8;
  int64_t padded = *job.meanTokens + stack.lengthBin / 2;
  padded = std::min(seq, (padded + multiple - 1) / multiple * multiple);
  if (int64_t masked = 0;
      values->contains("predictions") &&
      !StringRef((*values)["predictions"]).getAsInteger(10, masked) && masked)
    job.overrides.push_back(
        "predictions=" +
        std::to_string(std::max<int64_t>(1, masked * *job.meanTokens / seq)));
  job.seq = padded;
  remarks.push_back("stack '" + stack.name +
                    "' batches samples by length: the time is that of " +
                    std::to_string(padded) + " tokens per sequence (" +
                    std::to_string(*job.meanTokens) +
                    " and half a bin), the memory that of " +
                    std::to_string(seq));
  return Error::success();
}

Error proteus::jobs::applyExpertBalance(Job &job) {
  if (!job.expertBalance && !job.expertCapacity && !job.padExperts)
    return Error::success();
  if (job.padExperts && !job.expertCapacity)
    return createStringError(
        "--pad-experts needs the capacity of experts; set --expert-capacity");
  if (job.expertBalance && *job.expertBalance < 1)
    return createStringError(
        "--expert-balance " + json::formatNumber(*job.expertBalance) +
        ": the fullest expert gets the mean or more; use 1 "
        "for even loads");
  if (job.isFile())
    return createStringError(
        "--expert-balance, --expert-capacity and --pad-experts do not apply to "
        "a model in a file; leave them out");
  Expected<StringMap<std::string>> values = dimensionsOf(job);
  if (!values)
    return values.takeError();
  if (!values->contains("capacity_factor") || (*values)["experts"] == "0")
    return createStringError("the model '" + job.model +
                             "' has no experts; leave --expert-balance, "
                             "--expert-capacity and --pad-experts out");
  // All devices wait for the fullest expert. So every expert is modelled with
  // as many slots for tokens as the fullest expert computes. These are the
  // slots that the fullest expert fills, or its whole capacity with
  // `padExperts`.
  double filled = job.expertBalance.value_or(1);
  double slots = job.padExperts
                     ? *job.expertCapacity
                     : std::min(filled, job.expertCapacity.value_or(filled));
  job.overrides.push_back("capacity_factor=" + json::formatNumber(slots));
  return Error::success();
}

Error proteus::jobs::applyStack(const machine::Stack &stack, Job &job,
                                std::vector<std::string> &remarks) {
  plan::CompletedPlan completed =
      plan::complete(job.plan, stack.plan, stack.name);
  job.plan = completed.plan;
  job.fromStack = completed.fromStack;
  llvm::append_range(remarks, completed.remarks);
  if (stack.gradientType == plan::GradientType::Compute && !job.gradientType)
    job.gradientType.emplace();
  if (job.isFile())
    return Error::success();
  return applyToModel(stack, job, remarks);
}
