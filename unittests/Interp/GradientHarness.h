//===- GradientHarness.h - checks of gradients by differences ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds and executes a training step. With momentum and a velocity of zero,
// the new velocity is the gradient. It must be the derivative of the loss of
// the forward graph, which is computed in two ways: exactly, by dual numbers,
// and approximately, by differences.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_INTERP_GRADIENTHARNESS_H
#define PROTEUS_UNITTESTS_INTERP_GRADIENTHARNESS_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/InitAll.h"
#include "Proteus/Interp/Interpreter.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>

namespace proteus::interp {

constexpr double step = 1e-5;

/// A model: its arguments, its body up to `%y`, and the shape of the logits.
struct Model {
  /// `name: shape`, float parameters unless the name starts with `x` (inputs)
  /// or `i` (indices below 3).
  std::vector<std::pair<std::string, std::string>> arguments;
  std::string body;
  /// Leading dimensions of `%y` and its number of classes.
  std::string rows;
  int64_t classes;
};

inline std::string text(const Model &model) {
  std::string result = "func.func @m(";
  for (const auto &[name, shape] : model.arguments) {
    bool index = name.front() == 'i', input = index || name.front() == 'x';
    result += "%" + name + ": tensor<" + shape + (index ? "xi32" : "xf64") +
              "> {nn.role = \"" + (input ? "input" : "parameter") +
              "\", nn.path = \"" + name + "\"}, ";
  }
  std::string rows = "tensor<" + model.rows;
  result +=
      "%labels: " + rows +
      "xi32> {nn.role = \"input\", nn.path = \"labels\"}) -> tensor<f64> "
      "attributes {nn.training = #nn.training<optimizer = momentum>} {\n" +
      model.body + "\n%loss, %lse = nn.cross_entropy \"loss\"(%y, " +
      "%labels) : (" + rows + "x" + std::to_string(model.classes) + "xf64>, " +
      rows + "xi32>) -> (tensor<f64>, " + rows +
      "xf64>)\nreturn %loss : tensor<f64>\n}\n";
  return result;
}

/// Values of the arguments by path. Labels and indices are below 3.
class Values {
public:
  explicit Values(mlir::func::FuncOp function) {
    for (mlir::BlockArgument argument : function.getArguments()) {
      auto type = mlir::cast<mlir::RankedTensorType>(argument.getType());
      Tensor tensor(type.getShape());
      bool integer = !mlir::isa<mlir::FloatType>(type.getElementType());
      for (int64_t i = 0; i < tensor.size(); ++i) {
        double uniform = interp::randomAt(argument.getArgNumber(), i);
        tensor[i] = integer ? std::floor(3 * uniform) : 2 * uniform - 1;
      }
      byPath[getArgumentPath(argument)] = tensor;
    }
  }
  /// Returns the value of an argument; states are zero.
  Tensor operator()(mlir::BlockArgument argument) const {
    auto found = byPath.find(getArgumentPath(argument));
    return found != byPath.end()
               ? found->second
               : Tensor(mlir::cast<mlir::RankedTensorType>(argument.getType())
                            .getShape());
  }
  std::map<std::string, Tensor> byPath;
};

inline void expectRightGradients(const std::string &source) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> forward =
      mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  ASSERT_TRUE(forward) << source;
  mlir::OwningOpRef<mlir::ModuleOp> training = forward->clone();
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(createBuildTrainingStep());
  ASSERT_TRUE(mlir::succeeded(manager.run(*training)));
  auto model = forward->lookupSymbol<mlir::func::FuncOp>("m");
  auto trained = training->lookupSymbol<mlir::func::FuncOp>("m");
  Values values(model);
  auto results = interp::interpret(trained, values);
  ASSERT_TRUE(mlir::succeeded(results));
  auto loss = [&](const Values &at) {
    auto result = interp::interpret(model, at);
    EXPECT_TRUE(mlir::succeeded(result));
    return result->front()[0];
  };
  auto slope = [&](llvm::StringRef path, int64_t element) {
    auto result =
        interp::interpretDual(model, [&](mlir::BlockArgument argument) {
          Tensor value = values(argument);
          DualTensor dual(value.getShape());
          for (int64_t i = 0; i < value.size(); ++i)
            dual[i] = value[i];
          if (getArgumentPath(argument) == path)
            dual[element].slope = 1;
          return dual;
        });
    EXPECT_TRUE(mlir::succeeded(result));
    return result->front()[0].slope;
  };
  ASSERT_NEAR(results->front()[0], loss(values), 1e-12);
  unsigned checked = 0;
  for (unsigned i = 0; i < trained.getNumResults(); ++i) {
    auto updates =
        trained.getResultAttrOfType<mlir::IntegerAttr>(i, nn::kUpdatesAttr);
    if (!updates)
      continue;
    std::string path = getArgumentPath(trained.getArgument(updates.getInt()));
    llvm::StringRef owner = path;
    if (!owner.consume_back(".velocity"))
      continue;
    path = owner.str();
    const Tensor &gradient = (*results)[i];
    ASSERT_TRUE(values.byPath.count(path)) << path;
    double largest = gradient.maxAbs();
    EXPECT_GT(largest, 1e-4) << path << ": the test would not bite";
    for (int64_t element = 0; element < gradient.size(); ++element) {
      Values up = values, down = values;
      up.byPath[path][element] += step;
      down.byPath[path][element] -= step;
      double difference = (loss(up) - loss(down)) / (2 * step);
      EXPECT_NEAR(gradient[element], difference, 1e-6 * largest)
          << path << " at " << element;
      EXPECT_NEAR(gradient[element], slope(path, element), 1e-11 * largest)
          << path << " at " << element;
    }
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

inline void expectRightGradients(const Model &model) {
  expectRightGradients(text(model));
}

} // namespace proteus::interp

#endif // PROTEUS_UNITTESTS_INTERP_GRADIENTHARNESS_H
