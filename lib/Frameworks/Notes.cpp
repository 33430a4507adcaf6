//===- Notes.cpp - settings that are not used -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Notes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus::frameworks;

void Notes::add(std::vector<Group> &groups, StringRef setting,
                StringRef reason) {
  auto found =
      find_if(groups, [&](const Group &each) { return each.reason == reason; });
  if (found == groups.end())
    groups.push_back({reason.str(), {setting.str()}});
  else if (!is_contained(found->settings, setting))
    found->settings.push_back(setting.str());
}

std::string Notes::join(ArrayRef<Group> groups) {
  std::string text;
  for (const Group &group : groups)
    text += (text.empty() ? "" : "; ") + llvm::join(group.settings, ", ") +
            " (" + group.reason + ")";
  return text;
}

void Notes::noEffect(StringRef setting, StringRef reason) {
  add(without, setting, reason);
}

void Notes::notModelled(StringRef setting, StringRef assumption) {
  add(unmodelled, setting, assumption);
}

std::vector<std::string> Notes::remarks() const {
  std::vector<std::string> all;
  if (!defaults.empty())
    all.push_back("by default in " + framework.name + " " + framework.release +
                  ": " + llvm::join(defaults, "; "));
  if (!unmodelled.empty())
    all.push_back("not modelled: " + join(unmodelled));
  if (!without.empty())
    all.push_back("no effect on the prediction: " + join(without));
  llvm::append_range(all, others);
  return all;
}
