//===- Origin.h - where a value of a job comes from -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_ORIGIN_H
#define PROTEUS_PLAN_ORIGIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdint>

namespace proteus::plan {

/// The origin of a value of a job. Reports print its word next to the value.
enum class Origin : uint8_t {
  Given,   ///< the user states it
  Stack,   ///< the software stack decides it
  Default, ///< the default of Proteus or of the model
  Assumed, ///< nothing states it; Proteus chooses it for this job
  Derived, ///< it follows from other values
};

/// Returns the word for `origin` in reports.
inline llvm::StringRef stringify(Origin origin) {
  switch (origin) {
  case Origin::Given:
    return "given";
  case Origin::Stack:
    return "stack";
  case Origin::Default:
    return "default";
  case Origin::Assumed:
    return "assumed";
  case Origin::Derived:
    return "derived";
  }
  llvm_unreachable("unknown origin");
}

} // namespace proteus::plan

#endif // PROTEUS_PLAN_ORIGIN_H
