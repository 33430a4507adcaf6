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

/// Times of a step with repeated layers and with the same layers written out,
/// in picoseconds.
struct FormTimes {
  int64_t repeated, writtenOut;
};

/// Simulates an accepted case with repeated layers and with layers written out.
/// Returns nullopt for models without repeats, for cases that can't be
/// simulated, and if the two do different work. The last happens because random
/// splits of single kernels may let layers that are written out reshard less,
/// or elsewhere.
std::optional<FormTimes> compareForms(mlir::MLIRContext &context,
                                      const std::string &text);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_WRITTENOUT_H
