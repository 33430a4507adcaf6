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

#include "Proteus/Dialect/Proteus/ProteusDialect.h.inc"

#endif // PROTEUS_DIALECT_PROTEUS_PROTEUS_H
