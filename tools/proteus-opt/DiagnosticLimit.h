//===- DiagnosticLimit.h - bounded output of diagnostics --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR prints each diagnostic with its line of the input. A module with
// thousands of faults in one line of 100 KB would give gigabytes of output.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_OPT_DIAGNOSTICLIMIT_H
#define PROTEUS_TOOLS_OPT_DIAGNOSTICLIMIT_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace proteus::opt {

/// Prints only the first errors, and diagnostics at long lines without the
/// line.
class DiagnosticLimit {
public:
  /// Most errors that are printed.
  static constexpr size_t maxErrors = 100;
  /// Length of the longest line that is printed with a diagnostic.
  static constexpr size_t maxLine = 4096;

  /// `text` is the input.
  explicit DiagnosticLimit(llvm::StringRef text);

  /// Limits the diagnostics of the context to which `registry` is given. This
  /// object must exist as long as the context.
  void install(mlir::DialectRegistry &registry);

  /// Returns the number of errors that were not printed.
  size_t numHidden() const {
    return numErrors > maxErrors ? numErrors - maxErrors : 0;
  }

private:
  class Installer;

  /// Prints `diagnostic`, or returns failure so that MLIR prints it.
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);
  bool isAtLongLine(mlir::Location location) const;

  llvm::DenseSet<unsigned> longLines; ///< numbers of lines, counted from 1
  size_t numErrors = 0;
  bool isInstalled = false;
};

} // namespace proteus::opt

#endif // PROTEUS_TOOLS_OPT_DIAGNOSTICLIMIT_H
