//===- proteus-lsp-server.cpp - MLIR language server ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DocumentFilter.h"

#include "Proteus/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::lsp::JSONStreamStyle;

/// Returns the style in which the server reads messages with these arguments.
static JSONStreamStyle styleOf(llvm::ArrayRef<char *> arguments) {
  bool isDelimited = llvm::any_of(arguments, [](llvm::StringRef argument) {
    argument = argument.ltrim('-');
    return argument == "lit-test" || argument == "input-style=delimited";
  });
  return isDelimited ? JSONStreamStyle::Delimited : JSONStreamStyle::Standard;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  proteus::registerAllDialects(registry);
  proteus::lsp::registerRefusalDialect(registry);
  if (!proteus::lsp::filterStandardInput(styleOf({argv, size_t(argc)}))) {
    llvm::errs() << "proteus-lsp-server: error: can't read standard input\n";
    return 1;
  }
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
