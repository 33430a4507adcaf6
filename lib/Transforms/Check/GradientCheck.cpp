//===- GradientCheck.cpp - gradients against forward derivatives *- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCheck.h"

#include "TermScale.h"

#include "Proteus/Interp/Interpreter.h"
#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;
using namespace proteus;
using interp::DualTensor;
using interp::Shape;
using interp::Tensor;

/// Returns the gradient that `update`, the operation with the new value of
/// `parameter`, reads. Updates of stacked parameters are in a repeat, which
/// gets stacks of the same operands. Returns null if there is no such gradient.
static Value gradientOf(Operation *update, BlockArgument parameter) {
  if (!update || !isa<nn::SGDOp, nn::AdamOp, nn::RepeatOp>(update) ||
      update->getOperand(0) != parameter)
    return {};
  Value gradient = update->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(gradient.getType());
  bool same =
      type &&
      type.getShape() == cast<RankedTensorType>(parameter.getType()).getShape();
  return same ? gradient : Value();
}

/// Learning rate of the updates of rows from which gradients are computed. It
/// is so large that the parameter before the update has no effect on the
/// rounding error of the gradient.
static constexpr double fastRate = 0x1p+60;

LogicalResult StepGradients::expose(func::FuncOp step) {
  numResults = step.getNumResults();
  if (auto training = step->getAttrOfType<nn::TrainingAttr>(nn::kTrainingAttr))
    if (FloatAttr scale = training.getLossScale())
      lossScale = scale.getValueAsDouble();
  Operation *terminator = step.front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  for (unsigned number = 0; number < numResults; ++number) {
    auto updates =
        step.getResultAttrOfType<IntegerAttr>(number, nn::kUpdatesAttr);
    if (!updates)
      continue;
    BlockArgument parameter = step.getArgument(updates.getInt());
    if (getRole(parameter) != nn::Role::Parameter)
      continue;
    std::string path = getArgumentPath(parameter);
    std::optional<Piece> piece = arguments.find(path);
    if (!piece)
      return step.emitOpError("updates '")
             << path << "', which is no parameter of the model";
    Operation *update = results[number].getDefiningOp();
    if (auto rows = dyn_cast_or_null<nn::EmbeddingBagUpdateOp>(update)) {
      OpBuilder builder(rows);
      auto fast =
          cast<nn::EmbeddingBagUpdateOp>(builder.clone(*rows.getOperation()));
      fast.setLearningRate(APFloat(fastRate));
      sources.push_back(
          {*piece, static_cast<unsigned>(results.size()), fastRate});
      results.push_back(fast.getResult());
      continue;
    }
    Value gradient = gradientOf(update, parameter);
    if (!gradient)
      return step.emitOpError("has an update of '")
             << path << "' that does not read its gradient";
    sources.push_back({*piece, static_cast<unsigned>(results.size())});
    results.push_back(gradient);
  }
  terminator->setOperands(results);
  SmallVector<Attribute> attributes;
  if (ArrayAttr own = step.getAllResultAttrs())
    attributes.assign(own.begin(), own.end());
  attributes.resize(results.size(), DictionaryAttr::get(step.getContext()));
  step.setFunctionType(FunctionType::get(step.getContext(),
                                         step.front().getArgumentTypes(),
                                         ValueRange(results).getTypes()));
  step.setAllResultAttrs(attributes);
  return success();
}

void StepGradients::collect(ArrayRef<Tensor> results,
                            ArrayRef<Tensor> disturbed) {
  auto gradientFrom = [](const Source &source, Tensor result) {
    if (source.rate == 0)
      return result;
    Tensor before = source.piece.cut();
    for (int64_t i = 0; i < result.size(); ++i)
      result[i] = (before[i] - result[i]) / source.rate;
    return result;
  };
  for (const Source &source : sources) {
    Shape shape(source.piece.whole->value.getShape());
    Gradient &gradient =
        gradients
            .insert({source.piece.whole->path, {Tensor(shape), Tensor(shape)}})
            .first->second;
    source.piece.paste(gradientFrom(source, results[source.result]),
                       gradient.value);
    source.piece.paste(gradientFrom(source, disturbed[source.result]),
                       gradient.disturbed);
  }
  setScales();
}

void StepGradients::setScales() {
  llvm::StringMap<double> largestOfKind;
  double largest = 0;
  for (auto &[path, gradient] : gradients) {
    double own = interp::largestValue(gradient.value);
    double &most = largestOfKind[kindOf(path)];
    most = std::max(most, own);
    largest = std::max(largest, own);
  }
  for (auto &[path, gradient] : gradients) {
    gradient.scale = std::max(interp::largestValue(gradient.value),
                              scaleOfTerms(gradient.value, gradient.disturbed,
                                           largestOfKind[kindOf(path)]));
    // A gradient of zero has no scale of its own.
    if (gradient.scale == 0)
      gradient.scale = largest > 0 ? largest : 1;
  }
}

/// Returns the direction in which the parameter `path` moves: random numbers,
/// divided by the scale of the gradient, so that all parameters change the loss
/// about equally.
Tensor StepGradients::directionOf(StringRef path) const {
  const Gradient &gradient = gradients.find(path)->second;
  Tensor direction(gradient.value.getShape());
  uint64_t stream = ~llvm::xxh3_64bits(path);
  for (int64_t i = 0; i < direction.size(); ++i)
    direction[i] = (2 * interp::randomAt(stream, i) - 1) / gradient.scale;
  return direction;
}

/// Computes the derivative of the loss if the parameters `moved` move in their
/// directions: by dual numbers, and as the sum of the products of gradients and
/// directions. The difference is relative to the sum that the products would
/// have if every element of a gradient had the size of its scale, and no
/// products cancelled.
FailureOr<StepGradients::Slopes> StepGradients::compare(func::FuncOp model,
                                                        Paths moved) const {
  llvm::StringMap<Tensor> directions;
  Slopes slopes;
  double size = 0;
  for (StringRef path : moved) {
    const Gradient &gradient = gradients.find(path)->second;
    Tensor direction = directionOf(path);
    for (int64_t i = 0; i < direction.size(); ++i) {
      slopes.byGradients += gradient.value[i] * direction[i];
      size += gradient.scale * std::fabs(direction[i]);
    }
    directions[path] = std::move(direction);
  }
  auto results = interp::interpretDual(model, [&](BlockArgument argument) {
    std::string path = getArgumentPath(argument);
    const Tensor &value = arguments.lookup(path)->value;
    auto direction = directions.find(path);
    DualTensor dual(value.getShape());
    for (int64_t i = 0; i < value.size(); ++i)
      dual[i] = {value[i],
                 direction == directions.end() ? 0 : direction->second[i]};
    return dual;
  });
  if (failed(results))
    return failure();
  slopes.byDuals = lossScale * results->front()[0].slope;
  slopes.difference = std::fabs(slopes.byDuals - slopes.byGradients) / size;
  return slopes;
}

FailureOr<std::optional<double>> StepGradients::check(func::FuncOp model,
                                                      double tolerance) const {
  SmallVector<StringRef> all;
  for (auto &[path, gradient] : gradients) {
    if (!std::isfinite(gradient.value.maxAbs()))
      return std::optional<double>();
    all.push_back(path);
  }
  FailureOr<Slopes> slopes = compare(model, all);
  if (failed(slopes))
    return failure();
  if (slopes->difference <= tolerance)
    return std::optional<double>(slopes->difference);
  auto report = [&](const Twine &which, const Slopes &wrong) {
    model.emitOpError("has a wrong gradient of ")
        << which << " in its training step: in a random direction, the "
        << "derivative of the loss is "
        << llvm::formatv("{0:e9}, but by the gradient it is {1:e9} (relative "
                         "difference {2:e2})",
                         wrong.byDuals, wrong.byGradients, wrong.difference)
               .str();
  };
  // Move one parameter at a time to find those with wrong gradients.
  bool found = false;
  for (StringRef path : all) {
    FailureOr<Slopes> own = compare(model, path);
    if (failed(own))
      return failure();
    if (own->difference <= tolerance)
      continue;
    report("'" + path + "'", *own);
    found = true;
  }
  if (!found)
    report("some parameters", *slopes);
  return failure();
}
