//===- PlanEnums.h - choices of a parallel plan -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enumerations that are generated from PlanEnums.td, and for each enumeration X
// the functions `stringifyX` and `symbolizeX`. The generated C++ code needs no
// MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANENUMS_H
#define PROTEUS_PLAN_PLANENUMS_H

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
using llvm::failed;
using llvm::FailureOr;
} // namespace mlir

#include "Proteus/Plan/PlanEnums.h.inc"

namespace proteus::plan {

/// Returns the words for the values of an enumeration, in the order of the
/// values.
template <typename Enum> std::vector<std::string> wordsOf() {
  std::vector<std::string> words;
  for (uint32_t value = 0;; ++value) {
    llvm::StringRef word = stringifyEnum(static_cast<Enum>(value));
    if (word.empty())
      return words;
    words.push_back(word.str());
  }
}

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANENUMS_H
