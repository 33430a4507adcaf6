//===- Evaluation.h - evaluation of a random case ---------------*- C++ -*-===//
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

/// Result of a case. Results from `Stuck` on are failures. `Stuck`: a pass
/// after propagate-strategy fails, although propagate-strategy must reject all
/// cases that can't be lowered. `OtherTime`: layers that are written out do the
/// same work as repeated layers in another time.
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

/// Result of a comparison of repeated layers with layers written out. `None`:
/// the model has no repeats, or can't be simulated. `OtherWork`: the two do
/// different work, so their times are not compared.
enum class FormComparison : uint8_t {
  None,
  OtherWork,
  OtherWorkSameTime,
  SameWork
};

struct Verdict {
  Outcome outcome = Outcome::Crash;
  /// Character i is `1` if feature i of the registry has an effect on the
  /// accepted program. Empty if `findFeatures` is false.
  std::string features;
  /// How layers written out compare with repeated ones.
  FormComparison forms = FormComparison::None;
  /// First diagnostic.
  std::string message;
};

/// Lowers and executes a case. A program that is lowered but can't be executed,
/// or computes other values, is a mismatch.
Verdict evaluate(mlir::MLIRContext &context, const Case &input,
                 double tolerance, bool findFeatures);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_EVALUATION_H
