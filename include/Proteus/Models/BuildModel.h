//===- BuildModel.h - construction of models by name ------------*- C++ -*-===//
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

/// Element types of a step, and its optimizer.
struct Precision {
  /// Type of parameters and activations: f64, f32, bf16 or f16.
  std::string compute = "bf16";
  /// Type in which gradients of parameters accumulate; empty: that of the
  /// parameters.
  std::string gradient = "f32";
  /// Type of the master copy of the parameters, which the optimizer updates;
  /// empty: no master copy.
  std::string master = "f32";
  /// Optimizer: sgd, momentum or adam; empty: the model has a forward pass
  /// only.
  std::string optimizer = "adam";
  /// Type into which linear operations of repeated layers convert their factors
  /// for the matrix units: f8; empty: no conversion.
  std::string matrix = "";
};

/// A model as a user requests it.
struct ModelRequest {
  /// Name of a preset, path of a file (a Hugging Face config.json or a model
  /// file), which ends in `.json`, or the text of such a file, which starts
  /// with `{`.
  std::string model;
  /// Global batch, in samples.
  int64_t batch = 1;
  Precision precision;
  /// Dimensions to change, as `name=value`: `layers=4`, `seq=1024`.
  std::vector<std::string> overrides;
};

/// Figures of the model of a request.
struct ModelDescription {
  /// Name of the function.
  std::string name;
  /// Source of the dimensions and the number of parameters.
  std::string source;
  /// Number of parameters.
  int64_t parameters = 0;
  /// Names and values of all dimensions.
  std::vector<std::pair<std::string, std::string>> dimensions;
};

/// Builds a module with one function over the global batch. Its arguments are
/// inputs and parameters with roles and paths, repeated layers are nn.repeat,
/// and its result is the loss. Returns an error with the reason if the model
/// cannot be built.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildModel(mlir::MLIRContext &context, const ModelRequest &request);

/// Returns the figures of the model that `buildModel` builds for `request`.
llvm::Expected<ModelDescription> describe(const ModelRequest &request);

} // namespace proteus::models

#endif // PROTEUS_MODELS_BUILDMODEL_H
