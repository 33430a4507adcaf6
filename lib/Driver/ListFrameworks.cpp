//===- ListFrameworks.cpp - proteus list frameworks -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListFrameworks.h"

#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::frameworks;

namespace {
/// Settings with the same text, in the order of the table.
struct Group {
  std::string text;
  std::vector<std::string> names;
};

/// The settings of one effect, with the titles of its two columns.
struct Section {
  Effect effect;
  StringRef title, column;
};
} // namespace

static constexpr Section sections[] = {
    {Effect::Used, "Used", "sets"},
    {Effect::NotModelled, "Not modelled", "the prediction assumes"},
    {Effect::None, "No effect on the prediction", "because"},
    {Effect::Refused, "Refused", "because"}};

static std::vector<Group> groupsOf(const Framework &framework, Effect effect) {
  std::vector<Group> groups;
  for (const Setting &setting : framework.settings) {
    if (setting.effect != effect)
      continue;
    std::string name =
        (framework.flag == "megatron" ? "--" : "") + setting.name;
    if (groups.empty() || groups.back().text != setting.text ||
        effect == Effect::Used)
      groups.push_back({setting.text, {name}});
    else
      groups.back().names.push_back(name);
  }
  return groups;
}

static void printMarkdown(const Framework &framework) {
  outs() << "## " << framework.name << " " << framework.release << "\n";
  for (const Section &section : sections) {
    std::vector<Group> groups = groupsOf(framework, section.effect);
    if (groups.empty())
      continue;
    outs() << "\n### " << section.title << " (" << framework.name
           << ")\n\n| settings | " << section.column << " |\n|---|---|\n";
    for (const Group &group : groups)
      outs() << "| `" << join(group.names, "`, `") << "` | " << group.text
             << " |\n";
  }
}

int proteus::driver::listFrameworks(bool asMarkdown) {
  if (asMarkdown) {
    for (const Framework &framework : allFrameworks()) {
      if (&framework != &allFrameworks().front())
        outs() << "\n";
      printMarkdown(framework);
    }
    return 0;
  }
  Table table({"framework", "release", "flag", "used", "not modelled",
               "no effect", "refused"},
              3);
  for (const Framework &framework : allFrameworks()) {
    auto count = [&](Effect effect) {
      return std::to_string(
          llvm::count_if(framework.settings, [&](const Setting &setting) {
            return setting.effect == effect;
          }));
    };
    table.add({framework.name, framework.release, "--" + framework.flag,
               count(Effect::Used), count(Effect::NotModelled),
               count(Effect::None), count(Effect::Refused)});
  }
  table.print(outs());
  outs() << "\n  --markdown lists the settings (docs/frameworks.md)\n";
  return 0;
}
