//===- InterpreterTest.cpp - functions and schedules executed ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Interpreter.h"
#include "Proteus/InitAll.h"
#include "Proteus/Interp/Kernels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace proteus;
using interp::Tensor;

namespace {

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        messages += note.str() + "\n";
      return success();
    });
  }

  /// Parses `source`. Argument i of a function or program has the value
  /// values[i].
  ModuleOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, context.get());
    EXPECT_TRUE(module) << messages;
    return *module;
  }
  FailureOr<std::vector<Tensor>>
  run(StringRef source, std::vector<Tensor> values, interp::Noise noise = {}) {
    auto function = *parse(source).getOps<func::FuncOp>().begin();
    return interp::interpret(
        function,
        [&](BlockArgument argument) { return values[argument.getArgNumber()]; },
        noise);
  }
  FailureOr<std::vector<std::vector<Tensor>>>
  schedule(StringRef source, std::vector<Tensor> values) {
    auto op = *parse(source).getOps<dist::ScheduleOp>().begin();
    return interp::interpret(op, [&](BlockArgument argument) {
      return values[argument.getArgNumber()];
    });
  }

  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

Tensor row(std::vector<double> values) {
  return Tensor({static_cast<int64_t>(values.size())}, values);
}

} // namespace

//===----------------------------------------------------------------------===//
// Updates compared with values computed by hand
//===----------------------------------------------------------------------===//

/// Updating only the rows that bags look up equals an update with the whole
/// gradient, also if a bag names a row twice.
// The derivative is that of the chosen branch.
TEST_F(InterpreterTest, DualNumbersFollowTheChosenBranch) {
  auto function = *parse(R"(
    func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
      %y = nn.relu "r"(%x) : (tensor<4xf64>) -> tensor<4xf64>
      return %y : tensor<4xf64>
    })")
                       .getOps<func::FuncOp>()
                       .begin();
  auto results = interp::interpretDual(function, [](BlockArgument) {
    return interp::DualTensor({4}, {{-2, 1}, {3, 1}, {0, 1}, {4, 0}});
  });
  ASSERT_TRUE(succeeded(results)) << messages;
  const interp::DualTensor &y = results->front();
  const double expected[4][2] = {{0, 0}, {3, 1}, {0, 0}, {4, 0}};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(y[i].value, expected[i][0]) << i;
    EXPECT_EQ(y[i].slope, expected[i][1]) << i;
  }
}

TEST_F(InterpreterTest, RefusesDualNumbersInGradients) {
  auto function = *parse(R"(
    func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
      %y = nn.relu_grad "r"(%x, %x) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
      return %y : tensor<4xf64>
    })")
                       .getOps<func::FuncOp>()
                       .begin();
  EXPECT_TRUE(failed(interp::interpretDual(
      function, [](BlockArgument) { return interp::DualTensor({4}); })));
  EXPECT_NE(messages.find("'nn.relu_grad' op can't be evaluated on dual "
                          "numbers: the interpreter can't compute the "
                          "derivative of this operation"),
            std::string::npos)
      << messages;
}

TEST_F(InterpreterTest, RowsAreUpdatedAsWholeTables) {
  Tensor table({3, 2}, {1, 2, 3, 4, 5, 6}), gradient({2, 2}, {1, -2, 3, 0.5}),
      ids({2, 3}, {0, 2, 0, 2, 2, 2});
  auto rows = run(R"(
    func.func @f(%t: tensor<3x2xf32>, %g: tensor<2x2xf32>, %i: tensor<2x3xi32>) -> tensor<3x2xf32> {
      %0 = nn.embedding_bag_update "t"(%t, %g, %i) {learning_rate = 0.5 : f64} : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2x3xi32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    })",
                  {table, gradient, ids});
  auto whole = run(R"(
    func.func @f(%t: tensor<3x2xf32>, %g: tensor<2x2xf32>, %i: tensor<2x3xi32>) -> tensor<3x2xf32> {
      %0 = nn.embedding_bag_grad "t"(%g, %i) : (tensor<2x2xf32>, tensor<2x3xi32>) -> tensor<3x2xf32>
      %1 = nn.sgd "t"(%t, %0) {learning_rate = 0.5 : f64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      return %1 : tensor<3x2xf32>
    })",
                   {table, gradient, ids});
  ASSERT_TRUE(succeeded(rows)) << messages;
  ASSERT_TRUE(succeeded(whole)) << messages;
  // The first bag names row 0 twice and row 2 once; the second names row 2
  // three times.
  const double expected[] = {0, 4, 3, 4, 0, 6.25};
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_DOUBLE_EQ(rows->front()[i], expected[i]);
    EXPECT_DOUBLE_EQ(whole->front()[i], expected[i]);
  }
}

TEST_F(InterpreterTest, SGD) {
  auto results = run(R"(
    func.func @f(%w: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
      %n = nn.sgd "w"(%w, %g) {learning_rate = 0.5 : f64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %n : tensor<2xf32>
    })",
                     {row({1, 2}), row({4, -2})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_DOUBLE_EQ((*results)[0][0], -1);
  EXPECT_DOUBLE_EQ((*results)[0][1], 3);
}

TEST_F(InterpreterTest, SGDWithMomentumAndMasterCopy) {
  auto results = run(R"(
    func.func @f(%w: tensor<1xf32>, %g: tensor<1xf32>, %v: tensor<1xf32>, %m: tensor<1xf32>)
        -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
      %n:3 = nn.sgd "w"(%w, %g, %v, %m) {momentum, master, learning_rate = 0.5 : f64}
          : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      return %n#0, %n#1, %n#2 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
    })",
                     {row({100}), row({2}), row({10}), row({7})});
  ASSERT_TRUE(succeeded(results));
  // The velocity is 0.9 * 10 + 2. The update changes the master copy.
  EXPECT_DOUBLE_EQ((*results)[1][0], 11);
  EXPECT_DOUBLE_EQ((*results)[2][0], 7 - 0.5 * 11);
  EXPECT_DOUBLE_EQ((*results)[0][0], (*results)[2][0]);
}

TEST_F(InterpreterTest, Adam) {
  auto results = run(R"(
    func.func @f(%w: tensor<1xf32>, %g: tensor<1xf32>, %m: tensor<1xf32>, %v: tensor<1xf32>)
        -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
      %n:3 = nn.adam "w"(%w, %g, %m, %v) {learning_rate = 0.1 : f64}
          : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      return %n#0, %n#1, %n#2 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
    })",
                     {row({1}), row({2}), row({3}), row({5})});
  ASSERT_TRUE(succeeded(results));
  double m = 0.9 * 3 + 0.1 * 2, v = 0.999 * 5 + 0.001 * 4;
  EXPECT_DOUBLE_EQ((*results)[1][0], m);
  EXPECT_DOUBLE_EQ((*results)[2][0], v);
  EXPECT_DOUBLE_EQ((*results)[0][0], 1 - 0.1 * m / (std::sqrt(v) + 1e-8));
}

//===----------------------------------------------------------------------===//
// Values compared with values computed by hand
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, CrossEntropyIsTheMeanOfItsRows) {
  auto results = run(R"(
    func.func @f(%x: tensor<2x2xf32>, %t: tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>) {
      %l, %lse = nn.cross_entropy "l"(%x, %t) : (tensor<2x2xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
      return %l, %lse : tensor<f32>, tensor<2xf32>
    })",
                     {Tensor({2, 2}, {0, 0, 1, 3}), row({0, 1})});
  ASSERT_TRUE(succeeded(results));
  double second = std::log(std::exp(1.0) + std::exp(3.0));
  EXPECT_NEAR((*results)[1][1], second, 1e-15);
  EXPECT_NEAR((*results)[0][0], (std::log(2.0) + second - 3) / 2, 1e-15);
}

// The two terms are 3e5 and cancel. Integers, which choose the rows, have no
// noise; otherwise the result could be 2 or 7.
TEST_F(InterpreterTest, NoiseShowsTheSizeOfTermsThatCancel) {
  StringRef source = R"(
    func.func @f(%i: tensor<2xi32>, %t: tensor<3x1xf32>) -> tensor<1xf32> {
      %r = nn.embedding "e"(%i, %t) : (tensor<2xi32>, tensor<3x1xf32>) -> tensor<2x1xf32>
      %s = nn.reduce_sum "s"(%r) {keep = array<i64: 1>} : (tensor<2x1xf32>) -> tensor<1xf32>
      return %s : tensor<1xf32>
    })";
  std::vector<Tensor> values = {row({1, 2}), Tensor({3, 1}, {7, 3e5, -3e5})};
  auto exact = run(source, values), again = run(source, values, {1e-8, 1}),
       noisy = run(source, values, {1e-8, 1}),
       other = run(source, values, {1e-8, 2});
  ASSERT_TRUE(succeeded(exact) && succeeded(noisy) && succeeded(again) &&
              succeeded(other));
  EXPECT_EQ((*exact)[0][0], 0);
  EXPECT_EQ((*noisy)[0][0], (*again)[0][0]);
  EXPECT_NE((*noisy)[0][0], (*other)[0][0]);
  // Noise changes both terms twice: in the table and in the rows.
  EXPECT_LE(std::fabs((*noisy)[0][0]), 4 * 3e-3 * 1.001);
  EXPECT_GT(std::fabs((*noisy)[0][0]), 1e-5);
}

TEST_F(InterpreterTest, CausalAttentionSeesItselfAndThePast) {
  auto results = run(R"(
    func.func @f(%q: tensor<1x3x1xf32>, %v: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
      %o, %lse = nn.attention "a"(%q, %q, %v) {heads = 1 : i64, causal} : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) -> (tensor<1x3x1xf32>, tensor<1x1x3xf32>)
      return %o : tensor<1x3x1xf32>
    })",
                     {Tensor({1, 3, 1}), Tensor({1, 3, 1}, {1, 3, 8})});
  ASSERT_TRUE(succeeded(results));
  // All scores are equal, so each output is the mean of the visible values.
  EXPECT_DOUBLE_EQ((*results)[0][0], 1);
  EXPECT_DOUBLE_EQ((*results)[0][1], 2);
  EXPECT_DOUBLE_EQ((*results)[0][2], 4);
}

TEST_F(InterpreterTest, RepeatCarriesSlicesAndStacks) {
  auto results = run(R"(
    func.func @f(%x: tensor<1xf32>, %ws: tensor<3x1xf32>) -> (tensor<1xf32>, tensor<3x1xf32>) {
      %y:2 = nn.repeat "l" count 3 reverse carry(%h = %x : tensor<1xf32>) slice(%w = %ws : tensor<3x1xf32> to tensor<1xf32>) -> (tensor<1xf32>, tensor<3x1xf32>) {
        %d = nn.add "d"(%h, %h) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        %s = nn.add "s"(%d, %w) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        nn.yield %s, %h : tensor<1xf32>, tensor<1xf32>
      }
      return %y#0, %y#1 : tensor<1xf32>, tensor<3x1xf32>
    })",
                     {row({1}), Tensor({3, 1}, {100, 10, 1})});
  ASSERT_TRUE(succeeded(results));
  // 1 -> 2 + 1 -> 6 + 10 -> 32 + 100
  EXPECT_EQ((*results)[0][0], 132);
  EXPECT_EQ((*results)[1][0], 16);
  EXPECT_EQ((*results)[1][1], 3);
  EXPECT_EQ((*results)[1][2], 1);
}

TEST_F(InterpreterTest, AnUnknownOperationIsRefusedByName) {
  context->allowUnregisteredDialects();
  auto results = run(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
      %y = "test.mystery"(%x) : (tensor<1xf32>) -> tensor<1xf32>
      return %y : tensor<1xf32>
    })",
                     {row({1})});
  EXPECT_TRUE(failed(results));
  EXPECT_NE(messages.find("'test.mystery' op can't be evaluated"),
            std::string::npos)
      << messages;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static const char *const pipeline = R"(
  #mesh = #dist.mesh<[pp = 2, tp = 2], micro = 2>
  #x0 = #dist.layout<#mesh, [{micro}], at = [pp = 0]>
  #x1 = #dist.layout<#mesh, [{micro}], at = [pp = 1]>
  #part = #dist.layout<#mesh, [], partial = [sum {micro}], at = [pp = 1]>
  #sum = #dist.layout<#mesh, [], at = [pp = 1]>
  dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<4xf32, #x0>) {
    dist.section forward {
      %0 = nn.add "double"(%x, %x) : (tensor<4xf32, #x0>, tensor<4xf32, #x0>) -> tensor<4xf32, #x0>
      dist.send %0 to stage 1 tag 5 : tensor<4xf32, #x0>
    }
    dist.return
  }
  dist.program @s1 mesh #mesh at [pp = 1] () -> tensor<f32, #sum> {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 5 : tensor<4xf32, #x1>
      %1 = nn.reduce_sum "sum"(%0) {keep = array<i64>} : (tensor<4xf32, #x1>) -> tensor<f32, #part>
      dist.yield %1 : tensor<f32, #part>
    }
    %u = dist.section update once {
      %2 = dist.accumulate %f : tensor<f32, #part> -> tensor<f32, #sum>
      dist.yield %2 : tensor<f32, #sum>
    }
    dist.return %u : tensor<f32, #sum>
  }
)";

TEST_F(InterpreterTest, StagesSendMicroBatchesAndAccumulate) {
  auto results = schedule(std::string(pipeline) + R"(
      dist.schedule @s programs [@s0, @s1] order [[F1, F0], [F1, F0, U]])",
                          {row({1, 2, 3, 4})});
  ASSERT_TRUE(succeeded(results)) << messages;
  EXPECT_EQ((*results)[1][0][0], 20);
}

TEST_F(InterpreterTest, StagesThatWaitForEachOtherAreADeadlock) {
  std::string source = pipeline;
  // The second stage waits for another tag.
  source.replace(source.find("from stage 0 tag 5"), 18, "from stage 0 tag 6");
  auto results = schedule(source + R"(
      dist.schedule @s programs [@s0, @s1] order [[F0, F1], [F0, F1, U]])",
                          {row({1, 2, 3, 4})});
  EXPECT_TRUE(failed(results));
  EXPECT_NE(messages.find("stage 1 waits before F0"), std::string::npos)
      << messages;
}

TEST_F(InterpreterTest, ReplicasThatDifferAreReported) {
  // The layout claims that a rank's part of a sum is the whole sum.
  auto results = schedule(R"(
    #mesh = #dist.mesh<[tp = 2]>
    #rows = #dist.layout<#mesh, [{tp}]>
    #whole = #dist.layout<#mesh, []>
    dist.program @p mesh #mesh (%x: tensor<4xf32, #rows>) -> tensor<f32, #whole> {
      %f = dist.section forward {
        %1 = nn.reduce_sum "sum"(%x) {keep = array<i64>} : (tensor<4xf32, #rows>) -> tensor<f32, #whole>
        dist.yield %1 : tensor<f32, #whole>
      }
      dist.return %f : tensor<f32, #whole>
    }
    dist.schedule @s programs [@p] order [[F0]])",
                          {row({1, 2, 3, 4})});
  EXPECT_TRUE(failed(results));
  EXPECT_NE(messages.find("replicas"), std::string::npos) << messages;
}

TEST_F(InterpreterTest, BlocksThatDoNotFitAreRefused) {
  auto results = schedule(R"(
    #mesh = #dist.mesh<[tp = 2]>
    #rows = #dist.layout<#mesh, [{tp}]>
    #whole = #dist.layout<#mesh, [{}]>
    dist.program @p mesh #mesh (%x: tensor<4xf32, #rows>) -> tensor<4xf32, #whole> {
      %f = dist.section forward {
        %1 = nn.relu "act"(%x) : (tensor<4xf32, #rows>) -> tensor<4xf32, #whole>
        dist.yield %1 : tensor<4xf32, #whole>
      }
      dist.return %f : tensor<4xf32, #whole>
    }
    dist.schedule @s programs [@p] order [[F0]])",
                          {row({1, 2, 3, 4})});
  EXPECT_TRUE(failed(results));
  EXPECT_NE(messages.find("different parts of 'hidden': [0, 2) and [0, 4)"),
            std::string::npos)
      << messages;
}

TEST_F(InterpreterTest, FusedReductionsReduceEveryIteration) {
  auto results =
      schedule(R"(
    #mesh = #dist.mesh<[dp = 2]>
    #x = #dist.layout<#mesh, [{}, {dp}]>
    #p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
    #r = #dist.layout<#mesh, [{}, {dp}]>
    #w = #dist.layout<#mesh, [{}, {}]>
    #xs = #dist.layout<#mesh, [{dp}, {}]>
    dist.program @p mesh #mesh (%a: tensor<4x2xf32, #xs>, %b: tensor<4x3xf32, #xs>) -> (tensor<2x3xf32, #w>, tensor<2x3xf32, #r>) {
      %f = dist.section backward {
        %0 = nn.linear_wgrad "l"(%a, %b) : (tensor<4x2xf32, #xs>, tensor<4x3xf32, #xs>) -> tensor<2x3xf32, #p>
        dist.yield %0 : tensor<2x3xf32, #p>
      }
      %u:2 = dist.section update once {
        %1 = dist.fused_reduce all_reduce sum %f over {dp} stacked [true] buckets [[0[1:2]], [0[0:1]]]
            : (tensor<2x3xf32, #p>) -> (tensor<2x3xf32, #w>)
        %2 = dist.fused_reduce reduce_scatter sum %f over {dp} stacked [true] buckets [[0[0:2]]]
            : (tensor<2x3xf32, #p>) -> (tensor<2x3xf32, #r>)
        dist.yield %1, %2 : tensor<2x3xf32, #w>, tensor<2x3xf32, #r>
      }
      dist.return %u#0, %u#1 : tensor<2x3xf32, #w>, tensor<2x3xf32, #r>
    }
    dist.schedule @s programs [@p] order [[B0, U]])",
               {Tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Tensor({4, 3}, 1.0)});
  ASSERT_TRUE(succeeded(results)) << messages;
  for (const Tensor &sum : results->front())
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(sum[i], i < 3 ? 16 : 20);
}
