//===- Output.h - output of subcommands -------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_OUTPUT_H
#define PROTEUS_LIB_DRIVER_OUTPUT_H

#include "Proteus/Driver/Commands.h"
#include "Proteus/Support/Flags.h"

#include "llvm/Support/Error.h"

#include <string>

namespace proteus::driver {

/// Prints `error` as "proteus: error: ..." and returns the exit code of a
/// failure.
int fail(llvm::Error error);

/// Returns the stream for tables: standard output, or standard error if one of
/// `files` is "-". The contents of that file are then written to standard
/// output, where a table would corrupt them.
llvm::raw_ostream &tableStream(llvm::ArrayRef<llvm::StringRef> files);

/// Fails if the outputs of a command would overwrite each other or one of its
/// inputs. This is the case if several of `outputs` are "-", or if `arguments`
/// name the file of an output more than once. Empty outputs are not written.
llvm::Error checkOutputs(llvm::ArrayRef<llvm::StringRef> outputs,
                         llvm::ArrayRef<std::string> arguments);

/// Prints `text` as "proteus: remark: ...".
void printRemark(llvm::StringRef text);

/// Prints the help text of `flags` if `arguments` contain --help or -h. Returns
/// true if they do.
bool printedHelp(const Flags &flags, llvm::ArrayRef<std::string> arguments);

/// Parses the arguments of a command that takes only flags. For --help, prints
/// the help text. Returns the exit code if the command must end, after --help
/// or an error, and nullopt if it continues.
std::optional<int> parseOnly(Flags &flags,
                             llvm::ArrayRef<std::string> arguments);

/// Calls `visit` with the flags of a command whose arguments are the type
/// `Arguments`, with a function `declare` that adds the flags.
template <typename Arguments> void visitFlagsOf(FlagVisitor visit) {
  Arguments arguments;
  Flags flags;
  arguments.declare(flags);
  visit(flags);
}

/// Adds the flag --fail-if-oom.
void addFailIfOOM(Flags &flags, bool &failIfOOM);
/// Exit code of a job that does not fit, with --fail-if-oom.
constexpr int doesNotFitCode = 3;

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_OUTPUT_H
