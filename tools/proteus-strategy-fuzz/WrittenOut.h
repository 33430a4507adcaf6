//===- WrittenOut.h - comparison with layers written out --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_WRITTENOUT_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_WRITTENOUT_H

#include <optional>
#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace proteus {
namespace fuzz {

/// A step with repeated layers and with the same layers written out.
struct Forms {
  /// True if every section has the same kernels in both, with operands and
  /// results in the same layouts, and the same communication, and both read
  /// values after the same communication. Layers that are written out can
  /// differ, because each of them has partitions and layouts of its own, while
  /// repeated layers have one partition and one layout for all.
  bool sameWork;
  int64_t repeated, writtenOut; ///< times of the step in picoseconds
};

/// Simulates an accepted case with repeated layers and with layers written out.
/// Returns nullopt for models without repeats and for cases that can't be
/// simulated.
std::optional<Forms> simulateForms(mlir::MLIRContext &context,
                                   const std::string &text);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_WRITTENOUT_H
