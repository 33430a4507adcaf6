//===- ResolveMachine.h - cluster, stack and site of a module ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H
#define PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// The cluster that `module` names in `proteus.cluster`: an embedded preset, a
/// JSON file relative to the file of the module, or a dictionary. `override`,
/// if not empty, replaces the attribute. Without any, or if it can't be read,
/// one error is emitted.
llvm::FailureOr<machine::Cluster> resolveCluster(mlir::ModuleOp module,
                                                 llvm::StringRef override);

/// The software stack and the site that `module` names in `proteus.stack` and
/// `proteus.site`, likewise; JSON text is allowed in place of a file. Without
/// any, a stack that costs nothing and a site that changes nothing.
llvm::FailureOr<machine::Stack> resolveStack(mlir::ModuleOp module,
                                             llvm::StringRef override);
llvm::FailureOr<machine::Site> resolveSite(mlir::ModuleOp module,
                                           llvm::StringRef override);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H
