//===- StrategyDialect.cpp - the strategy dialect -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Strategy/Strategy.h"

using namespace proteus::strategy;

#include "Proteus/Dialect/Strategy/StrategyDialect.cpp.inc"

void StrategyDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Proteus/Dialect/Strategy/StrategyOps.cpp.inc"
      >();
}
