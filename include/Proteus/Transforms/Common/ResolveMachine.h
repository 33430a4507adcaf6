//===- ResolveMachine.h - cluster, stack and site of a module ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that read the cluster, the software stack and the site of a module
// from its attributes. Used by match-strategy, insert-collectives, simulate and
// jobs.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H
#define PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {

/// Sets the attributes `proteus.cluster`, `proteus.stack` and `proteus.site` of
/// a module to the options of a pass. An empty option leaves its attribute
/// unchanged.
void writeMachineOptions(mlir::ModuleOp module, llvm::StringRef cluster,
                         llvm::StringRef stack = {}, llvm::StringRef site = {});

/// Returns the cluster in the attribute `proteus.cluster` of `module`. The
/// attribute is the name of an embedded preset, the path of a JSON file
/// relative to the file of the module, or a dictionary. Emits one error if
/// there is no cluster or it cannot be read.
llvm::FailureOr<machine::Cluster> resolveCluster(mlir::ModuleOp module);

/// Returns the software stack in the attribute `proteus.stack`, or the site in
/// `proteus.site`. Each attribute is a name, the path of a JSON file, a
/// dictionary or JSON text. Without the attribute, returns a stack that adds no
/// costs, or a site that changes no costs.
llvm::FailureOr<machine::Stack> resolveStack(mlir::ModuleOp module);
llvm::FailureOr<machine::Site> resolveSite(mlir::ModuleOp module);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_RESOLVEMACHINE_H
