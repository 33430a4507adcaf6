//===- proteus-opt.cpp - runs passes over a file --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, proteus::ProteusDialect,
                  proteus::strategy::StrategyDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Proteus optimizer driver\n", registry));
}
