//===- InitAll.h - one list for all tools -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INITALL_H
#define PROTEUS_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace proteus {

/// Registers the dialects of Proteus and the upstream dialects in which models
/// may be written, and attaches the interfaces of Proteus to upstream
/// operations.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers all passes and pipelines of Proteus.
void registerAllPasses();

} // namespace proteus

#endif // PROTEUS_INITALL_H
