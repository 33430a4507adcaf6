//===- JobSources.cpp - jobs stated for frameworks ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSources.h"
#include "Output.h"

#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

void proteus::driver::addJobFlags(Flags &flags, Job &job) {
  addModelFlags(flags, job);
  addPlanFlags(flags, job.plan);
  auto ignore = [](StringRef) { return Error::success(); };
  flags.section("jobs of frameworks (docs/frameworks.md); flags override them");
  flags.action("megatron",
               "the arguments after a final -- are those of Megatron-LM",
               [] {});
  flags.value("torchtitan", "FILE.toml", "configuration of torchtitan", ignore);
  flags.value("deepspeed", "FILE.json", "configuration of DeepSpeed", ignore,
              {"deepspeed-config"});
}

/// Returns the value of the first of the flags `names` in `arguments`, or
/// nullopt. The value of a flag without one is an empty text.
static std::optional<std::string> valueOf(ArrayRef<std::string> arguments,
                                          ArrayRef<StringRef> names) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.consume_front("--"))
      continue;
    auto [name, value] = argument.split('=');
    if (!is_contained(names, name))
      continue;
    if (argument.contains('=') || i + 1 == arguments.size())
      return value.str();
    return arguments[i + 1];
  }
  return std::nullopt;
}

/// Reads `file` with the reader of a framework. Does nothing if no file is
/// named; the flag without a value is refused later.
static Error readFile(std::optional<std::string> file, Job &job,
                      std::vector<std::string> &remarks,
                      Expected<std::vector<std::string>> (*read)(StringRef,
                                                                 StringRef,
                                                                 Job &)) {
  if (!file || file->empty())
    return Error::success();
  Expected<std::string> text = readInput(*file);
  if (!text)
    return text.takeError();
  Expected<std::vector<std::string>> notes = read(*text, *file, job);
  if (!notes)
    return notes.takeError();
  append_range(remarks, *notes);
  return Error::success();
}

/// Sets `job` from the frameworks that `arguments` name, and adds the remarks
/// of their readers to `remarks`. Returns the arguments without those of
/// Megatron-LM, which follow `--`. Must be called before the flags are parsed,
/// so that these override the values of the framework.
static Expected<std::vector<std::string>>
readSources(ArrayRef<std::string> arguments, Job &job,
            std::vector<std::string> &remarks) {
  auto end = find(arguments, "--");
  bool hasEnd = end != arguments.end();
  std::vector<std::string> own(arguments.begin(), end);
  bool isMegatron = is_contained(own, "--megatron");
  if (hasEnd && !isMegatron)
    return createStringError("arguments after -- are those of Megatron-LM; "
                             "use --megatron, or leave -- out");
  if (is_contained(own, "--help") || is_contained(own, "-h"))
    return own;
  auto titan = valueOf(own, {"torchtitan"});
  auto deepSpeed = valueOf(own, {"deepspeed", "deepspeed-config"});
  if (isMegatron + titan.has_value() + deepSpeed.has_value() > 1)
    return createStringError("--megatron, --torchtitan and --deepspeed state "
                             "the same; leave one in");
  if ((isMegatron || titan) && valueOf(own, {"model"}))
    return createStringError((isMegatron ? "--megatron" : "--torchtitan") +
                             Twine(" states the model; leave --model out"));
  // Readers need the number of devices if degrees follow from it.
  if (auto text = valueOf(own, {"gpus", "world-size"})) {
    int64_t gpus;
    if (!StringRef(*text).getAsInteger(10, gpus) && gpus >= 1 &&
        gpus <= plan::maxDegree)
      job.gpus = gpus;
  }
  if (isMegatron) {
    if (!hasEnd)
      return createStringError("--megatron needs the arguments of Megatron-LM "
                               "after a final --");
    Expected<std::vector<std::string>> notes =
        frameworks::readMegatron(arguments.drop_front(own.size() + 1), job);
    if (!notes)
      return createStringError("in the arguments of Megatron-LM: " +
                               toString(notes.takeError()));
    append_range(remarks, *notes);
  }
  if (Error error = readFile(titan, job, remarks, frameworks::readTorchTitan))
    return std::move(error);
  if (Error error =
          readFile(deepSpeed, job, remarks, frameworks::readDeepSpeed))
    return std::move(error);
  return own;
}

std::optional<int>
proteus::driver::parseJob(Flags &flags, ArrayRef<std::string> arguments,
                          Job &job, std::vector<std::string> &own,
                          std::vector<std::string> &remarks) {
  Expected<std::vector<std::string>> rest =
      readSources(arguments, job, remarks);
  if (!rest)
    return fail(rest.takeError());
  own = std::move(*rest);
  return parseOnly(flags, own);
}
