//===- Output.cpp - output of subcommands ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus::driver;

int proteus::driver::fail(Error error) {
  WithColor::error(errs(), "proteus") << toString(std::move(error)) << "\n";
  return 1;
}

raw_ostream &proteus::driver::tableStream(ArrayRef<StringRef> files) {
  return llvm::is_contained(files, "-") ? errs() : outs();
}

Error proteus::driver::checkOneToStandardOutput(ArrayRef<StringRef> files) {
  if (llvm::count(files, "-") > 1)
    return createStringError("only one output can go to standard output ('-'); "
                             "name a file for the others");
  return Error::success();
}

std::optional<int> proteus::driver::parseOnly(Flags &flags, StringRef usage,
                                              ArrayRef<std::string> arguments) {
  if (llvm::is_contained(arguments, "--help") ||
      llvm::is_contained(arguments, "-h")) {
    outs() << usage;
    flags.printHelp(outs());
    return 0;
  }
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  if (!rest->empty())
    return fail(createStringError("'" + rest->front() +
                                  "' is no flag; flags begin with --"));
  return std::nullopt;
}
