//===- Reasons.cpp - names grouped by reason ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Reasons.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;

void Reasons::add(StringRef name, StringRef reason) {
  auto found =
      find_if(groups, [&](const Group &each) { return each.reason == reason; });
  if (found == groups.end())
    groups.push_back({reason.str(), {name.str()}});
  else if (!is_contained(found->names, name))
    found->names.push_back(name.str());
}

std::string Reasons::text() const {
  std::string text;
  for (const Group &group : groups)
    text += (text.empty() ? "" : "; ") + join(group.names, ", ") + " (" +
            group.reason + ")";
  return text;
}
