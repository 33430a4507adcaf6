//===- proteus.cpp - driver of the subcommands ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Commands.h"
#include "Proteus/Support/Nearest.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus::driver;

static void printHelp() {
  outs() << "Proteus predicts how fast a distributed training job runs, how "
            "much memory it needs and\nwhere its time goes.\n\n"
            "  proteus simulate --model llama3-8b --cluster dgx-h100 --gpus 64 "
            "--tp 8 --zero 1 --global-batch 128\n\ncommands:\n";
  for (const Command &command : commands())
    outs() << "  " << left_justify(command.name, 12) << command.summary << "\n";
  outs() << "\n`proteus COMMAND --help` lists the flags of a command, `proteus "
            "--version` prints the\nversion.\n";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front() == "--help" ||
      arguments.front() == "-h" || arguments.front() == "help") {
    printHelp();
    return arguments.empty() ? 1 : 0;
  }
  if (arguments.front() == "--version") {
    outs() << "proteus " PROTEUS_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
    return 0;
  }
  std::vector<std::string> names;
  for (const Command &command : commands()) {
    if (command.name == arguments.front())
      return command.run(ArrayRef(arguments).drop_front());
    names.push_back(command.name.str());
  }
  std::string near = proteus::nearest(arguments.front(), names);
  WithColor::error(errs(), "proteus")
      << "there is no command '" << arguments.front() << "'"
      << (near.empty() ? "; see proteus --help"
                       : "; did you mean '" + near + "'?")
      << "\n";
  return 1;
}
