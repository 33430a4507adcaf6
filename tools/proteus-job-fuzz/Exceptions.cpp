//===- Exceptions.cpp - known exceptions of rules -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exceptions.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

/// Returns true if `job` has the value of a condition.
static bool holds(const std::pair<std::string, std::string> &condition,
                  const JobCase &job) {
  StringRef value = condition.second, given = job.get(condition.first);
  return value.consume_back("*") ? given.starts_with(value) : given == value;
}

bool Exception::explains(const Rule &broken, const Pair &pair,
                         const Finding &finding) const {
  if (!is_contained(rules, &broken) || finding.excess > bound)
    return false;
  return when.empty() || any_of(when, [&](const auto &all) {
           return all_of(all, [&](const auto &condition) {
             return holds(condition, pair.base);
           });
         });
}

/// Sets one entry of an exception. Returns false if the entry is unknown or its
/// value is invalid.
static bool setEntry(Exception &exception, StringRef key, StringRef value) {
  if (key == "rule") {
    const Rule *rule = findRule(value);
    exception.rules.push_back(rule);
    return rule;
  }
  if (key == "bound") {
    bool isPercent = value.consume_back("%");
    bool wrong = value.trim().getAsDouble(exception.bound);
    exception.bound /= 100;
    return isPercent && !wrong;
  }
  if (key == "when") {
    SmallVector<StringRef> words;
    value.split(words, ' ', -1, /*KeepEmpty=*/false);
    exception.when.emplace_back();
    for (StringRef word : words)
      exception.when.back().push_back(
          {word.split('=').first.str(), word.split('=').second.str()});
    return true;
  }
  if (key == "mechanism")
    exception.mechanism = value.str();
  else if (key == "reproducer")
    exception.reproducer = parseCase(value);
  else
    return false;
  return true;
}

Expected<std::vector<Exception>> proteus::fuzz::readExceptions(StringRef path) {
  Expected<std::string> text = readInput(path);
  if (!text)
    return text.takeError();
  std::vector<Exception> list;
  SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n');
  for (auto [number, line] : enumerate(lines)) {
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto fail = [&, number = number](const Twine &why) {
      return createStringError(path + ":" + Twine(number + 1) + ": " + why);
    };
    if (line.consume_front("[") && line.consume_back("]")) {
      list.emplace_back().name = line.str();
      continue;
    }
    auto [key, value] = line.split(':');
    if (list.empty() || !setEntry(list.back(), key, value.trim()))
      return fail("expected rule, when, bound in %, mechanism or reproducer "
                  "after a [name], got '" +
                  line + "'");
  }
  for (const Exception &exception : list)
    if (exception.rules.empty() || exception.mechanism.empty() ||
        exception.reproducer.flags.empty())
      return createStringError(path + ": [" + exception.name +
                               "] needs a rule, a mechanism and a reproducer");
  if (list.size() > maxExceptions)
    return createStringError(path + ": " + Twine(list.size()) +
                             " exceptions; at most " + Twine(maxExceptions) +
                             " are allowed");
  return list;
}
