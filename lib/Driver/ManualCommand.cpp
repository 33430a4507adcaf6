//===- ManualCommand.cpp - proteus manual ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// Returns `text` for a man page: with backslashes and dashes escaped, and
/// without dots or quotes at the beginning of lines, which are commands there.
static std::string forManual(StringRef text) {
  std::string result;
  bool isLineStart = true;
  for (char c : text) {
    if (isLineStart && (c == '.' || c == '\''))
      result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    isLineStart = c == '\n';
  }
  return result;
}

/// Prints text whose lines and spaces stay as they are.
static void printPlain(raw_ostream &os, StringRef text) {
  os << ".nf\n" << forManual(text.rtrim('\n')) << "\n.fi\n";
}

static void printFlag(raw_ostream &os, const Flags::Flag &flag) {
  auto name = [&](StringRef text) {
    return "\\fB" + forManual(("--" + text).str()) + "\\fR";
  };
  os << ".TP\n" << name(flag.name);
  if (!flag.placeholder.empty())
    os << " " << forManual(flag.placeholder);
  for (const std::string &alias : flag.aliases)
    os << ", " << name(alias);
  if (flag.canBeOff)
    os << ", " << name("no-" + flag.name);
  os << "\n" << forManual(flag.help) << "\n";
}

static void printCommand(raw_ostream &os, const Command &command) {
  os << ".SS \"proteus " << command.name;
  if (!command.operands.empty())
    os << " " << forManual(llvm::join(command.operands, "|"));
  os << "\"\n";
  command.visitFlags([&](const Flags &flags) {
    printPlain(os, flags.getIntroduction());
    StringRef section;
    for (const Flags::Flag &flag : flags.getFlags()) {
      if (flag.section != section)
        os << ".PP\n\\fI" << forManual(section = flag.section) << "\\fR\n";
      printFlag(os, flag);
    }
  });
}

/// Prints the man page. It has no date, so that equal tables give equal pages.
static void printManual(raw_ostream &os) {
  os << ".\\\" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        ".\\\" Written by `proteus manual`.\n"
        ".TH PROTEUS 1 \"\" \"proteus\" \"\"\n"
        ".SH NAME\n"
        "proteus \\- predicts time and memory of distributed training jobs\n"
        ".SH SYNOPSIS\n"
        ".B proteus\n"
        ".I COMMAND\n"
        "[\\fIFLAG\\fR ...]\n"
        ".SH DESCRIPTION\n"
        "Proteus predicts how fast a distributed training job of a neural "
        "network runs, how much\n"
        "memory it needs and where its time goes, without a GPU.\n"
        ".SH COMMANDS\n";
  for (const Command &command : commands())
    os << ".TP\n\\fB" << command.name << "\\fR\n"
       << forManual(command.summary) << "\n";
  for (const Command &command : commands())
    printCommand(os, command);
  os << ".SH EXIT STATUS\n"
        "0 on success, 1 after an error, "
     << doesNotFitCode << " with " << forManual("--fail-if-oom")
     << " if a job does not fit.\n";
}

namespace {
struct ManualArguments {
  void declare(Flags &flags) {
    flags.about("Prints all commands and flags as a man page:\n\n"
                "  proteus manual > proteus.1 && man ./proteus.1\n");
  }
};
} // namespace

void proteus::driver::visitManualFlags(FlagVisitor visit) {
  visitFlagsOf<ManualArguments>(visit);
}

int proteus::driver::manualCommand(ArrayRef<std::string> arguments) {
  ManualArguments given;
  Flags flags;
  given.declare(flags);
  if (auto done = parseOnly(flags, arguments))
    return *done;
  printManual(outs());
  return 0;
}
