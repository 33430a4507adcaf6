//===- InitAll.cpp - one list for all tools ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/InitAll.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/LinalgInterface.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

void proteus::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<ProteusDialect, dist::DistDialect, nn::NNDialect,
                  strategy::StrategyDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
  nn::registerLinalgInterfaces(registry);
}

void proteus::registerAllPasses() {
  registerProteusPasses();
  registerProteusCheckPasses();
  registerProteusPipelines();
}
