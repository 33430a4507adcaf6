//===- CountParameters.h - parameters of a model ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MODELS_COUNTPARAMETERS_H
#define PROTEUS_MODELS_COUNTPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace proteus::models {

/// Numbers of parameters of a model.
struct ParameterCount {
  int64_t all = 0;
  /// Parameters with which one token is computed: of the routed experts, only
  /// those that the router chooses for a token.
  int64_t active = 0;
};

/// Counts the parameters of the models in a module that is not lowered yet.
ParameterCount countParameters(mlir::ModuleOp module);

} // namespace proteus::models

#endif // PROTEUS_MODELS_COUNTPARAMETERS_H
