//===- Dist.h - the dist dialect --------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DIST_H
#define PROTEUS_DIALECT_DIST_DIST_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Dialect/Dist/Schedule.h"
#include "Proteus/Plan/PlanEnums.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Proteus/Dialect/Dist/DistDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/Dist/DistAttrs.h.inc"

namespace proteus::dist {

/// The side-effect resource of communication between programs. Sends, receives
/// and reductions over stages have a write effect on it, so no pass reorders
/// them.
struct WireResource : mlir::SideEffects::Resource::Base<WireResource> {
  llvm::StringRef getName() final { return "dist.wire"; }
};

/// Returns the layout of a tensor type. Returns null if the type has no layout
/// or is no ranked tensor.
LayoutAttr getLayout(mlir::Type type);

} // namespace proteus::dist

#include "Proteus/Dialect/Dist/DistInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Proteus/Dialect/Dist/DistOps.h.inc"

namespace proteus::dist {

/// Returns the purpose of the data that `op` moves. Returns nullopt if the
/// purpose is not set or `op` moves no data.
inline std::optional<Purpose> getPurpose(mlir::Operation *op) {
  auto movement = mlir::dyn_cast<DataMovementOpInterface>(op);
  return movement ? movement.getPurpose() : std::nullopt;
}

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_DIST_H
