//===- Commands.h - subcommands of `proteus` --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_COMMANDS_H
#define PROTEUS_DRIVER_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace proteus::driver {

/// A subcommand. `run` takes the arguments after the name of the command and
/// returns the exit code.
struct Command {
  llvm::StringRef name;
  llvm::StringRef summary;
  int (*run)(llvm::ArrayRef<std::string> arguments);
};

/// Returns all subcommands in the order of the help text.
llvm::ArrayRef<Command> commands();

int simulateCommand(llvm::ArrayRef<std::string> arguments);
int emitCommand(llvm::ArrayRef<std::string> arguments);
int compareCommand(llvm::ArrayRef<std::string> arguments);
int listCommand(llvm::ArrayRef<std::string> arguments);
int validateCommand(llvm::ArrayRef<std::string> arguments);
int parityCommand(llvm::ArrayRef<std::string> arguments);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_COMMANDS_H
