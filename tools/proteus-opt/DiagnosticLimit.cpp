//===- DiagnosticLimit.cpp - bounded output of diagnostics ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiagnosticLimit.h"

#include "Proteus/Support/Printable.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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

/// Returns true if a terminal shows `line` as it is.
static bool isPrintable(StringRef line) {
  auto isWhite = [](char c) { return c == '\t' || c == '\r'; };
  // Most lines are ASCII.
  if (llvm::all_of(line,
                   [&](char c) { return llvm::isPrint(c) || isWhite(c); }))
    return true;
  std::string text = line.str();
  llvm::erase_if(text, isWhite);
  return proteus::printable(text) == text;
}

DiagnosticLimit::DiagnosticLimit(StringRef text) {
  for (unsigned number = 1; !text.empty(); ++number) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    if (line.size() > maxLine || !isPrintable(line))
      hiddenLines.insert(number);
  }
}

void DiagnosticLimit::install(DialectRegistry &registry) {
  registry.addExtension(TypeID::get<Installer>(),
                        std::make_unique<Installer>(*this));
}

bool DiagnosticLimit::isPlain(const Diagnostic &diagnostic) const {
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  std::string text = diagnostic.str();
  return !(place && hiddenLines.contains(place.getLine())) &&
         printable(text, /*keepNewlines=*/true) == text;
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
    llvm::errs() << proteus::printable(place.getFilename()) << ":"
                 << place.getLine() << ":" << place.getColumn() << ": ";
  llvm::errs() << severityOf(diagnostic) << ": "
               << proteus::printable(diagnostic.str(), /*keepNewlines=*/true)
               << "\n";
}

LogicalResult DiagnosticLimit::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      ++numErrors > maxErrors)
    return success();
  auto isPlain = [&](const Diagnostic &one) { return this->isPlain(one); };
  if (isPlain(diagnostic) && llvm::all_of(diagnostic.getNotes(), isPlain))
    return failure();
  print(diagnostic);
  for (const Diagnostic &note : diagnostic.getNotes())
    print(note);
  return success();
}
