//===- Megatron.cpp - jobs in the flags of Megatron-LM --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Megatron.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Returns the number after one of the flags `names` of a launcher.
static std::optional<int64_t> launched(ArrayRef<std::string> words,
                                       ArrayRef<StringRef> names) {
  for (size_t i = 0; i < words.size(); ++i) {
    auto [flag, value] = StringRef(words[i]).split('=');
    if (!is_contained(names, flag))
      continue;
    if (value.empty() && i + 1 < words.size())
      value = words[i + 1];
    int64_t number;
    if (!value.getAsInteger(10, number) && number >= 1 &&
        number <= plan::maxDegree)
      return number;
  }
  return std::nullopt;
}

/// Removes a launcher and a script from the front of `words`. Sets the number
/// of GPUs to that of the processes that the launcher starts, if the job states
/// none.
static Error readLauncher(ArrayRef<std::string> &words, Notes &notes,
                          jobs::Job &job) {
  if (words.empty() || StringRef(words.front()).starts_with("--"))
    return Error::success();
  const std::string *script =
      find_if(words, [](StringRef word) { return word.ends_with(".py"); });
  if (script == words.end())
    return createStringError("expected flags of Megatron-LM, or a command with "
                             "a script such as pretrain_gpt.py, got '" +
                             words.front() + "'");
  size_t before = script - words.begin();
  ArrayRef<std::string> launcher = words.take_front(before);
  words = words.drop_front(before + 1);
  StringRef name = sys::path::filename(*script);
  static constexpr StringRef others[] = {
      "pretrain_bert.py",   "pretrain_t5.py",    "pretrain_ict.py",
      "pretrain_retro.py",  "pretrain_mamba.py", "pretrain_vlm.py",
      "pretrain_hybrid.py", "train_rl.py"};
  if (is_contained(others, name) || name.starts_with("pretrain_vision"))
    return createStringError(name + " trains another model than GPT; its flags "
                                    "are not read");
  auto perNode = launched(launcher, {"--nproc_per_node", "--nproc-per-node"});
  auto nodes = launched(launcher, {"--nnodes"});
  if (!perNode)
    return Error::success();
  int64_t started = *perNode * nodes.value_or(1);
  if (started > plan::maxDegree)
    return createStringError("the launcher starts " + Twine(started) +
                             " processes, at most " + Twine(plan::maxDegree) +
                             " are allowed");
  if (!job.gpus)
    job.gpus = started;
  else if (*job.gpus != started)
    notes.add("--gpus " + Twine(*job.gpus) + " replaces the " + Twine(started) +
              " processes that the launcher starts");
  return Error::success();
}

/// Fails if flags are missing that Megatron-LM requires.
static void checkRequired(Arguments &arguments) {
  static constexpr std::pair<StringRef, StringRef> required[] = {
      {"num-layers", "encoder-num-layers"},
      {"hidden-size", "hidden-size"},
      {"num-attention-heads", "num-attention-heads"},
      {"seq-length", "encoder-seq-length"},
      {"max-position-embeddings", "max-position-embeddings"},
      {"micro-batch-size", "micro-batch-size"}};
  std::vector<std::string> missing;
  for (auto [name, other] : required)
    if (!arguments.has(name) && !arguments.has(other))
      missing.push_back(("--" + name).str());
  if (!missing.empty())
    arguments.fail("Megatron-LM requires " + join(missing, ", ") +
                   ", which the arguments lack");
}

Expected<std::vector<std::string>>
proteus::frameworks::readMegatron(ArrayRef<std::string> words, jobs::Job &job) {
  const Framework &framework = frameworkOf("megatron");
  Notes notes(framework);
  if (Error error = readLauncher(words, notes, job))
    return std::move(error);
  Expected<Arguments> arguments = Arguments::parse(framework, words, notes);
  if (!arguments)
    return arguments.takeError();
  checkRequired(*arguments);
  // The plan comes last: the bytes of buckets depend on the types.
  readMegatronModel(*arguments, notes, job);
  readMegatronPlan(*arguments, notes, job);
  if (Error error = arguments->takeError())
    return std::move(error);
  job.stack = "megatron-lm";
  return notes.remarks();
}
