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

/// Element types of a training step, and its optimizer.
struct Precision {
  /// Type of parameters and activations: f64, f32, bf16 or f16.
  std::string compute = "bf16";
  /// Type in which gradients of parameters accumulate; empty: the type of the
  /// parameters.
  std::string gradient = "f32";
  /// Type of the master copy of the parameters; empty: no master copy. If there
  /// is a master copy, the optimizer updates it.
  std::string master = "f32";
  /// Optimizer: sgd, momentum or adam; empty: no training step, only a forward
  /// pass.
  std::string optimizer = "adam";
  /// Type in which the matrix units compute the linear operations of repeated
  /// layers, except those of routers. The operations convert their operands to
  /// this type. Either `f8` or empty; empty: no conversion.
  std::string matrix = "";
};

/// A model as a user requests it.
struct ModelRequest {
  /// Name of a preset, path of a file (ends in `.json`), or text of a file
  /// (starts with `{`). A file is a model file or a config.json of Hugging
  /// Face.
  std::string model;
  /// Global batch, in samples.
  int64_t batch = 1;
  Precision precision;
  /// Dimensions to change, in the form `name=value`, such as `layers=4`.
  std::vector<std::string> overrides;
};

/// Description of the model of a request.
struct ModelDescription {
  /// Name of the function in the module.
  std::string name;
  /// Publication that states the dimensions and the number of parameters; for a
  /// model file, its path; for the text of a model file, the word `model`.
  std::string source;
  int64_t parameters = 0;
  /// Names and values of the dimensions.
  std::vector<std::pair<std::string, std::string>> dimensions;
  /// Remarks on keys of a config.json that the model does not use.
  std::vector<std::string> remarks;
};

/// Builds a module with one function that computes the loss of the global
/// batch. The arguments of the function are the inputs and parameters of the
/// model, with attributes for role and path. An `nn.repeat` represents repeated
/// layers. Returns an error with the reason if the model cannot be built.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildModel(mlir::MLIRContext &context, const ModelRequest &request);

/// Returns the description of the model that `buildModel` builds for `request`.
llvm::Expected<ModelDescription> describe(const ModelRequest &request);

} // namespace proteus::models

#endif // PROTEUS_MODELS_BUILDMODEL_H
