//===- NNOpsTest.cpp - tests of paths and decompositions ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"

#include "SpaceText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace proteus::nn;

namespace {

class NNOpsTest : public ::testing::Test {
protected:
  NNOpsTest() {
    context.loadDialect<func::FuncDialect, NNDialect>();
    context.allowUnregisteredDialects();
  }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  /// Returns the paths of the operations called `name`, in order.
  std::vector<std::string> pathsOf(StringRef name) {
    std::vector<std::string> paths;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        paths.push_back(getPath(op));
    });
    return paths;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(NNOpsTest, PathsAreRelativeToTheRepeatsAround) {
  parse(R"(func.func @f(%x: tensor<4xf32>) {
    %0 = nn.relu "head.act"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = nn.repeat "blocks" count 2 carry(%a = %x : tensor<4xf32>)
        -> (tensor<4xf32>) {
      %2 = nn.repeat "layers" count 3 carry(%b = %a : tensor<4xf32>)
          -> (tensor<4xf32>) {
        %3 = nn.relu "act"(%b) : (tensor<4xf32>) -> tensor<4xf32>
        nn.yield %3 : tensor<4xf32>
      }
      nn.yield %2 : tensor<4xf32>
    }
    return
  })");
  EXPECT_EQ(pathsOf("nn.relu"),
            (std::vector<std::string>{"head.act", "blocks[*].layers[*].act"}));
  module->walk([&](RepeatOp repeat) {
    if (repeat.getPath() == "layers")
      repeat.walk([&](ReluOp relu) { EXPECT_EQ(getOwnPath(relu), "act"); });
  });
}

TEST_F(NNOpsTest, ForeignOperationsHaveAPathToo) {
  parse(R"(func.func @f() {
    "test.op"() {proteus.path = "layers[3].mlp"} : () -> ()
    "test.op"() : () -> () loc("embedding")
    "test.op"() : () -> () loc("file.mlir":1:2)
    return
  })");
  EXPECT_EQ(
      pathsOf("test.op"),
      (std::vector<std::string>{"layers[3].mlp", "embedding", "f.test.op#2"}));
}

TEST_F(NNOpsTest, CrossEntropyIsTakenApartIntoSimpleReductions) {
  parse(
      R"(func.func @f(%x: tensor<8x10xf32>, %t: tensor<8xi32>) -> tensor<f32> {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  })");
  CrossEntropyOp loss;
  module->walk([&](CrossEntropyOp op) { loss = op; });
  OpBuilder builder(loss);
  loss->replaceAllUsesWith(loss.decompose(builder));
  loss->erase();
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string spaces;
  module->walk([&](IterationSpaceOpInterface op) {
    EXPECT_EQ(getPath(op), "loss");
    for (const Iterator &iterator : op.getIterationSpace().iterators)
      EXPECT_TRUE(iterator.isSplittable());
    spaces += indexingOf(op.getIterationSpace()) + "; ";
  });
  EXPECT_EQ(spaces, "(batch, vocab) -> (batch); "
                    "(batch, vocab) (batch) (batch) -> (batch) (batch); "
                    "(batch) (batch) (batch) -> () (batch); ");
}

} // namespace
