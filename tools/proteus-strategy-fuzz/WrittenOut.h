//===- WrittenOut.h - repeated layers and layers written out ----*- C++ -*-===//
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

/// The times of a step with repeated layers and with the same layers written
/// out, in picoseconds.
struct FormTimes {
  int64_t repeated, writtenOut;
};

/// Simulates an accepted case in both forms. Random splits of single kernels
/// may have layers that are written out convert less, or at another place; such
/// pairs have no common time. Nothing is returned for them, for models without
/// repeats and for what can't be simulated.
std::optional<FormTimes> compareForms(mlir::MLIRContext &context,
                                      const std::string &text);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_WRITTENOUT_H
