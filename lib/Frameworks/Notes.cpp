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

using namespace proteus::frameworks;

std::vector<std::string> Notes::remarks() const {
  std::vector<std::string> all;
  if (!defaults.empty())
    all.push_back("by default in " + framework.name + " " + framework.release +
                  ": " + llvm::join(defaults, "; "));
  if (!unmodelled.empty())
    all.push_back("not modelled: " + unmodelled.text());
  if (!without.empty())
    all.push_back("no effect on the prediction: " + without.text());
  llvm::append_range(all, others);
  return all;
}
