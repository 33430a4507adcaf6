//===- GradientTest.cpp - gradients against finite differences --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One small model per operation.
//
//===----------------------------------------------------------------------===//

#include "GradientHarness.h"

using namespace proteus::interp;

TEST(Gradient, Linear) {
  expectRightGradients(
      {{{"a", "2x4x3"}, {"w", "5x3"}, {"b", "5"}},
       R"(%y = nn.linear "l"(%a, %w, %b) : (tensor<2x4x3xf64>, tensor<5x3xf64>, tensor<5xf64>) -> tensor<2x4x5xf64>)",
       "2x4",
       5});
}

TEST(Gradient, MatmulInEveryTransposition) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      std::string a = ta ? "2x3x4" : "2x4x3", b = tb ? "2x5x3" : "2x3x5";
      std::string attributes = ta && tb ? " {transpose_a, transpose_b}"
                               : ta     ? " {transpose_a}"
                               : tb     ? " {transpose_b}"
                                        : "";
      expectRightGradients({{{"a", a}, {"b", b}},
                            "%y = nn.matmul \"m\"(%a, %b)" + attributes +
                                " : (tensor<" + a + "xf64>, tensor<" + b +
                                "xf64>) -> tensor<2x4x5xf64>",
                            "2x4",
                            5});
    }
}

TEST(Gradient, MatmulOfAValueWithItself) {
  expectRightGradients(
      {{{"a", "4x3"}},
       R"(%y = nn.matmul "m"(%a, %a) {transpose_b} : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x4xf64>)",
       "4",
       4});
}

TEST(Gradient, ConvolutionWithStrideAndPadding) {
  expectRightGradients(
      {{{"a", "2x2x5x6"}, {"w", "3x2x3x2"}, {"b", "3"}},
       R"(%0 = nn.conv2d "c"(%a, %w, %b) {stride = array<i64: 2, 1>, padding = array<i64: 1, 0>} : (tensor<2x2x5x6xf64>, tensor<3x2x3x2xf64>, tensor<3xf64>) -> tensor<2x3x3x5xf64>
                           %y = nn.reshape "r"(%0) : (tensor<2x3x3x5xf64>) -> tensor<2x45xf64>)",
       "2",
       45});
}

TEST(Gradient, ConvolutionOfGroupsWithDilation) {
  expectRightGradients(
      {{{"a", "2x4x5x6"}, {"w", "6x2x3x2"}, {"b", "6"}},
       R"(%0 = nn.conv2d "c"(%a, %w, %b) {stride = array<i64: 1, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 2, 3>, groups = 2 : i64} : (tensor<2x4x5x6xf64>, tensor<6x2x3x2xf64>, tensor<6xf64>) -> tensor<2x6x3x3xf64>
          %y = nn.reshape "r"(%0) : (tensor<2x6x3x3xf64>) -> tensor<2x54xf64>)",
       "2",
       54});
}

TEST(Gradient, ConvolutionOfEachChannelByItself) {
  expectRightGradients(
      {{{"a", "2x3x4x4"}, {"w", "3x1x3x3"}},
       R"(%0 = nn.conv2d "c"(%a, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 3 : i64} : (tensor<2x3x4x4xf64>, tensor<3x1x3x3xf64>) -> tensor<2x3x4x4xf64>
          %y = nn.reshape "r"(%0) : (tensor<2x3x4x4xf64>) -> tensor<2x48xf64>)",
       "2",
       48});
}

TEST(Gradient, Pooling) {
  for (std::string kind : {"max", "average"})
    expectRightGradients(
        {{{"a", "2x2x5x6"}},
         "%0 = nn.pool2d \"p\" " + kind +
             R"((%a) {kernel = array<i64: 3, 2>, stride = array<i64: 2, 2>, padding = array<i64: 1, 0>} : (tensor<2x2x5x6xf64>) -> tensor<2x2x3x3xf64>
                                 %y = nn.reshape "r"(%0) : (tensor<2x2x3x3xf64>) -> tensor<2x18xf64>)",
         "2",
         18});
}

TEST(Gradient, Attention) {
  for (std::string attributes : {"heads = 4 : i64", "heads = 4 : i64, causal",
                                 "heads = 4 : i64, kv_heads = 2 : i64, causal",
                                 "heads = 4 : i64, kv_heads = 1 : i64"}) {
    int64_t keyHeads = llvm::StringRef(attributes).contains("kv_heads = 2") ? 2
                       : llvm::StringRef(attributes).contains("kv_heads = 1")
                           ? 1
                           : 4;
    std::string q = "tensor<2x3x8xf64>";
    std::string shape = "2x3x" + std::to_string(2 * keyHeads);
    std::string k = "tensor<" + shape + "xf64>";
    expectRightGradients({{{"q", "2x3x8"}, {"k", shape}, {"v", shape}},
                          "%y, %rows = nn.attention \"a\"(%q, %k, %v) {" +
                              attributes + "} : (" + q + ", " + k + ", " + k +
                              ") -> (" + q + ", tensor<2x4x3xf64>)",
                          "2x3",
                          8});
  }
}

TEST(Gradient, AttentionOverOtherLengthsThanItsOwn) {
  expectRightGradients(
      {{{"q", "1x3x4"}, {"k", "1x5x4"}, {"v", "1x5x4"}},
       R"(%y, %rows = nn.attention "a"(%q, %k, %v) {heads = 2 : i64} : (tensor<1x3x4xf64>, tensor<1x5x4xf64>, tensor<1x5x4xf64>) -> (tensor<1x3x4xf64>, tensor<1x2x3xf64>))",
       "1x3",
       4});
}

TEST(Gradient, AttentionToValuesOfAnotherSize) {
  for (std::string causal : {"", ", causal"})
    expectRightGradients(
        {{{"q", "2x3x8"}, {"k", "2x3x4"}, {"v", "2x3x6"}},
         "%y, %rows = nn.attention \"a\"(%q, %k, %v) {heads = 4 : i64, "
         "kv_heads = 2 : i64" +
             causal +
             R"(} : (tensor<2x3x8xf64>, tensor<2x3x4xf64>, tensor<2x3x6xf64>) -> (tensor<2x3x12xf64>, tensor<2x4x3xf64>))",
         "2x3",
         12});
}

TEST(Gradient, Embedding) {
  expectRightGradients(
      {{{"i", "2x4"}, {"w", "3x5"}},
       R"(%y = nn.embedding "e"(%i, %w) : (tensor<2x4xi32>, tensor<3x5xf64>) -> tensor<2x4x5xf64>)",
       "2x4",
       5});
}

TEST(Gradient, LayerNorm) {
  expectRightGradients(
      {{{"a", "2x3x5"}, {"g", "5"}, {"s", "5"}},
       R"(%y = nn.layer_norm "n"(%a, %g, %s) : (tensor<2x3x5xf64>, tensor<5xf64>, tensor<5xf64>) -> tensor<2x3x5xf64>)",
       "2x3",
       5});
}

TEST(Gradient, Activations) {
  for (std::string name : {"relu", "gelu", "keep"})
    expectRightGradients(
        {{{"a", "4x5"}},
         "%y = nn." + name +
             R"( "act"(%a) : (tensor<4x5xf64>) -> tensor<4x5xf64>)",
         "4",
         5});
}

TEST(Gradient, AddOfEqualAndOfRepeatedOperands) {
  expectRightGradients(
      {{{"a", "2x3x4"}, {"b", "2x3x4"}, {"c", "3x4"}, {"d", "4"}},
       R"(%0 = nn.add "a"(%a, %b) : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
                           %1 = nn.add "b"(%0, %c) : (tensor<2x3x4xf64>, tensor<3x4xf64>) -> tensor<2x3x4xf64>
                           %2 = nn.add "c"(%1, %d) : (tensor<2x3x4xf64>, tensor<4xf64>) -> tensor<2x3x4xf64>
                           %y = nn.add "d"(%2, %a) : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>)",
       "2x3",
       4});
}

TEST(Gradient, Dropout) {
  expectRightGradients(
      {{{"a", "6x5"}},
       R"(%y, %mask = nn.dropout "d"(%a) {probability = 0.4 : f64, seed = 3 : i64} : (tensor<6x5xf64>) -> (tensor<6x5xf64>, tensor<6x5xi8>))",
       "6",
       5});
}

TEST(Gradient, SplitOfWhichOnePieceIsNotRead) {
  expectRightGradients(
      {{{"a", "4x18"}},
       R"(%p, %q, %r = nn.split "s"(%a) {groups = 3 : i64} : (tensor<4x18xf64>) -> (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>)
                           %g = nn.gelu "g"(%p) : (tensor<4x6xf64>) -> tensor<4x6xf64>
                           %y = nn.add "sum"(%g, %r) : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>)",
       "4",
       6});
}

TEST(Gradient, SplitIntoUnequalPieces) {
  expectRightGradients(
      {{{"a", "4x10"}, {"w", "6x4"}},
       R"(%p, %q = nn.split "s"(%a) {groups = 2 : i64} : (tensor<4x10xf64>) -> (tensor<4x6xf64>, tensor<4x4xf64>)
                           %l = nn.linear "l"(%q, %w) : (tensor<4x4xf64>, tensor<6x4xf64>) -> tensor<4x6xf64>
                           %y = nn.add "sum"(%p, %l) : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>)",
       "4",
       6});
}

TEST(Gradient, ReshapeAndCast) {
  expectRightGradients(
      {{{"a", "4x6"}},
       R"(%0 = nn.reshape "r"(%a) : (tensor<4x6xf64>) -> tensor<2x3x4xf64>
                           %y = nn.cast "c"(%0) : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>)",
       "2x3",
       4});
}

TEST(Gradient, RepeatWithCarriedSlicedAndCapturedParameters) {
  expectRightGradients(
      {{{"a", "4x5"}, {"ws", "3x5x5"}, {"b", "5"}},
       R"(%y = nn.repeat "layers" count 3 carry(%h = %a : tensor<4x5xf64>) slice(%w = %ws : tensor<3x5x5xf64> to tensor<5x5xf64>) -> (tensor<4x5xf64>) {
                             %0 = nn.linear "fc"(%h, %w, %b) : (tensor<4x5xf64>, tensor<5x5xf64>, tensor<5xf64>) -> tensor<4x5xf64>
                             %1 = nn.gelu "act"(%0) : (tensor<4x5xf64>) -> tensor<4x5xf64>
                             %2 = nn.add "residual"(%h, %1) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
                             nn.yield %2 : tensor<4x5xf64>
                           })",
       "4",
       5});
}

TEST(Gradient, RepeatInReverseThatStacks) {
  expectRightGradients(
      {{{"a", "4x5"}, {"ws", "3x5x5"}, {"vs", "3x5x5"}},
       R"(%z, %s = nn.repeat "first" count 3 reverse carry(%h = %a : tensor<4x5xf64>) slice(%w = %ws : tensor<3x5x5xf64> to tensor<5x5xf64>) -> (tensor<4x5xf64>, tensor<3x4x5xf64>) {
                             %0 = nn.linear "fc"(%h, %w) : (tensor<4x5xf64>, tensor<5x5xf64>) -> tensor<4x5xf64>
                             %1 = nn.gelu "act"(%0) : (tensor<4x5xf64>) -> tensor<4x5xf64>
                             nn.yield %1, %0 : tensor<4x5xf64>, tensor<4x5xf64>
                           }
                           %y = nn.repeat "second" count 3 carry(%h = %z : tensor<4x5xf64>) slice(%v = %vs : tensor<3x5x5xf64> to tensor<5x5xf64>, %k = %s : tensor<3x4x5xf64> to tensor<4x5xf64>) -> (tensor<4x5xf64>) {
                             %0 = nn.linear "fc"(%h, %v) : (tensor<4x5xf64>, tensor<5x5xf64>) -> tensor<4x5xf64>
                             %1 = nn.add "skip"(%0, %k) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
                             nn.yield %1 : tensor<4x5xf64>
                           })",
       "4",
       5});
}

TEST(Gradient, RepeatInARepeat) {
  expectRightGradients(
      {{{"a", "4x5"}, {"ws", "2x3x5x5"}},
       R"(%y = nn.repeat "outer" count 2 carry(%g = %a : tensor<4x5xf64>) slice(%us = %ws : tensor<2x3x5x5xf64> to tensor<3x5x5xf64>) -> (tensor<4x5xf64>) {
                             %r = nn.repeat "inner" count 3 carry(%h = %g : tensor<4x5xf64>) slice(%w = %us : tensor<3x5x5xf64> to tensor<5x5xf64>) -> (tensor<4x5xf64>) {
                               %0 = nn.linear "fc"(%h, %w) : (tensor<4x5xf64>, tensor<5x5xf64>) -> tensor<4x5xf64>
                               %1 = nn.gelu "act"(%0) : (tensor<4x5xf64>) -> tensor<4x5xf64>
                               nn.yield %1 : tensor<4x5xf64>
                             }
                             nn.yield %r : tensor<4x5xf64>
                           })",
       "4",
       5});
}

TEST(Gradient, RepeatThatYieldsAValueFromOutsideBeforeACarriedOne) {
  expectRightGradients(
      {{{"a", "5x5"}, {"w", "5x5"}, {"b", "5x5"}},
       R"(%x = nn.linear "first"(%a, %b) : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
                           %g, %y = nn.repeat "layers" count 3 carry(%p = %w : tensor<5x5xf64>, %h = %x : tensor<5x5xf64>) -> (tensor<5x5xf64>, tensor<5x5xf64>) {
                             %0 = nn.linear "fc"(%h, %p) : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
                             nn.yield %b, %0 : tensor<5x5xf64>, tensor<5x5xf64>
                           })",
       "5",
       5});
}

TEST(Gradient, RepeatThatReadsItsInputSlicesOnly) {
  // No carried value needs a gradient.
  expectRightGradients(
      {{{"w", "5x5"}, {"xs", "3x4x5"}, {"a", "4x5"}},
       R"(%y = nn.repeat "steps" count 3 carry(%h = %a : tensor<4x5xf64>) slice(%x = %xs : tensor<3x4x5xf64> to tensor<4x5xf64>) -> (tensor<4x5xf64>) {
                             %0 = nn.linear "fc"(%x, %w) : (tensor<4x5xf64>, tensor<5x5xf64>) -> tensor<4x5xf64>
                             %1 = nn.add "sum"(%h, %0) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
                             nn.yield %1 : tensor<4x5xf64>
                           })",
       "4",
       5});
}

TEST(Gradient, Linalg) {
  expectRightGradients(R"(
    #rows = affine_map<(d0, d1) -> (d0, d1)>
    #scalar = affine_map<(d0, d1) -> ()>
    func.func @m(%x: tensor<4x3xf64> {nn.role = "input", nn.path = "x"},
                 %target: tensor<4x5xf64> {nn.role = "input", nn.path = "target"},
                 %w: tensor<3x5xf64> {nn.role = "parameter", nn.path = "w"}) -> tensor<f64>
        attributes {nn.training = #nn.training<optimizer = momentum>} {
      %zero = arith.constant 0.0 : f64
      %e0 = tensor.empty() : tensor<4x5xf64>
      %z0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<4x5xf64>) -> tensor<4x5xf64>
      %h = linalg.matmul ins(%x, %w : tensor<4x3xf64>, tensor<3x5xf64>) outs(%z0 : tensor<4x5xf64>) -> tensor<4x5xf64>
      %e1 = tensor.empty() : tensor<4x5xf64>
      %a = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
          ins(%h : tensor<4x5xf64>) outs(%e1 : tensor<4x5xf64>) {
      ^bb0(%in: f64, %out: f64):
        %m = arith.maximumf %in, %zero : f64
        %t = math.tanh %in : f64
        %e = math.exp %t : f64
        %q = math.erf %e : f64
        %s = arith.addf %m, %q : f64
        %two = arith.constant 2.0 : f64
        %u = arith.addf %e, %two : f64
        %r = math.rsqrt %u : f64
        %l = math.log %u : f64
        %v = arith.divf %s, %l : f64
        %o = arith.subf %v, %r : f64
        linalg.yield %o : f64
      } -> tensor<4x5xf64>
      %e3 = tensor.empty() : tensor<f64>
      %z3 = linalg.fill ins(%zero : f64) outs(%e3 : tensor<f64>) -> tensor<f64>
      %loss = linalg.generic {indexing_maps = [#rows, #rows, #scalar], iterator_types = ["reduction", "reduction"]}
          ins(%a, %target : tensor<4x5xf64>, tensor<4x5xf64>) outs(%z3 : tensor<f64>) {
      ^bb0(%in: f64, %t: f64, %sum: f64):
        %d = arith.subf %in, %t : f64
        %s = arith.mulf %d, %d : f64
        %n = arith.addf %sum, %s : f64
        linalg.yield %n : f64
      } -> tensor<f64>
      return %loss : tensor<f64>
    })");
}

TEST(Gradient, LinalgChoices) {
  expectRightGradients(R"(
    #rows = affine_map<(d0, d1) -> (d0, d1)>
    #scalar = affine_map<(d0, d1) -> ()>
    func.func @m(%w: tensor<4x5xf64> {nn.role = "parameter", nn.path = "w"},
                 %v: tensor<4x5xf64> {nn.role = "parameter", nn.path = "v"}) -> tensor<f64>
        attributes {nn.training = #nn.training<optimizer = momentum>} {
      %zero = arith.constant 0.0 : f64
      %e = tensor.empty() : tensor<f64>
      %z = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
      %loss = linalg.generic {indexing_maps = [#rows, #rows, #scalar], iterator_types = ["reduction", "reduction"]}
          ins(%w, %v : tensor<4x5xf64>, tensor<4x5xf64>) outs(%z : tensor<f64>) {
      ^bb0(%a: f64, %b: f64, %sum: f64):
        %n = arith.negf %a : f64
        %least = arith.minimumf %n, %b : f64
        %most = arith.maxnumf %least, %zero : f64
        %other = arith.minnumf %a, %b : f64
        %less = arith.cmpf olt, %a, %b : f64
        %chosen = arith.select %less, %other, %most : f64
        %square = arith.mulf %chosen, %chosen : f64
        %one = arith.constant 1.0 : f64
        %positive = arith.addf %square, %one : f64
        %root = math.sqrt %positive : f64
        %product = arith.mulf %root, %b : f64
        %next = arith.addf %sum, %product : f64
        linalg.yield %next : f64
      } -> tensor<f64>
      return %loss : tensor<f64>
    })");
}

/// Returns a mixture of 4 experts over 2 groups of 6 tokens. `factor` is the
/// capacity factor, which determines `slots`; `route` holds further attributes
/// of the routing.
static Model mixtureOfExperts(std::string factor, std::string slots,
                              std::string route) {
  std::string places = "tensor<4x2x" + slots + "x5xf64>",
              wide = "tensor<4x2x" + slots + "x6xf64>";
  return {
      {{"a", "4x3x5"},
       {"g", "4x5"},
       {"w", "4x6x5"},
       {"b", "4x6"},
       {"v", "4x5x6"}},
      R"(%l = nn.linear "gate"(%a, %g) : (tensor<4x3x5xf64>, tensor<4x5xf64>) -> tensor<4x3x4xf64>
         %p, %e, %s = nn.moe_route "route"(%l) {groups = 2 : i64, capacity_factor = )" +
          factor + " : f64" + route +
          R"(} : (tensor<4x3x4xf64>) -> (tensor<4x3x2xf64>, tensor<4x3x2xi32>, tensor<4x3x2xi32>)
         %d = nn.moe_dispatch "dispatch"(%a, %e, %s) : (tensor<4x3x5xf64>, tensor<4x3x2xi32>, tensor<4x3x2xi32>) -> )" +
          places + R"(
         %1 = nn.expert_linear "fc1"(%d, %w, %b) : ()" +
          places + ", tensor<4x6x5xf64>, tensor<4x6xf64>) -> " + wide + R"(
         %2 = nn.gelu "act"(%1) : ()" +
          wide + ") -> " + wide + R"(
         %3 = nn.expert_linear "fc2"(%2, %v) : ()" +
          wide + ", tensor<4x5x6xf64>) -> " + places + R"(
         %y = nn.moe_combine "combine"(%3, %e, %s, %p) : ()" +
          places +
          ", tensor<4x3x2xi32>, tensor<4x3x2xi32>, tensor<4x3x2xf64>) -> "
          "tensor<4x3x5xf64>",
      "4x3",
      5};
}

TEST(Gradient, MixtureOfExperts) {
  // Capacity for all tokens, and then so little that some are dropped.
  expectRightGradients(mixtureOfExperts("2.0", "6", ""));
  expectRightGradients(mixtureOfExperts("2.0", "6", ", normalize"));
  expectRightGradients(mixtureOfExperts("0.6", "2", ""));
  expectRightGradients(mixtureOfExperts("0.6", "2", ", normalize"));
}

// A dispatch with gates is bilinear, as it is in the backward pass.
TEST(Gradient, DispatchWithGatesAndCombinationWithout) {
  expectRightGradients(
      {{{"a", "4x5"}, {"g", "3x5"}},
       R"(%l = nn.linear "gate"(%a, %g) : (tensor<4x5xf64>, tensor<3x5xf64>) -> tensor<4x3xf64>
          %p, %e, %s = nn.moe_route "route"(%l) {groups = 1 : i64, capacity_factor = 2.0 : f64} : (tensor<4x3xf64>) -> (tensor<4x2xf64>, tensor<4x2xi32>, tensor<4x2xi32>)
          %d = nn.moe_dispatch "dispatch"(%a, %e, %s, %p) : (tensor<4x5xf64>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xf64>) -> tensor<3x1x6x5xf64>
          %y = nn.moe_combine "combine"(%d, %e, %s) : (tensor<3x1x6x5xf64>, tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x5xf64>)",
       "4",
       5});
}
