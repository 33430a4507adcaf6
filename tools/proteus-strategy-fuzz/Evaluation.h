//===- Evaluation.h - one case, lowered and executed ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_EVALUATION_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_EVALUATION_H

#include "Case.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace proteus {
namespace fuzz {

/// From `Stuck` on a case has failed. It is stuck if a pass after
/// propagate-strategy, which has to see what can't be lowered, gives up. It has
/// another time if its layers, written out, do the same work in another time.
enum class Outcome : uint8_t {
  Right,
  Rejected,
  Stuck,
  Mismatch,
  OtherTime,
  Crash,
  Hang
};

llvm::StringRef describe(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::Crash;
  /// Character i is `1` if feature i of the registry is in the accepted
  /// program; empty if that was not asked for.
  std::string features;
  /// Whether the time of a step was compared with that of layers written out.
  bool comparedForms = false;
  /// The first diagnostic.
  std::string message;
};

/// Runs a case. A program that is lowered and then can't be executed, or
/// computes something else, is a mismatch.
Verdict evaluate(mlir::MLIRContext &context, const Case &input,
                 double tolerance, bool findFeatures);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_EVALUATION_H
