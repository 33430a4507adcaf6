//===- proteus-plugin.cpp - plugin for mlir-opt -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets any tool built on MlirOptMain run the pipeline:
//
//   mlir-opt-22 --load-dialect-plugin=libProteusPlugin.so \
//     --pass-pipeline='builtin.module(lower-strategy,simulate)' model.mlir
//
//===----------------------------------------------------------------------===//

#include "Proteus/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  // Registers the passes with the dialects, so that one option suffices.
  return {MLIR_PLUGIN_API_VERSION, "Proteus", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            proteus::registerAllDialects(*registry);
            proteus::registerAllPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Proteus", LLVM_VERSION_STRING,
          []() { proteus::registerAllPasses(); }};
}
