//===- JobCase.cpp - a random job as command-line flags -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobCase.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

StringRef JobCase::get(StringRef flag) const {
  for (const auto &[name, value] : flags)
    if (name == flag)
      return value;
  return "";
}

bool JobCase::has(StringRef flag) const {
  return any_of(flags, [&](const auto &entry) { return entry.first == flag; });
}

int64_t JobCase::getInteger(StringRef flag, int64_t otherwise) const {
  int64_t value = 0;
  return get(flag).getAsInteger(10, value) ? otherwise : value;
}

int64_t JobCase::getReplicas() const {
  int64_t inner =
      getInteger("tp", 1) * getInteger("pp", 1) * getInteger("cp", 1);
  int64_t gpus = getInteger("gpus", inner * getInteger("dp", 1));
  return gpus % inner == 0 ? gpus / inner : 0;
}

void JobCase::add(StringRef flag, StringRef value) {
  flags.push_back({flag.str(), value.str()});
}

/// Returns the field of the plan that a flag sets, or null if it sets none.
static const plan::Field *fieldOf(StringRef flag) {
  for (const plan::Shorthand &other : plan::shorthands())
    if (other.flag == flag || is_contained(other.aliases, flag))
      return other.field;
  return plan::findByFlag(flag);
}

void JobCase::set(StringRef flag, StringRef value) {
  const plan::Field *field = fieldOf(flag);
  erase_if(flags, [&](const auto &entry) {
    return entry.first != flag && field && fieldOf(entry.first) == field;
  });
  for (auto &[name, old] : flags)
    if (name == flag) {
      old = value.str();
      return;
    }
  add(flag, value);
}

JobCase JobCase::with(StringRef flag, StringRef value) const {
  JobCase copy = *this;
  copy.set(flag, value);
  return copy;
}

JobCase JobCase::without(StringRef flag) const {
  JobCase copy = *this;
  erase_if(copy.flags, [&](const auto &entry) { return entry.first == flag; });
  return copy;
}

std::vector<std::string> JobCase::getArguments() const {
  std::vector<std::string> arguments;
  for (const auto &[flag, value] : flags)
    arguments.push_back("--" + flag + "=" + value);
  return arguments;
}

std::string JobCase::str() const {
  std::string text;
  for (const auto &[flag, value] : flags) {
    text += (text.empty() ? "--" : " --") + flag;
    if (value == "false")
      text += "=false";
    else if (value != "true")
      text += " " + value;
  }
  return text;
}

JobCase proteus::fuzz::parseCase(StringRef text) {
  JobCase result;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    if (!word.consume_front("--")) {
      if (!result.flags.empty())
        result.flags.back().second = word.str();
      continue;
    }
    auto [flag, value] = word.split('=');
    result.add(flag, word.contains('=') ? value : "true");
  }
  return result;
}
