//===- BuildModel.cpp - construction of models by name ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/BuildModel.h"

#include "ModelFile.h"

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Models/Registry.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

/// Maximum number of parameters of a model. All published models have far
/// fewer. With more parameters, the sizes of tensors could overflow 64 bits.
static constexpr double maxParameters = 1e15;
/// Maximum global batch, in samples. A larger batch is probably a typing error.
static constexpr int64_t maxBatch = 1'000'000'000;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static Expected<LoadedModel> findModel(const ModelRequest &request) {
  if (StringRef(request.model).starts_with("{"))
    return parseModelFile(request.model, "model");
  if (StringRef(request.model).ends_with(".json"))
    return loadModelFile(request.model);
  Expected<const Preset *> preset = Registry::get().findPreset(request.model);
  if (!preset)
    return preset.takeError();
  return LoadedModel{(*preset)->name, (*preset)->source, (*preset)->make(), {}};
}

/// Loads the model of a request, applies the overrides of the request, and
/// returns the model. Returns an error if there is no such model, or if the
/// batch or a dimension is invalid.
static Expected<LoadedModel> load(const ModelRequest &request) {
  if (request.batch < 1 || request.batch > maxBatch)
    return createStringError("expected a batch from 1 to " +
                             llvm::Twine(maxBatch) + ", got " +
                             llvm::Twine(request.batch));
  Expected<LoadedModel> loaded = findModel(request);
  if (!loaded)
    return loaded;
  Dimensions dimensions;
  loaded->model->declare(dimensions);
  for (StringRef text : request.overrides) {
    auto [name, value] = text.split('=');
    if (Error error =
            dimensions.set(name, value, ("override '" + text + "'").str()))
      return std::move(error);
  }
  if (Error error = loaded->model->check())
    return createStringError("model '" + loaded->name +
                             "': " + llvm::toString(std::move(error)));
  return loaded;
}

/// Converts the name of a model to a symbol that needs no quotes: `GPT-2 (XL)`
/// becomes `gpt_2__xl`, `7b` becomes `model_7b`, and `)` becomes `model`.
static std::string symbolOf(StringRef name) {
  std::string symbol;
  for (char c : name.rtrim(')'))
    symbol += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  if (symbol.empty())
    return "model";
  return llvm::isDigit(symbol.front()) ? "model_" + symbol : symbol;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Expected<FloatType> parseType(MLIRContext &context, StringRef what,
                                     StringRef text) {
  Builder builder(&context);
  if (text == "f64")
    return builder.getF64Type();
  if (text == "f32")
    return builder.getF32Type();
  if (text == "bf16")
    return builder.getBF16Type();
  if (text == "f16")
    return builder.getF16Type();
  return createStringError("unknown " + what + " type '" + text +
                           "'; known are f64, f32, bf16, f16");
}

/// Returns the settings of the training step, or null for a forward pass only.
static Expected<nn::TrainingAttr> trainingOf(MLIRContext &context,
                                             const Precision &precision) {
  if (precision.optimizer.empty())
    return nn::TrainingAttr();
  std::optional<nn::Optimizer> optimizer =
      nn::symbolizeOptimizer(precision.optimizer);
  if (!optimizer)
    return createStringError("unknown optimizer '" + precision.optimizer +
                             "'; known are sgd, momentum, adam");
  // Parses a type. Returns null if `text` is empty or names the type of the
  // parameters: gradients have this type by default, and a master copy of this
  // type would be redundant.
  auto typeUnlessCompute = [&](StringRef what,
                               StringRef text) -> Expected<Type> {
    if (text.empty() || text == precision.compute)
      return Type();
    Expected<FloatType> type = parseType(context, what, text);
    if (!type)
      return type.takeError();
    return Type(*type);
  };
  Expected<Type> gradient = typeUnlessCompute("gradient", precision.gradient);
  if (!gradient)
    return gradient.takeError();
  Expected<Type> master = typeUnlessCompute("master", precision.master);
  if (!master)
    return master.takeError();
  return nn::TrainingAttr::get(&context, *optimizer, /*compute=*/Type(),
                               *gradient, /*reduction=*/Type(), *master,
                               /*clip=*/FloatAttr(),
                               /*loss_scale=*/FloatAttr());
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Verifies `module`. If it is invalid, returns the first diagnostic as an
/// error.
static Error verifyModel(MLIRContext &context, ModuleOp module) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  if (succeeded(verify(module)))
    return Error::success();
  return createStringError(message);
}

/// Returns true if at least one operation of `module` converts its operands to
/// the matrix type.
static bool convertsFactors(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return op->hasAttr(ProteusDialect::computeAttrName)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Builds `loaded` and sets `parameters` to its number of parameters.
static Expected<OwningOpRef<ModuleOp>> build(MLIRContext &context,
                                             const LoadedModel &loaded,
                                             const ModelRequest &request,
                                             int64_t &parameters) {
  context.loadDialect<func::FuncDialect, nn::NNDialect, ProteusDialect>();
  Expected<FloatType> type =
      parseType(context, "compute", request.precision.compute);
  if (!type)
    return type.takeError();
  Expected<nn::TrainingAttr> training = trainingOf(context, request.precision);
  if (!training)
    return training.takeError();
  GraphBuilder graph(context, symbolOf(loaded.name), *type, *training);
  if (request.precision.matrix == "f8")
    graph.setMatrixType(Float8E4M3FNType::get(&context));
  else if (!request.precision.matrix.empty())
    return createStringError("unknown matrix type '" +
                             request.precision.matrix + "'; known is f8");
  Value loss = loaded.model->build(graph, request.batch);
  if (graph.getNumParameters() > maxParameters)
    return createStringError(
        "model '" + loaded.name + "' has " +
        llvm::formatv("{0:e2}", graph.getNumParameters()).str() +
        " parameters; at most 1e15 can be modelled");
  parameters = static_cast<int64_t>(graph.getNumParameters());
  OwningOpRef<ModuleOp> module = graph.finish(loss);
  if (!request.precision.matrix.empty() && !convertsFactors(*module))
    return createStringError(
        "model '" + loaded.name +
        "' has no repeated layers with linear operations to compute in " +
        request.precision.matrix + "; use another precision");
  if (Error error = verifyModel(context, *module))
    return createStringError("model '" + loaded.name + "' can't be built: " +
                             llvm::toString(std::move(error)));
  return std::move(module);
}

Expected<OwningOpRef<ModuleOp>>
models::buildModel(MLIRContext &context, const ModelRequest &request) {
  Expected<LoadedModel> loaded = load(request);
  if (!loaded)
    return loaded.takeError();
  int64_t parameters;
  return build(context, *loaded, request, parameters);
}

Expected<ModelDescription> models::describe(const ModelRequest &request) {
  Expected<LoadedModel> loaded = load(request);
  if (!loaded)
    return loaded.takeError();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ModelDescription description;
  Expected<OwningOpRef<ModuleOp>> module =
      build(context, *loaded, request, description.parameters);
  if (!module)
    return module.takeError();
  description.name = symbolOf(loaded->name);
  description.source = loaded->source;
  description.remarks = loaded->remarks;
  Dimensions dimensions;
  loaded->model->declare(dimensions);
  description.dimensions = dimensions.list();
  return description;
}
