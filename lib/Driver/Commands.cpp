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
       simulateCommand},
      {"compare", "several strategies side by side, the best first",
       compareCommand},
      {"emit", "model, strategy and cluster as MLIR, for proteus-opt",
       emitCommand},
      {"validate", "measured runs, simulated and compared", validateCommand},
      {"parity", "runs of the published Proteus, simulated by its rules",
       parityCommand},
      {"list", "models, clusters, devices, schedules", listCommand},
  };
  return all;
}
