//===- UpdateTest.cpp - updates from derivatives of the model -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The new parameters and states of a training step must follow from the
// derivatives of the loss by the rule of the optimizer. The derivatives are
// computed with dual numbers. The loss scale must not change any result. If the
// norm of all derivatives together exceeds the clip, all are multiplied by clip
// / norm.
//
//===----------------------------------------------------------------------===//

#include "GradientHarness.h"

#include "Proteus/Interp/Kernels.h"

using namespace proteus;
using namespace proteus::interp;

namespace {

/// Attributes of a training.
struct Training {
  std::string optimizer;
  /// The norm of the gradients is clipped to this if it is not 0.
  double clip;
  bool lossScale;
  bool master;
};

std::string model(const Training &training) {
  std::string attributes = "optimizer = " + training.optimizer;
  if (training.clip)
    attributes += ", clip = " + std::to_string(training.clip);
  if (training.lossScale)
    attributes += ", loss_scale = 64.0";
  if (training.master)
    attributes += ", master = f64";
  return R"(
    func.func @m(%x: tensor<6x4xf64> {nn.role = "input", nn.path = "x"},
                 %labels: tensor<6xi32> {nn.role = "input", nn.path = "labels"},
                 %v: tensor<4x4xf64> {nn.role = "parameter", nn.path = "in.w"},
                 %ws: tensor<2x4x4xf64> {nn.role = "parameter", nn.path = "layers[*].w"},
                 %b: tensor<4xf64> {nn.role = "parameter", nn.path = "b"})
        -> tensor<f64> attributes {nn.training = #nn.training<)" +
         attributes + R"(>} {
      %in = nn.linear "in"(%x, %v) : (tensor<6x4xf64>, tensor<4x4xf64>) -> tensor<6x4xf64>
      %y = nn.repeat "layers" count 2 carry(%h = %in : tensor<6x4xf64>)
          slice(%w = %ws : tensor<2x4x4xf64> to tensor<4x4xf64>) -> (tensor<6x4xf64>) {
        %0 = nn.linear "fc"(%h, %w, %b) : (tensor<6x4xf64>, tensor<4x4xf64>, tensor<4xf64>) -> tensor<6x4xf64>
        %1 = nn.gelu "act"(%0) : (tensor<6x4xf64>) -> tensor<6x4xf64>
        nn.yield %1 : tensor<6x4xf64>
      }
      %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<6x4xf64>, tensor<6xi32>) -> (tensor<f64>, tensor<6xf64>)
      return %loss : tensor<f64>
    })";
}

/// Returns the derivatives of the loss by the parameter `path`.
Tensor derivatives(mlir::func::FuncOp model, const Values &values,
                   llvm::StringRef path) {
  Tensor result(values.byPath.at(path.str()).getShape());
  for (int64_t element = 0; element < result.size(); ++element) {
    auto loss = interpretDual(model, [&](mlir::BlockArgument argument) {
      Tensor value = values(argument);
      DualTensor dual(value.getShape());
      for (int64_t i = 0; i < value.size(); ++i)
        dual[i] = value[i];
      if (getArgumentPath(argument) == path)
        dual[element].slope = 1;
      return dual;
    });
    result[element] = loss->front()[0].slope;
  }
  return result;
}

/// Returns the new value of the tensor `name`, a parameter with the old value
/// `old` or one of its states, after an update with the gradient `g`.
double updated(const Training &training, llvm::StringRef name, double old,
               double g) {
  bool adam = training.optimizer == "adam";
  double first = (1 - adamFirstDecay) * g;
  double second = (1 - adamSecondDecay) * g * g;
  if (name == "velocity")
    return g;
  if (name == "first_moment")
    return first;
  if (name == "second_moment")
    return second;
  return adam ? old - 0.001 * first / (std::sqrt(second) + adamEpsilon)
              : old - 0.01 * g;
}

void expectRightUpdates(const Training &training) {
  std::string source = model(training);
  SCOPED_TRACE(source);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto forward = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  ASSERT_TRUE(forward);
  mlir::OwningOpRef<mlir::ModuleOp> trained = forward->clone();
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(createBuildTrainingStep());
  ASSERT_TRUE(mlir::succeeded(manager.run(*trained)));
  auto function = forward->lookupSymbol<mlir::func::FuncOp>("m");
  Values values(function);
  std::map<std::string, Tensor> gradients;
  double square = 0;
  for (const char *path : {"in.w", "layers[*].w", "b"}) {
    Tensor &gradient = gradients[path] = derivatives(function, values, path);
    for (int64_t i = 0; i < gradient.size(); ++i)
      square += gradient[i] * gradient[i];
  }
  double norm = std::sqrt(square);
  ASSERT_GT(norm, 0.1);
  ASSERT_LT(norm, 10);
  double factor =
      training.clip && norm > training.clip ? training.clip / norm : 1;

  // A path is that of a parameter, or that of a parameter and a state.
  auto split = [&](llvm::StringRef path) {
    bool isParameter = gradients.count(path.str());
    return isParameter ? std::make_pair(path, llvm::StringRef())
                       : path.rsplit('.');
  };
  auto step = trained->lookupSymbol<mlir::func::FuncOp>("m");
  auto results = interpret(step, [&](mlir::BlockArgument argument) {
    // Master copies start with the values of the parameters.
    if (getRole(argument) != nn::Role::Master)
      return values(argument);
    std::string path = getArgumentPath(argument);
    return values.byPath.at(split(path).first.str());
  });
  ASSERT_TRUE(mlir::succeeded(results));
  unsigned checked = 0;
  for (unsigned r = 0; r < step.getNumResults(); ++r) {
    auto updates =
        step.getResultAttrOfType<mlir::IntegerAttr>(r, nn::kUpdatesAttr);
    if (!updates)
      continue;
    std::string path = getArgumentPath(step.getArgument(updates.getInt()));
    auto [owner, state] = split(path);
    const Tensor &old = values.byPath.at(owner.str());
    const Tensor &gradient = gradients.at(owner.str());
    ASSERT_EQ((*results)[r].getShape(), old.getShape());
    for (int64_t i = 0; i < old.size(); ++i)
      EXPECT_NEAR((*results)[r][i],
                  updated(training, state, old[i], factor * gradient[i]), 1e-12)
          << path << " at " << i;
    ++checked;
  }
  EXPECT_GE(checked, 3u);
}

TEST(Update, FollowsFromTheDerivativesOfTheLoss) {
  for (const char *optimizer : {"sgd", "momentum", "adam"})
    for (double clip : {0.0, 0.01, 100.0})
      for (bool lossScale : {false, true})
        for (bool master : {false, true})
          expectRightUpdates({optimizer, clip, lossScale, master});
}

} // namespace
