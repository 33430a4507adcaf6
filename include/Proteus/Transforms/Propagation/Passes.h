//===- Passes.h - partitions along the data flow ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PROPAGATION_PASSES_H
#define PROTEUS_TRANSFORMS_PROPAGATION_PASSES_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace proteus {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Proteus/Transforms/Propagation/Passes.h.inc"

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_PROPAGATION_PASSES_H
