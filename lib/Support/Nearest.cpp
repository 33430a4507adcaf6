//===- Nearest.cpp - nearest match among known words ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Nearest.h"

#include <algorithm>

using namespace llvm;

std::string proteus::nearest(StringRef text, ArrayRef<std::string> known) {
  std::string best;
  unsigned least = std::max<unsigned>(2, text.size() / 2);
  for (const std::string &name : known) {
    unsigned distance = text.edit_distance(name, /*AllowReplacements=*/true);
    // A longer word that begins with `text` is always similar, unless `text`
    // has only one or two characters.
    if (StringRef(name).starts_with(text) && text.size() > 2)
      distance = 1;
    if (distance < least && distance < text.size()) {
      least = distance;
      best = name;
    }
  }
  return best;
}
