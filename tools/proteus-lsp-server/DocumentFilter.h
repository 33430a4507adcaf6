//===- DocumentFilter.h - documents that the parser can read ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A deeply nested document overflows the stack of MLIR's parser, and others
// take too long (see ModuleFile.h). The server of MLIR reads standard input by
// itself. This filter is therefore put before standard input: it replaces such
// a document by a text that gives one diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_LSPSERVER_DOCUMENTFILTER_H
#define PROTEUS_TOOLS_LSPSERVER_DOCUMENTFILTER_H

#include "llvm/Support/LSP/Transport.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace proteus::lsp {

/// Registers the dialect of the text that replaces a document.
void registerRefusalDialect(mlir::DialectRegistry &registry);

/// Replaces standard input by a pipe that contains its messages with filtered
/// documents. A thread copies the messages until the process ends. Returns
/// false if the system has no more files or threads.
bool filterStandardInput(llvm::lsp::JSONStreamStyle style);

} // namespace proteus::lsp

#endif // PROTEUS_TOOLS_LSPSERVER_DOCUMENTFILTER_H
