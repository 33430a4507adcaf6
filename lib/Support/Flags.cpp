//===- Flags.cpp - command-line flags of the driver -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Flags.h"

#include "Proteus/Support/Nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace proteus;

static std::vector<std::string> strings(ArrayRef<StringRef> texts) {
  std::vector<std::string> result;
  for (StringRef text : texts)
    result.push_back(text.str());
  return result;
}

void Flags::value(StringRef name, StringRef placeholder, StringRef help,
                  Setter set, ArrayRef<StringRef> aliases) {
  flags.push_back({current, name.str(), placeholder.str(), help.str(),
                   strings(aliases), std::move(set)});
}

static Error parseInteger(StringRef text, int64_t min, int64_t max,
                          int64_t &target) {
  int64_t number;
  if (text.getAsInteger(10, number) || number < min || number > max)
    return createStringError("expected an integer from " + Twine(min) + " to " +
                             Twine(max) + ", got '" + text + "'");
  target = number;
  return Error::success();
}

void Flags::integer(StringRef name, StringRef help, int64_t &target,
                    int64_t min, int64_t max, ArrayRef<StringRef> aliases) {
  value(
      name, "N", help,
      [&target, min, max](StringRef text) {
        return parseInteger(text, min, max, target);
      },
      aliases);
}

void Flags::integer(StringRef name, StringRef help,
                    std::optional<int64_t> &target, int64_t min, int64_t max,
                    ArrayRef<StringRef> aliases) {
  value(
      name, "N", help,
      [&target, min, max](StringRef text) -> Error {
        int64_t number = 0;
        if (Error error = parseInteger(text, min, max, number))
          return error;
        target = number;
        return Error::success();
      },
      aliases);
}

void Flags::text(StringRef name, StringRef placeholder, StringRef help,
                 std::string &target, ArrayRef<StringRef> aliases) {
  value(
      name, placeholder, help,
      [&target](StringRef text) -> Error {
        if (text.empty())
          return createStringError("expected a text, got nothing");
        target = text.str();
        return Error::success();
      },
      aliases);
}

void Flags::choice(StringRef name, StringRef help,
                   std::vector<std::string> known,
                   std::function<void(StringRef)> set,
                   ArrayRef<StringRef> aliases) {
  value(
      name, llvm::join(known, "|"), help,
      [set = std::move(set), known](StringRef text) -> Error {
        if (!llvm::is_contained(known, text)) {
          std::string near = nearest(text, known);
          return createStringError(
              "expected one of " + llvm::join(known, ", ") + ", got '" + text +
              "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
        }
        set(text);
        return Error::success();
      },
      aliases);
}

void Flags::boolean(StringRef name, StringRef help, Setter set,
                    ArrayRef<StringRef> aliases) {
  value(
      name, "", help,
      [set = std::move(set)](StringRef text) -> Error {
        if (text != "true" && text != "false")
          return createStringError("expected true or false, got '" + text +
                                   "'");
        return set(text);
      },
      aliases);
  flags.back().takesValue = false;
  flags.back().canBeOff = flags.back().mayTakeValue = true;
}

void Flags::flag(StringRef name, StringRef help, bool &target,
                 ArrayRef<StringRef> aliases) {
  boolean(
      name, help,
      [&target](StringRef text) {
        target = text == "true";
        return Error::success();
      },
      aliases);
  // Don't take the next argument as the value: it may be the name of a file.
  flags.back().mayTakeValue = false;
}

void Flags::action(StringRef name, StringRef help, std::function<void()> act,
                   ArrayRef<StringRef> aliases) {
  value(
      name, "", help,
      [act = std::move(act)](StringRef text) -> Error {
        if (text != "true")
          return createStringError("takes no value, got '" + text + "'");
        act();
        return Error::success();
      },
      aliases);
  flags.back().takesValue = false;
}

Flags::Found Flags::find(StringRef name) const {
  for (const Flag &flag : flags)
    if (flag.name == name || llvm::is_contained(flag.aliases, name))
      return {&flag, false};
  if (name.consume_front("no-"))
    if (Found found = find(name); found.flag && found.flag->canBeOff)
      return {found.flag, true};
  return {};
}

Error Flags::unknown(StringRef name) const {
  std::vector<std::string> names;
  for (const Flag &flag : flags) {
    names.push_back(flag.name);
    names.insert(names.end(), flag.aliases.begin(), flag.aliases.end());
  }
  std::string near = nearest(name, names);
  return createStringError(
      "there is no flag '--" + name + "'" +
      (near.empty() ? "; see --help" : "; did you mean '--" + near + "'?"));
}

Expected<std::vector<std::string>>
Flags::parse(ArrayRef<std::string> arguments) const {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.consume_front("--")) {
      rest.push_back(arguments[i]);
      continue;
    }
    auto [name, value] = argument.split('=');
    bool hasValue = argument.contains('=');
    auto [flag, isOff] = find(name);
    if (!flag)
      return unknown(name);
    std::string text = value.str();
    if (flag->takesValue && !hasValue) {
      if (i + 1 == arguments.size() ||
          StringRef(arguments[i + 1]).starts_with("--"))
        return createStringError("--" + name + ": expected a value (" +
                                 flag->placeholder + ")");
      text = arguments[++i];
    } else if (!flag->takesValue) {
      if (isOff && hasValue)
        return createStringError("--" + name + ": takes no value");
      if (!hasValue) {
        text = isOff ? "false" : "true";
        // Accept `--name false` too, because users' scripts contain it.
        if (flag->mayTakeValue && !isOff && i + 1 < arguments.size() &&
            !StringRef(arguments[i + 1]).starts_with("--"))
          text = arguments[++i];
      }
    }
    if (Error error = flag->set(text))
      return createStringError("--" + name + ": " + toString(std::move(error)));
    flag->given = true;
  }
  return rest;
}

bool Flags::isGiven(StringRef name) const {
  Found found = find(name);
  return found.flag && found.flag->given;
}

void Flags::printHelp(raw_ostream &os) const {
  os << introduction;
  std::string section = "\n";
  constexpr unsigned column = 30;
  for (const Flag &flag : flags) {
    if (flag.section != section)
      os << "\n" << (section = flag.section) << ":\n";
    std::string left = "  --" + flag.name;
    if (!flag.placeholder.empty())
      left += " " + flag.placeholder;
    if (left.size() + 2 > column)
      os << left << "\n" << std::string(column, ' ');
    else
      os << left << std::string(column - left.size(), ' ');
    os << flag.help << "\n";
    if (!flag.aliases.empty())
      os << std::string(column, ' ') << "also --"
         << llvm::join(flag.aliases, ", --") << "\n";
  }
}
