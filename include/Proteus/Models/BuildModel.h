//===- BuildModel.h - from a name to a module -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MODELS_BUILDMODEL_H
#define PROTEUS_MODELS_BUILDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace proteus::models {

/// In which types a step computes, and how it updates.
struct Precision {
  /// Parameters and activations: f64, f32, bf16, f16.
  std::string compute = "bf16";
  /// Accumulated gradients of parameters; empty: as the parameters.
  std::string gradient = "f32";
  /// A second copy of the parameters that the optimizer updates; empty: none.
  std::string master = "f32";
  /// sgd, momentum or adam; empty: a forward pass only.
  std::string optimizer = "adam";
  /// What linear operations of repeated layers convert their factors into for
  /// the matrix units: f8; empty: nothing.
  std::string matrix = "";
};

/// A model, as a user asks for it.
struct ModelRequest {
  /// A preset, a file (a Hugging Face config.json or a model file), or the text
  /// of one, which begins with `{`.
  std::string model;
  /// The global batch.
  int64_t batch = 1;
  Precision precision;
  /// Dimensions that differ, as `name=value`: `layers=4`, `seq=1024`.
  std::vector<std::string> overrides;
};

/// What a request stands for.
struct ModelDescription {
  /// The name of the function.
  std::string name;
  /// Where dimensions and number of parameters come from.
  std::string source;
  int64_t parameters = 0;
  /// Names and values of all dimensions.
  std::vector<std::pair<std::string, std::string>> dimensions;
};

/// Builds a module with one function over the global batch: inputs and
/// parameters with roles and paths, repeated layers as nn.repeat, the loss as
/// result. One error says what can't be built, and why.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildModel(mlir::MLIRContext &context, const ModelRequest &request);

/// The figures of what `buildModel` would build.
llvm::Expected<ModelDescription> describe(const ModelRequest &request);

} // namespace proteus::models

#endif // PROTEUS_MODELS_BUILDMODEL_H
