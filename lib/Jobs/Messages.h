//===- Messages.h - diagnostics of a context as text ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_MESSAGES_H
#define PROTEUS_LIB_JOBS_MESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus::jobs {

/// Records the first error and all remarks and warnings that a context emits
/// while this object exists.
class Messages {
public:
  explicit Messages(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          std::string text;
          llvm::raw_string_ostream os(text);
          // Print a location only if it is in a file. Other locations do not
          // help the user.
          if (auto at = mlir::dyn_cast<mlir::FileLineColLoc>(
                  diagnostic.getLocation()))
            os << at.getFilename().getValue() << ":" << at.getLine() << ":"
               << at.getColumn() << ": ";
          os << diagnostic;
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            os << "; " << note;
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
            if (error.empty())
              error = text;
          } else {
            remarks.push_back(text);
          }
          return mlir::success();
        }) {}

  llvm::Error takeError(llvm::StringRef fallback) {
    return llvm::createStringError(error.empty() ? fallback.str() : error);
  }

  std::string error; ///< text of the first error
  std::vector<std::string> remarks;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_MESSAGES_H
