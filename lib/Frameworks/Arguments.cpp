//===- Arguments.cpp - flags of a pasted command --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Returns true if `word` is a value and not a flag. As in `argparse`, a
/// negative number is a value.
static bool isValue(StringRef word) {
  if (!word.starts_with("-"))
    return true;
  double number;
  return !word.getAsDouble(number);
}

/// Returns the setting of a flag without dashes, and whether the flag has the
/// form --no-NAME of a switch.
static std::pair<const Setting *, bool> find(const Framework &framework,
                                             StringRef name) {
  if (const Setting *setting = framework.find(name))
    return {setting, false};
  if (name.consume_front("no-"))
    if (const Setting *setting = framework.find(name);
        setting && setting->kind == ValueKind::Switch)
      return {setting, true};
  return {nullptr, false};
}

/// Returns true if `value` is the one with which `setting` changes nothing.
static bool isNeutral(const Setting &setting, StringRef value) {
  double number, neutral;
  if (setting.neutral.empty())
    return false;
  return value == setting.neutral ||
         (!value.getAsDouble(number) &&
          !StringRef(setting.neutral).getAsDouble(neutral) &&
          number == neutral);
}

/// Returns the error that names all unknown flags, each with the nearest known
/// flag.
static Error unknownFlags(const Framework &framework,
                          ArrayRef<std::string> names) {
  std::vector<std::string> known, texts;
  for (const Setting &setting : framework.settings)
    known.push_back(setting.name);
  constexpr size_t most = 20;
  for (const std::string &name : names.take_front(most)) {
    std::string near = nearest(name, known);
    texts.push_back("--" + name +
                    (near.empty() ? "" : " (did you mean --" + near + "?)"));
  }
  return createStringError(
      framework.name + " has no flag " + join(texts, ", ") +
      (names.size() > most
           ? " and " + std::to_string(names.size() - most) + " others"
           : ""));
}

Expected<Arguments> Arguments::parse(const Framework &framework,
                                     ArrayRef<std::string> words,
                                     Notes &notes) {
  Arguments arguments(framework);
  std::vector<std::string> unknown, refused;
  StringSet<> seen;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (isValue(word) || !word.consume_front("--"))
      return createStringError("'" + words[i] + "' after " +
                               (i ? words[i - 1] : "--megatron --") +
                               " is neither a flag nor a value of one");
    auto [name, inWord] = word.split('=');
    bool hasInWord = word.contains('=');
    auto [setting, isOff] = ::find(framework, name);
    // The values of a flag end at the next flag.
    size_t end = i + 1;
    if (!hasInWord && (!setting || (setting->kind != ValueKind::Flag &&
                                    setting->kind != ValueKind::Switch)))
      while (end < words.size() && isValue(words[end]) &&
             (!setting || setting->kind == ValueKind::List || end == i + 1))
        ++end;
    std::vector<std::string> given(words.begin() + i + 1, words.begin() + end);
    if (hasInWord)
      given.assign(1, inWord.str());
    i = end - 1;
    if (!setting) {
      if (seen.insert(name).second)
        unknown.push_back(name.str());
      continue;
    }
    bool takesNone =
        setting->kind == ValueKind::Flag || setting->kind == ValueKind::Switch;
    if (takesNone && hasInWord)
      return createStringError("--" + name + " takes no value, got '" + inWord +
                               "'");
    if (!takesNone && setting->kind != ValueKind::List && given.empty())
      return createStringError("--" + name + ": expected a value");
    std::string flag = (isOff ? "--no-" : "--") + setting->name;
    switch (setting->effect) {
    case Effect::Refused:
      refused.push_back(flag + ": " + setting->text);
      break;
    case Effect::None:
      notes.noEffect(flag, setting->text);
      break;
    case Effect::NotModelled:
      if (given.size() == 1 && isNeutral(*setting, given.front()))
        notes.noEffect(flag, "the value that is modelled");
      else
        notes.notModelled(flag, setting->text);
      arguments.values[setting->name] = std::move(given);
      break;
    case Effect::Used:
      arguments.values[setting->name] = std::move(given);
      break;
    }
  }
  if (!unknown.empty())
    return unknownFlags(framework, unknown);
  if (!refused.empty())
    return createStringError(join(refused, "; "));
  return std::move(arguments);
}

std::optional<std::string> Arguments::text(StringRef name) const {
  auto found = values.find(name);
  if (found == values.end())
    return std::nullopt;
  return found->second.empty() ? "" : found->second.front();
}

std::vector<std::string> Arguments::list(StringRef name) const {
  return values.lookup(name);
}

std::optional<int64_t> Arguments::integer(StringRef name, int64_t min,
                                          int64_t max) {
  std::optional<std::string> value = text(name);
  if (!value)
    return std::nullopt;
  int64_t number;
  if (!StringRef(*value).getAsInteger(10, number) && number >= min &&
      number <= max)
    return number;
  fail("--" + name + ": expected an integer from " + Twine(min) + " to " +
       Twine(max) + ", got '" + *value + "'");
  return std::nullopt;
}

std::optional<double> Arguments::number(StringRef name, double min,
                                        double max) {
  std::optional<std::string> value = text(name);
  if (!value)
    return std::nullopt;
  double number;
  if (!StringRef(*value).getAsDouble(number) && number >= min && number <= max)
    return number;
  fail("--" + name + ": expected a number from " + json::formatNumber(min) +
       " to " + json::formatNumber(max) + ", got '" + *value + "'");
  return std::nullopt;
}

std::optional<std::string> Arguments::word(StringRef name,
                                           ArrayRef<StringRef> allowed) {
  std::optional<std::string> value = text(name);
  if (!value || is_contained(allowed, StringRef(*value)))
    return value;
  fail("--" + name + ": expected one of " + join(allowed, ", ") + ", got '" +
       *value + "'");
  return std::nullopt;
}

std::vector<const Setting *> Arguments::stated() const {
  std::vector<const Setting *> list;
  for (const Setting &setting : framework->settings)
    if (has(setting.name))
      list.push_back(&setting);
  return list;
}

void Arguments::fail(const Twine &message) {
  if (error.empty())
    error = message.str();
}

Error Arguments::takeError() {
  if (error.empty())
    return Error::success();
  return createStringError(std::exchange(error, ""));
}
