//===- Commands.h - subcommands of `proteus` --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_COMMANDS_H
#define PROTEUS_DRIVER_COMMANDS_H

#include "Proteus/Support/Flags.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace proteus::driver {

using FlagVisitor = llvm::function_ref<void(const Flags &)>;

/// A subcommand. `run` takes the arguments after the name of the command and
/// returns the exit code. `visitFlags` calls a function with the flags of the
/// command: help, completions and the manual are written from them.
struct Command {
  llvm::StringRef name;
  llvm::StringRef summary;
  int (*run)(llvm::ArrayRef<std::string> arguments);
  void (*visitFlags)(FlagVisitor visit);
  /// Words after the command that are not flags, for example the names that
  /// `list` takes. "FILE" stands for the name of a file.
  std::vector<std::string> operands = {};
};

/// Returns all subcommands in the order of the help text.
llvm::ArrayRef<Command> commands();

int simulateCommand(llvm::ArrayRef<std::string> arguments);
int memoryCommand(llvm::ArrayRef<std::string> arguments);
int emitCommand(llvm::ArrayRef<std::string> arguments);
int compareCommand(llvm::ArrayRef<std::string> arguments);
int listCommand(llvm::ArrayRef<std::string> arguments);
int validateCommand(llvm::ArrayRef<std::string> arguments);
int parityCommand(llvm::ArrayRef<std::string> arguments);
int completionCommand(llvm::ArrayRef<std::string> arguments);
int manualCommand(llvm::ArrayRef<std::string> arguments);

void visitSimulateFlags(FlagVisitor visit);
void visitMemoryFlags(FlagVisitor visit);
void visitEmitFlags(FlagVisitor visit);
void visitCompareFlags(FlagVisitor visit);
void visitListFlags(FlagVisitor visit);
void visitValidateFlags(FlagVisitor visit);
void visitParityFlags(FlagVisitor visit);
void visitCompletionFlags(FlagVisitor visit);
void visitManualFlags(FlagVisitor visit);

/// Returns the names that `proteus list` takes.
std::vector<std::string> listNames();

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_COMMANDS_H
