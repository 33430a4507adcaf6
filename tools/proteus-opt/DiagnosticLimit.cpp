//===- DiagnosticLimit.cpp - bounded output of diagnostics ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiagnosticLimit.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace proteus::opt;

/// Registers the limit when the first dialect except `builtin` is loaded. That
/// is after the registration of MLIR's own handler, and the last handler is
/// asked first.
class DiagnosticLimit::Installer : public DialectExtensionBase {
public:
  // No names of dialects: the extension applies to each dialect.
  explicit Installer(DiagnosticLimit &limit)
      : DialectExtensionBase(ArrayRef<StringRef>()), limit(limit) {}

  void apply(MLIRContext *context,
             MutableArrayRef<Dialect *> dialects) const override {
    if (limit.isInstalled || isa<BuiltinDialect>(dialects.front()))
      return;
    limit.isInstalled = true;
    context->getDiagEngine().registerHandler(
        [&limit = limit](Diagnostic &diagnostic) {
          return limit.handle(diagnostic);
        });
  }
  std::unique_ptr<DialectExtensionBase> clone() const override {
    return std::make_unique<Installer>(*this);
  }

private:
  DiagnosticLimit &limit;
};

DiagnosticLimit::DiagnosticLimit(StringRef text) {
  for (unsigned number = 1; !text.empty(); ++number) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    if (line.size() > maxLine)
      longLines.insert(number);
  }
}

void DiagnosticLimit::install(DialectRegistry &registry) {
  registry.addExtension(TypeID::get<Installer>(),
                        std::make_unique<Installer>(*this));
}

bool DiagnosticLimit::isAtLongLine(Location location) const {
  auto place = location->findInstanceOf<FileLineColLoc>();
  return place && longLines.contains(place.getLine());
}

static StringRef severityOf(const Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("a diagnostic has one of these severities");
}

/// Prints a diagnostic as MLIR does, but without the line of the input.
static void print(const Diagnostic &diagnostic) {
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    llvm::errs() << place.getFilename().getValue() << ":" << place.getLine()
                 << ":" << place.getColumn() << ": ";
  llvm::errs() << severityOf(diagnostic) << ": " << diagnostic << "\n";
}

LogicalResult DiagnosticLimit::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      ++numErrors > maxErrors)
    return success();
  bool isLong =
      isAtLongLine(diagnostic.getLocation()) ||
      llvm::any_of(diagnostic.getNotes(), [&](const Diagnostic &note) {
        return isAtLongLine(note.getLocation());
      });
  if (!isLong)
    return failure();
  print(diagnostic);
  for (const Diagnostic &note : diagnostic.getNotes())
    print(note);
  return success();
}
