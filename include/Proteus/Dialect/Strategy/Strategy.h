//===- Strategy.h - the strategy dialect ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGY_H
#define PROTEUS_DIALECT_STRATEGY_STRATEGY_H

#include "Proteus/Plan/PlanEnums.h"
#include "Proteus/Support/PathPattern.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

namespace proteus::strategy {
/// Keys of a split of a parameter, its gradient or its state that stand for all
/// dimensions together: equal numbers of elements, or of rows of dimension 0.
constexpr llvm::StringLiteral kFlatKey = "flat";
constexpr llvm::StringLiteral kFlatRowsKey = "flat_rows";
} // namespace proteus::strategy

#include "Proteus/Dialect/Strategy/StrategyDialect.h.inc"
#include "Proteus/Dialect/Strategy/StrategyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/Strategy/StrategyAttrs.h.inc"

#define GET_OP_CLASSES
#include "Proteus/Dialect/Strategy/StrategyOps.h.inc"

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGY_H
