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

/// Interface of a dialect whose operations carry attributes of this dialect
/// that belong to certain operations, such as `proteus.once`. The verifier
/// rejects them on operations of dialects without the interface.
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
