//===- Proteus.h - the proteus attribute dialect ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_PROTEUS_PROTEUS_H
#define PROTEUS_DIALECT_PROTEUS_PROTEUS_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectInterface.h"

namespace proteus {

/// Interface by which a dialect allows attributes of the proteus dialect on its
/// operations. It is used only for attributes that are limited to certain
/// operations, such as `proteus.once`. On operations of a dialect without this
/// interface, the verifier rejects these attributes.
class AttributePlaceInterface
    : public mlir::DialectInterface::Base<AttributePlaceInterface> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttributePlaceInterface)

  explicit AttributePlaceInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Returns true if `op` may carry the attribute `name`.
  virtual bool mayCarry(mlir::Operation *op, llvm::StringRef name) const = 0;
};

} // namespace proteus

#include "Proteus/Dialect/Proteus/ProteusDialect.h.inc"

#endif // PROTEUS_DIALECT_PROTEUS_PROTEUS_H
