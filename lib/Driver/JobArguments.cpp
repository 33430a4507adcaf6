//===- JobArguments.cpp - flags of commands with a job --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobArguments.h"

#include "Proteus/Support/File.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

Error proteus::driver::readDeepSpeedFile(ArrayRef<std::string> arguments,
                                         Job &job) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    std::string file;
    if (argument.consume_front("--deepspeed-config="))
      file = argument.str();
    else if (argument == "--deepspeed-config" && i + 1 < arguments.size())
      file = arguments[i + 1];
    else
      continue;
    Expected<std::string> text = readInput(file);
    if (!text)
      return text.takeError();
    return readDeepSpeed(*text, file, job);
  }
  return Error::success();
}

void proteus::driver::addJobFlags(Flags &flags, Job &job) {
  addModelFlags(flags, job);
  addPlanFlags(flags, job.plan);
  flags.section("other sources");
  flags.value("deepspeed-config", "FILE.json",
              "ZeRO stage, batch sizes, accumulation, offload and buckets; "
              "flags override it",
              [](StringRef) { return Error::success(); });
}
