//===- IRTarget.cpp - text of MLIR with the dialects of Proteus -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Support/ModuleFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace proteus;

/// Parses and verifies `text`. Returns null, after one diagnostic at least, if
/// it is not a valid module.
static OwningOpRef<ModuleOp> parse(llvm::StringRef text, MLIRContext *context) {
  bool anyError = false;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    std::string message = diagnostic.str();
    anyError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  // The parser reads one character beyond the text, as after a file.
  std::string terminated = text.str();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(terminated, context);
  fuzz::require(module || anyError);
  return module;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

MLIRContext &fuzz::sharedContext() {
  // A context keeps the types and attributes of all its modules.
  constexpr unsigned usesOfOneContext = 64;
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % usesOfOneContext == 0)
    context = jobs::createContext();
  return *context;
}

void fuzz::readIR(llvm::StringRef text) {
  // Tools refuse such a text before they parse it.
  if (findTextFault(text))
    return;
  MLIRContext &context = sharedContext();
  OwningOpRef<ModuleOp> module = parse(text, &context);
  if (!module)
    return;
  // The printed module is the same module.
  std::string printed = print(*module);
  OwningOpRef<ModuleOp> copy = parse(printed, &context);
  require(copy && print(*copy) == printed);
}
