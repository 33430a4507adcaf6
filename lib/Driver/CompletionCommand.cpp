//===- CompletionCommand.cpp - proteus completion -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Models/Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// Returns the words that a flag takes as its value: those of a choice, or the
/// names of presets. Returns an empty list if the value is free.
static std::vector<std::string> wordsOf(const Flags::Flag &flag) {
  if (flag.name == "model") {
    std::vector<std::string> names;
    for (const models::Preset &preset : models::Registry::get().getPresets())
      names.push_back(preset.name);
    return names;
  }
  if (flag.name == "cluster")
    return machine::clusterPresetNames();
  if (flag.name == "stack")
    return machine::stackPresetNames();
  if (flag.name == "site")
    return machine::sitePresetNames();
  // Placeholders such as "NAME|FILE" are no words.
  StringRef text = flag.placeholder;
  if (!text.contains('|') || text.upper() == text)
    return {};
  SmallVector<StringRef> parts;
  text.split(parts, '|');
  std::vector<std::string> words;
  for (StringRef part : parts)
    words.push_back(part.str());
  return words;
}

/// Returns all names of a flag, with dashes.
static std::vector<std::string> namesOf(const Flags::Flag &flag) {
  std::vector<std::string> names = {"--" + flag.name};
  for (const std::string &alias : flag.aliases)
    names.push_back("--" + alias);
  if (flag.canBeOff)
    names.push_back("--no-" + flag.name);
  return names;
}

/// Returns the operands of a command without "FILE", which the shell completes.
static std::vector<std::string> wordsOf(const Command &command) {
  std::vector<std::string> words = command.operands;
  llvm::erase(words, "FILE");
  return words;
}

static void printBash(raw_ostream &os) {
  os << "# Completion of proteus for bash: source <(proteus completion bash)\n"
        "_proteus() {\n"
        "  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
        "  local previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n"
        "  if ((COMP_CWORD == 1)); then\n"
        "    words=\"";
  llvm::interleave(
      commands(), os, [&](const Command &each) { os << each.name; }, " ");
  os << "\"\n"
        "  else\n"
        "    case \"${COMP_WORDS[1]} $previous\" in\n";
  for (const Command &command : commands())
    command.visitFlags([&](const Flags &flags) {
      for (const Flags::Flag &flag : flags.getFlags()) {
        if (!flag.takesValue)
          continue;
        std::vector<std::string> patterns;
        for (const std::string &name : namesOf(flag))
          patterns.push_back(("\"" + command.name + " " + name + "\"").str());
        os << "      " << llvm::join(patterns, "|") << ") words=\""
           << llvm::join(wordsOf(flag), " ") << "\" ;;\n";
      }
    });
  // After other words: the flags and operands of the command.
  for (const Command &command : commands()) {
    std::vector<std::string> words = wordsOf(command);
    command.visitFlags([&](const Flags &flags) {
      for (const Flags::Flag &flag : flags.getFlags())
        llvm::append_range(words, namesOf(flag));
    });
    words.push_back("--help");
    os << "      \"" << command.name << " \"*) words=\""
       << llvm::join(words, " ") << "\" ;;\n";
  }
  os << "    esac\n"
        "  fi\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "}\n"
        "complete -o default -F _proteus proteus\n";
}

/// Returns `text` as the description of an argument of the zsh function
/// `_arguments`, which is in single quotes.
static std::string forZsh(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\'')
      result += "'\\'";
    else if (StringRef("[]:\\").contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

static void printZsh(raw_ostream &os) {
  os << "#compdef proteus\n"
        "# Completion of proteus for zsh: source <(proteus completion zsh)\n"
        "_proteus() {\n"
        "  local -a commands=(\n";
  for (const Command &command : commands())
    os << "    '" << command.name << ":" << forZsh(command.summary) << "'\n";
  os << "  )\n"
        "  if ((CURRENT == 2)); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  local command=\"$words[2]\"\n"
        "  shift words\n"
        "  ((CURRENT--))\n"
        "  case \"$command\" in\n";
  for (const Command &command : commands()) {
    os << "    " << command.name << ") _arguments";
    command.visitFlags([&](const Flags &flags) {
      for (const Flags::Flag &flag : flags.getFlags())
        for (const std::string &name : namesOf(flag)) {
          os << " \\\n      '*" << name << "[" << forZsh(flag.help) << "]";
          if (flag.takesValue) {
            std::vector<std::string> words = wordsOf(flag);
            os << ":value:"
               << (words.empty() ? "_files"
                                 : "(" + llvm::join(words, " ") + ")");
          }
          os << "'";
        }
    });
    std::vector<std::string> words = wordsOf(command);
    os << " \\\n      '*:operand:"
       << (words.empty() ? "_files" : "(" + llvm::join(words, " ") + ")")
       << "' ;;\n";
  }
  os << "  esac\n"
        "}\n"
        "compdef _proteus proteus\n";
}

namespace {
struct CompletionArguments {
  void declare(Flags &flags) {
    flags.about("Prints a script that completes commands, flags and names:\n\n"
                "  source <(proteus completion bash)\n"
                "  source <(proteus completion zsh)\n");
  }
};
} // namespace

void proteus::driver::visitCompletionFlags(FlagVisitor visit) {
  visitFlagsOf<CompletionArguments>(visit);
}

int proteus::driver::completionCommand(ArrayRef<std::string> arguments) {
  CompletionArguments given;
  Flags flags;
  given.declare(flags);
  if (printedHelp(flags, arguments))
    return 0;
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  if (rest->size() == 1 && rest->front() == "bash")
    printBash(outs());
  else if (rest->size() == 1 && rest->front() == "zsh")
    printZsh(outs());
  else
    return fail(createStringError("expected a shell, bash or zsh: proteus "
                                  "completion bash"));
  return 0;
}
