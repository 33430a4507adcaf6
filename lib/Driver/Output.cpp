//===- Output.cpp - output of subcommands ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "Proteus/Support/File.h"
#include "Proteus/Support/Printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus::driver;

int proteus::driver::fail(Error error) {
  WithColor::error(errs(), "proteus")
      << printable(toString(std::move(error)), /*keepNewlines=*/true) << "\n";
  return 1;
}

void proteus::driver::printRemark(StringRef text) {
  WithColor::remark(errs(), "proteus")
      << printable(text, /*keepNewlines=*/true) << "\n";
}

raw_ostream &proteus::driver::tableStream(ArrayRef<StringRef> files) {
  return llvm::is_contained(files, "-") ? errs() : outs();
}

Error proteus::driver::checkOutputs(ArrayRef<StringRef> outputs,
                                    ArrayRef<std::string> arguments) {
  if (llvm::count(outputs, "-") > 1)
    return createStringError("only one output can go to standard output ('-'); "
                             "name a file for the others");
  for (StringRef output : outputs) {
    if (output.empty() || output == "-")
      continue;
    // Count how often the arguments name the file. The first time counts as
    // this output, so a second time is an input or another output.
    unsigned count = 0;
    for (StringRef argument : arguments) {
      if (argument.starts_with("--"))
        argument = argument.split('=').second;
      SmallVector<StringRef> files;
      argument.split(files, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      count += llvm::count_if(
          files, [&](StringRef file) { return isSameFile(file, output); });
    }
    if (count > 1)
      return createStringError("'" + output +
                               "' is an output and is named twice; an output "
                               "replaces its file, so choose another one");
  }
  return Error::success();
}

void proteus::driver::addFailIfOOM(Flags &flags, bool &failIfOOM) {
  flags.flag("fail-if-oom",
             "exit with code " + std::to_string(doesNotFitCode) +
                 " if the job does not fit into the memory of a device",
             failIfOOM);
}

bool proteus::driver::printedHelp(const Flags &flags,
                                  ArrayRef<std::string> arguments) {
  if (!llvm::is_contained(arguments, "--help") &&
      !llvm::is_contained(arguments, "-h"))
    return false;
  flags.printHelp(outs());
  return true;
}

std::optional<int> proteus::driver::parseOnly(Flags &flags,
                                              ArrayRef<std::string> arguments) {
  if (printedHelp(flags, arguments))
    return 0;
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  if (!rest->empty())
    return fail(createStringError("'" + rest->front() +
                                  "' is no flag; flags begin with --"));
  return std::nullopt;
}
