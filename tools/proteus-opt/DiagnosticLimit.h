//===- DiagnosticLimit.h - bounded output of diagnostics --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR prints each diagnostic with its line of the input. A module with
// thousands of faults in one line of 100 KB would give gigabytes of output, and
// control characters in a line or a name could change the state of the
// terminal.
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

/// Prints only the first errors, long lines not at all, and control characters
/// as `\x1b`.
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
  /// Returns true if MLIR may print `diagnostic` with its line.
  bool isPlain(const mlir::Diagnostic &diagnostic) const;

  /// Numbers, counted from 1, of lines that are not printed: they are long or
  /// have control characters.
  llvm::DenseSet<unsigned> hiddenLines;
  size_t numErrors = 0;
  bool isInstalled = false;
};

} // namespace proteus::opt

#endif // PROTEUS_TOOLS_OPT_DIAGNOSTICLIMIT_H
