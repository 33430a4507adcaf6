//===- Commands.cpp - subcommands of `proteus` ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Commands.h"

using namespace llvm;
using namespace proteus::driver;

ArrayRef<Command> proteus::driver::commands() {
  static const Command all[] = {
      {"simulate", "time, throughput and memory of a training step",
       simulateCommand, visitSimulateFlags},
      {"memory", "whether a job fits, with the owners of the memory per stage",
       memoryCommand, visitMemoryFlags},
      {"compare", "several strategies side by side, the best first",
       compareCommand, visitCompareFlags},
      {"emit", "model, strategy and cluster as MLIR, for proteus-opt",
       emitCommand, visitEmitFlags},
      {"validate",
       "measured runs, simulated and compared",
       validateCommand,
       visitValidateFlags,
       {"FILE"}},
      {"parity",
       "runs of the published Proteus, simulated by its rules",
       parityCommand,
       visitParityFlags,
       {"FILE"}},
      {"list", "models, clusters, devices, schedules, stacks, sites",
       listCommand, visitListFlags, listNames()},
      {"completion",
       "completion of commands, flags and names for a shell",
       completionCommand,
       visitCompletionFlags,
       {"bash", "zsh"}},
      {"manual", "all commands and flags as a man page", manualCommand,
       visitManualFlags},
  };
  return all;
}
