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

/// Registers the dialects of Proteus, the upstream dialects its inputs are
/// written in, and the interfaces it attaches to them. The optimizer, the
/// language server, the plugin and the tests share this list.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers the passes and pipelines of Proteus.
void registerAllPasses();

} // namespace proteus

#endif // PROTEUS_INITALL_H
