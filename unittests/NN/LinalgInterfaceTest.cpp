//===- LinalgInterfaceTest.cpp - linalg operations in models --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/LinalgInterface.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "SpaceText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace proteus::nn;

namespace {

/// Scope for gradients at the end of a function. The last argument is the
/// gradient of the operation's result; the gradients of the other tensors are
/// wanted.
class FunctionScope : public GradientScope {
public:
  explicit FunctionScope(func::FuncOp function)
      : function(function), atEnd(function.getBody().front().getTerminator()) {}

  OpBuilder &builder() override { return atEnd; }
  Value gradientOf(Value) override { return function.getArguments().back(); }
  Value saved(Value value) override { return value; }
  bool wants(Value operand) override { return isa<BlockArgument>(operand); }
  Type gradientType(Value operand) override {
    auto type = cast<RankedTensorType>(operand.getType());
    return gradientElement ? type.clone(gradientElement) : type;
  }
  void add(Value operand, Value gradient) override {
    EXPECT_EQ(gradient.getType(), gradientType(operand));
    gradients[operand] = gradient;
  }

  /// Element type of the gradients if it differs from that of the operands.
  Type gradientElement;
  llvm::DenseMap<Value, Value> gradients;

private:
  func::FuncOp function;
  OpBuilder atEnd;
};

class LinalgInterfaceTest : public ::testing::Test {
protected:
  LinalgInterfaceTest() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, linalg::LinalgDialect, NNDialect,
                    proteus::ProteusDialect>();
    registerLinalgInterfaces(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Parses a function and returns the last operation before the return.
  Operation *parse(StringRef arguments, StringRef body) {
    module = parseSourceString<ModuleOp>(
        ("func.func @f(" + arguments + ") {" + body + " return }").str(),
        &context);
    if (!module)
      return nullptr;
    function = module->lookupSymbol<func::FuncOp>("f");
    return function.getBody().front().getTerminator()->getPrevNode();
  }

  /// Checks iterators and indexing of one operation.
  void expectSpace(Operation *op, StringRef iterators, StringRef indexing) {
    ASSERT_TRUE(op);
    IterationSpace space =
        cast<IterationSpaceOpInterface>(op).getIterationSpace();
    EXPECT_EQ(iteratorsOf(space), iterators.str());
    EXPECT_EQ(indexingOf(space), indexing.str());
    EXPECT_TRUE(succeeded(verifyIterationSpace(op, space)));
  }

  /// Builds the gradients of `op` and verifies the module.
  LogicalResult differentiate(Operation *op, FunctionScope &scope) {
    if (failed(cast<GradientOpInterface>(op).buildGradients(scope)))
      return failure();
    return verify(*module);
  }

  /// Returns the text of the operation that computes the gradient of argument
  /// `index`.
  std::string gradientText(Operation *op, unsigned index) {
    FunctionScope scope(function);
    EXPECT_TRUE(succeeded(differentiate(op, scope)));
    Value gradient = scope.gradients.lookup(function.getArgument(index));
    EXPECT_TRUE(gradient);
    return gradient ? print(gradient.getDefiningOp()) : std::string();
  }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os, OpPrintingFlags().useLocalScope());
    return text;
  }

  /// Expects the pieces in `text` in this order.
  static void expectInOrder(StringRef text, ArrayRef<StringRef> pieces) {
    size_t position = 0;
    for (StringRef piece : pieces) {
      size_t found = text.find(piece, position);
      EXPECT_NE(found, StringRef::npos)
          << "no '" << piece.str() << "' from position " << position << " of\n"
          << text.str();
      if (found == StringRef::npos)
        return;
      position = found + piece.size();
    }
  }

  /// Returns the value that the body of a linalg operation yields for these
  /// arguments, by folding its operations one by one.
  static double evaluate(Block &body, ArrayRef<double> arguments) {
    llvm::DenseMap<Value, Attribute> values;
    for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
      values[argument] = FloatAttr::get(argument.getType(), value);
    for (Operation &op : body.without_terminator()) {
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      // MLIR folds no reciprocal roots and no conversions that round.
      if (isa<math::RsqrtOp, arith::TruncFOp>(op)) {
        double in = cast<FloatAttr>(operands[0]).getValueAsDouble();
        values[op.getResult(0)] =
            FloatAttr::get(op.getResult(0).getType(),
                           isa<math::RsqrtOp>(op) ? 1 / std::sqrt(in) : in);
        continue;
      }
      SmallVector<OpFoldResult> results;
      if (failed(op.fold(operands, results)) || results.size() != 1) {
        ADD_FAILURE() << "can't evaluate " << print(&op);
        return 0;
      }
      auto folded = dyn_cast<Attribute>(results.front());
      values[op.getResult(0)] =
          folded ? folded : values.lookup(cast<Value>(results.front()));
    }
    return cast<FloatAttr>(values.lookup(body.getTerminator()->getOperand(0)))
        .getValueAsDouble();
  }

  /// Parses y = f(x), element by element, on tensor<8x4xf32>.
  Operation *parseUnary(StringRef body) {
    return parse("%x: tensor<8x4xf32>, %dy: tensor<8x4xf32>",
                 ("%e = tensor.empty() : tensor<8x4xf32>"
                  "%y = linalg.generic {indexing_maps = ["
                  "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],"
                  "iterator_types = [\"parallel\", \"parallel\"]}"
                  "ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {"
                  "^bb0(%a: f32, %o: f32): " +
                  body + " linalg.yield %r : f32 } -> tensor<8x4xf32>")
                     .str());
  }

  Operation *parseMatmul() {
    return parse("%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, "
                 "%c: tensor<8x4xf32>, %dy: tensor<8x4xf32>",
                 "%y = linalg.matmul ins(%a, %b : tensor<8x16xf32>, "
                 "tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> "
                 "tensor<8x4xf32>");
  }

  Operation *parseBiasAdd() {
    return parse("%x: tensor<8x4xf32>, %b: tensor<4xf32>, "
                 "%dy: tensor<8x4xf32>",
                 R"(%e = tensor.empty() : tensor<8x4xf32>
        %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
            affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}
            ins(%x, %b : tensor<8x4xf32>, tensor<4xf32>)
            outs(%e : tensor<8x4xf32>) {
        ^bb0(%in: f32, %bias: f32, %o: f32):
          %s = arith.addf %in, %bias : f32
          linalg.yield %s : f32
        } -> tensor<8x4xf32>)");
  }

  Operation *parseSumOfSquares() {
    return parse("%x: tensor<8x4xf32>, %i: tensor<f32>, %dy: tensor<f32>",
                 R"(%y = linalg.generic {indexing_maps = [
            affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
            iterator_types = ["reduction", "reduction"]}
            ins(%x : tensor<8x4xf32>) outs(%i : tensor<f32>) {
        ^bb0(%in: f32, %acc: f32):
          %q = arith.mulf %in, %in : f32
          %s = arith.addf %acc, %q : f32
          linalg.yield %s : f32
        } -> tensor<f32>)");
  }

  Operation *parseConvolution() {
    return parse("%x: tensor<2x3x9x9xf32>, %w: tensor<16x3x3x3xf32>, "
                 "%i: tensor<2x16x7x7xf32>, %dy: tensor<2x16x7x7xf32>",
                 "%y = linalg.conv_2d_nchw_fchw {strides = dense<1> : "
                 "vector<2xi64>, dilations = dense<1> : vector<2xi64>} "
                 "ins(%x, %w : tensor<2x3x9x9xf32>, tensor<16x3x3x3xf32>) "
                 "outs(%i : tensor<2x16x7x7xf32>) -> tensor<2x16x7x7xf32>");
  }

  /// Parses y[i] = combine over k of x[i, k].
  Operation *parseReduction(StringRef combiner) {
    return parse("%x: tensor<8x4xf32>, %i: tensor<8xf32>, %dy: tensor<8xf32>",
                 ("%y = linalg.reduce ins(%x : tensor<8x4xf32>) "
                  "outs(%i : tensor<8xf32>) dimensions = [1] "
                  "(%in: f32, %acc: f32) { %r = " +
                  combiner + " %acc, %in : f32 linalg.yield %r : f32 }")
                     .str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

TEST_F(LinalgInterfaceTest, MatmulSumsOverItsThirdLoop) {
  Operation *op = parseMatmul();
  expectSpace(op, "d0:8 d1:4 d2:16:sum",
              "(d0, d2) (d2, d1) (d0, d1) -> (d0, d1)");
  auto kernel = cast<IterationSpaceOpInterface>(op);
  EXPECT_EQ(kernel.getKernelClass(), KernelClass::Matrix);
  EXPECT_EQ(kernel.getFlopsPerPoint(), 2);
  EXPECT_EQ(kernel.getExecutedFlopsPerPoint(), 2);
  EXPECT_EQ(kernel.getVisitedShare(), 1);
  EXPECT_TRUE(kernel.readsWholeOperand(2));
  EXPECT_FALSE(isCostOnly(op));
}

TEST_F(LinalgInterfaceTest, BatchMatmulHasALeadingLoop) {
  Operation *op = parse(
      "%a: tensor<2x8x16xf16>, %b: tensor<2x16x4xf16>, %c: tensor<2x8x4xf32>",
      "%y = linalg.batch_matmul ins(%a, %b : tensor<2x8x16xf16>, "
      "tensor<2x16x4xf16>) outs(%c : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>");
  expectSpace(op, "d0:2 d1:8 d2:4 d3:16:sum",
              "(d0, d1, d3) (d0, d3, d2) (d0, d1, d2) -> (d0, d1, d2)");
  // Conversions of operands do not count and do not hide the product.
  auto kernel = cast<IterationSpaceOpInterface>(op);
  EXPECT_EQ(kernel.getFlopsPerPoint(), 2);
  EXPECT_EQ(kernel.getKernelClass(), KernelClass::Matrix);
}

TEST_F(LinalgInterfaceTest, MatrixTimesVectorReusesNothing) {
  Operation *op =
      parse("%a: tensor<8x16xf32>, %b: tensor<16xf32>, %c: tensor<8xf32>",
            "%y = linalg.matvec ins(%a, %b : tensor<8x16xf32>, tensor<16xf32>) "
            "outs(%c : tensor<8xf32>) -> tensor<8xf32>");
  expectSpace(op, "d0:8 d1:16:sum", "(d0, d1) (d1) (d0) -> (d0)");
  EXPECT_EQ(cast<IterationSpaceOpInterface>(op).getKernelClass(),
            KernelClass::Memory);
}

TEST_F(LinalgInterfaceTest, ElementwiseLoopsAreParallel) {
  Operation *op = parseUnary("%z = arith.constant 0.0 : f32 "
                             "%r = arith.maximumf %a, %z : f32");
  expectSpace(op, "d0:8 d1:4", "(d0, d1) (d0, d1) -> (d0, d1)");
  auto kernel = cast<IterationSpaceOpInterface>(op);
  EXPECT_EQ(kernel.getKernelClass(), KernelClass::Memory);
  EXPECT_EQ(kernel.getFlopsPerPoint(), 1);
  EXPECT_TRUE(kernel.readsWholeOperand(0));
  EXPECT_FALSE(kernel.readsWholeOperand(1)) << "the body overwrites it";
}

TEST_F(LinalgInterfaceTest, BroadcastOperandLacksALoop) {
  expectSpace(parseBiasAdd(), "d0:8 d1:4",
              "(d0, d1) (d1) (d0, d1) -> (d0, d1)");
}

TEST_F(LinalgInterfaceTest, ReductionToAScalarSumsOverAllLoops) {
  Operation *op = parseSumOfSquares();
  expectSpace(op, "d0:8:sum d1:4:sum", "(d0, d1) () -> ()");
  EXPECT_EQ(cast<IterationSpaceOpInterface>(op).getKernelClass(),
            KernelClass::Memory);
}

TEST_F(LinalgInterfaceTest, CombinerGivesTheKindOfReduction) {
  expectSpace(parseReduction("arith.addf"), "d0:8 d1:4:sum",
              "(d0, d1) (d0) -> (d0)");
  expectSpace(parseReduction("arith.maximumf"), "d0:8 d1:4:max",
              "(d0, d1) (d0) -> (d0)");
  expectSpace(parseReduction("arith.mulf"), "d0:8 d1:4:opaque",
              "(d0, d1) (d0) -> (d0)");
}

TEST_F(LinalgInterfaceTest, WindowsAreIndexedByNothing) {
  Operation *op = parseConvolution();
  expectSpace(op,
              "d0:2 d1:16 d2:7:opaque d3:7:opaque d4:3:sum d5:3:opaque "
              "d6:3:opaque",
              "(d0, d4, _, _) (d1, d4, d5, d6) (d0, d1, d2, d3) -> (d0, d1, "
              "d2, d3)");
  EXPECT_EQ(cast<IterationSpaceOpInterface>(op).getKernelClass(),
            KernelClass::Matrix);
}

TEST_F(LinalgInterfaceTest, DiagonalsAndConstantsAreIndexedByNothing) {
  Operation *op = parse("%x: tensor<8x8x1xf32>, %i: tensor<8xf32>",
                        R"(%y = linalg.generic {indexing_maps = [
            affine_map<(i) -> (i, i, 0)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]}
            ins(%x : tensor<8x8x1xf32>) outs(%i : tensor<8xf32>) {
        ^bb0(%in: f32, %o: f32):
          linalg.yield %in : f32
        } -> tensor<8xf32>)");
  expectSpace(op, "d0:8:opaque", "(_, _, _) (d0) -> (d0)");
}

TEST_F(LinalgInterfaceTest, ProducersOfInitialValuesHaveDimensions) {
  Operation *op = parse("", "%e = tensor.empty() : tensor<8x4xf32>");
  expectSpace(op, "dim0:8 dim1:4", "-> (dim0, dim1)");
  EXPECT_EQ(cast<IterationSpaceOpInterface>(op).getKernelClass(),
            KernelClass::View);
  op = parse("%v: f32, %i: tensor<8x4xf32>",
             "%y = linalg.fill ins(%v : f32) outs(%i : tensor<8x4xf32>) -> "
             "tensor<8x4xf32>");
  expectSpace(op, "dim0:8 dim1:4", "() (dim0, dim1) -> (dim0, dim1)");
  EXPECT_FALSE(cast<IterationSpaceOpInterface>(op).readsWholeOperand(1));
}

TEST_F(LinalgInterfaceTest, DynamicShapesAreRejectedWithALocation) {
  Operation *op = parse("%x: tensor<?x4xf32>, %i: tensor<?x4xf32>",
                        "%y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%i : "
                        "tensor<?x4xf32>) -> tensor<?x4xf32>");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(verifyIterationSpace(
      op, cast<IterationSpaceOpInterface>(op).getIterationSpace())));
  EXPECT_EQ(message, "'linalg.exp' op operand 0 must be a tensor of static "
                     "shape, got 'tensor<?x4xf32>'");
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

TEST_F(LinalgInterfaceTest, GradientsOfMatmulAreProducts) {
  // dA[i, k] = sum over j of dY[i, j] B[k, j]
  expectInOrder(gradientText(parseMatmul(), 0),
                {"affine_map<(d0, d1, d2) -> (d2, d1)>",
                 "affine_map<(d0, d1, d2) -> (d0, d1)>",
                 "affine_map<(d0, d1, d2) -> (d0, d2)>",
                 R"(iterator_types = ["parallel", "reduction", "parallel"])",
                 "ins(%arg1, %arg3 :", "proteus.path = \"f.linalg.matmul#0\"",
                 "(%in: f32, %in_1: f32, %out: f32)", "arith.mulf %in_1, %in",
                 "arith.addf %out,", "linalg.yield"});
  // dB[k, j] = sum over i of dY[i, j] A[i, k]
  std::string text = gradientText(parseMatmul(), 1);
  expectInOrder(text, {"affine_map<(d0, d1, d2) -> (d0, d2)>",
                       "affine_map<(d0, d1, d2) -> (d0, d1)>",
                       "affine_map<(d0, d1, d2) -> (d2, d1)>",
                       R"(["reduction", "parallel", "parallel"])",
                       "ins(%arg0, %arg3 :"});
}

TEST_F(LinalgInterfaceTest, GradientOfMatmulIsAContractionItself) {
  Operation *op = parseMatmul();
  FunctionScope scope(function);
  ASSERT_TRUE(succeeded(differentiate(op, scope)));
  Operation *gradient =
      scope.gradients.lookup(function.getArgument(0)).getDefiningOp();
  expectSpace(gradient, "d0:8 d1:4:sum d2:16",
              "(d2, d1) (d0, d1) (d0, d2) -> (d0, d2)");
  EXPECT_EQ(cast<IterationSpaceOpInterface>(gradient).getKernelClass(),
            KernelClass::Matrix);
  // The accumulator starts at zero.
  auto fill = gradient->getOperand(2).getDefiningOp<linalg::FillOp>();
  ASSERT_TRUE(fill);
  EXPECT_EQ(getOwnPath(fill), "f.linalg.matmul#0");
  EXPECT_EQ(getOwnPath(fill.getOperand(1).getDefiningOp()),
            "f.linalg.matmul#0");
}

TEST_F(LinalgInterfaceTest, PreviousValueGetsTheGradientAsItIs) {
  Operation *op = parseMatmul();
  FunctionScope scope(function);
  ASSERT_TRUE(succeeded(differentiate(op, scope)));
  EXPECT_EQ(scope.gradients.lookup(function.getArgument(2)),
            function.getArgument(3));
}

TEST_F(LinalgInterfaceTest, GradientsAccumulateInTheirOwnType) {
  Operation *op = parse(
      "%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %c: tensor<8x4xbf16>, "
      "%dy: tensor<8x4xbf16>",
      "%y = linalg.matmul ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) "
      "outs(%c : tensor<8x4xbf16>) -> tensor<8x4xbf16>");
  FunctionScope scope(function);
  scope.gradientElement = Float32Type::get(&context);
  ASSERT_TRUE(succeeded(differentiate(op, scope)));
  expectInOrder(
      print(scope.gradients.lookup(function.getArgument(0)).getDefiningOp()),
      {"arith.mulf", ": bf16", "arith.extf", ": bf16 to f32", "arith.addf %out",
       ": f32"});
  expectInOrder(
      print(scope.gradients.lookup(function.getArgument(2)).getDefiningOp()),
      {R"(iterator_types = ["parallel", "parallel"])",
       "ins(%arg3 :", "arith.extf", "linalg.yield"});
}

TEST_F(LinalgInterfaceTest, GradientOfReluSelects) {
  std::string text =
      gradientText(parseUnary("%z = arith.constant 0.0 : f32 "
                              "%r = arith.maximumf %a, %z : f32"),
                   0);
  expectInOrder(text, {R"(["parallel", "parallel"])",
                       "ins(%arg0, %arg1 :", "arith.cmpf ogt, %in,",
                       "arith.select", "%in_", "arith.addf %out"});
}

TEST_F(LinalgInterfaceTest, GradientOfCompareAndSelectSelects) {
  std::string text =
      gradientText(parseUnary("%z = arith.constant 0.0 : f32 "
                              "%c = arith.cmpf ogt, %a, %z : f32 "
                              "%r = arith.select %c, %a, %z : f32"),
                   0);
  expectInOrder(text, {"ins(%arg0, %arg1 :", "arith.cmpf ogt, %in,",
                       "arith.select", "arith.addf %out"});
}

TEST_F(LinalgInterfaceTest, LinearBodyNeedsNoForwardValue) {
  // The gradient of a bias sums over the loop that it lacks.
  expectInOrder(gradientText(parseBiasAdd(), 1),
                {"affine_map<(d0, d1) -> (d0, d1)>",
                 "affine_map<(d0, d1) -> (d1)>", R"(["reduction", "parallel"])",
                 "ins(%arg2 :", "arith.addf %out, %in"});
  expectInOrder(
      gradientText(parseBiasAdd(), 0),
      {R"(["parallel", "parallel"])", "ins(%arg2 :", "arith.addf %out, %in"});
}

TEST_F(LinalgInterfaceTest, GradientOfASumIsSpreadOverTheInput) {
  // d(x x) = dy x + dy x
  expectInOrder(
      gradientText(parseSumOfSquares(), 0),
      {"affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> ()>",
       "affine_map<(d0, d1) -> (d0, d1)>", R"(["parallel", "parallel"])",
       "ins(%arg0, %arg2 :", "arith.mulf %in_0, %in", "arith.mulf %in_0, %in",
       "arith.addf", "arith.addf %out"});
}

TEST_F(LinalgInterfaceTest, GradientOfAConvolutionAddsThroughTheWindow) {
  expectInOrder(gradientText(parseConvolution(), 0),
                {"-> (d0, d4, d2 + d5, d3 + d6)>",
                 R"(["parallel", "reduction", "reduction", "reduction", )"
                 R"("parallel", "reduction", "reduction"])",
                 "ins(%arg1, %arg3 :"});
  expectInOrder(gradientText(parseConvolution(), 1),
                {"-> (d0, d4, d2 + d5, d3 + d6)>", "-> (d1, d4, d5, d6)>",
                 R"(["reduction", "parallel", "reduction", "reduction", )"
                 R"("parallel", "parallel", "parallel"])",
                 "ins(%arg0, %arg3 :"});
}

TEST_F(LinalgInterfaceTest, LoopThatNothingReadHasIsGivenByAnEmptyTensor) {
  // y[i] = sum over k of a[i] + b[k]: the gradient of a reads dy[i] only, and
  // still runs over k.
  Operation *op = parse("%a: tensor<8xf32>, %b: tensor<4xf32>, "
                        "%i: tensor<8xf32>, %dy: tensor<8xf32>",
                        R"(%y = linalg.generic {indexing_maps = [
            affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>,
            affine_map<(i, k) -> (i)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : tensor<8xf32>, tensor<4xf32>)
            outs(%i : tensor<8xf32>) {
        ^bb0(%l: f32, %r: f32, %acc: f32):
          %s = arith.addf %l, %r : f32
          %t = arith.addf %acc, %s : f32
          linalg.yield %t : f32
        } -> tensor<8xf32>)");
  FunctionScope scope(function);
  ASSERT_TRUE(succeeded(differentiate(op, scope)));
  Operation *gradient =
      scope.gradients.lookup(function.getArgument(0)).getDefiningOp();
  auto kernel = cast<IterationSpaceOpInterface>(gradient);
  EXPECT_EQ(iteratorsOf(kernel.getIterationSpace()), "d0:8 d1:4:sum");
  unsigned shapes = 0;
  for (OpOperand &operand : gradient->getOpOperands())
    if (operand.get().getDefiningOp<tensor::EmptyOp>()) {
      ++shapes;
      EXPECT_FALSE(kernel.readsWholeOperand(operand.getOperandNumber()));
    }
  EXPECT_EQ(shapes, 1u);
}

TEST_F(LinalgInterfaceTest, ScalarFunctionsHaveTheirDerivatives) {
  StringRef bodies[] = {
      "%r = arith.addf %a, %a : f32",
      "%n = arith.negf %a : f32 %r = arith.subf %a, %n : f32",
      "%r = arith.mulf %a, %a : f32",
      "%g = math.exp %a : f32 %r = arith.divf %a, %g : f32",
      "%c = arith.constant 0.5 : f32 %r = arith.maximumf %a, %c : f32",
      "%c = arith.constant 0.9 : f32 %r = arith.maxnumf %a, %c : f32",
      "%c = arith.constant 0.5 : f32 %r = arith.minimumf %c, %a : f32",
      "%c = arith.constant 0.9 : f32 %r = arith.minnumf %c, %a : f32",
      "%c = arith.constant 0.5 : f32 %q = arith.mulf %a, %a : f32 "
      "%p = arith.cmpf ogt, %a, %c : f32 %r = arith.select %p, %q, %a : f32",
      "%r = math.exp %a : f32",
      "%r = math.log %a : f32",
      "%r = math.tanh %a : f32",
      "%r = math.sqrt %a : f32",
      "%r = math.rsqrt %a : f32",
      "%r = math.erf %a : f32",
      "%w = arith.extf %a : f32 to f64 %q = arith.mulf %w, %w : f64 "
      "%r = arith.truncf %q : f64 to f32",
  };
  for (StringRef body : bodies) {
    SCOPED_TRACE(body.str());
    auto op = cast<linalg::LinalgOp>(parseUnary(body));
    EXPECT_FALSE(isCostOnly(op));
    FunctionScope scope(function);
    ASSERT_TRUE(succeeded(differentiate(op, scope)));
    auto gradient = scope.gradients.lookup(function.getArgument(0))
                        .getDefiningOp<linalg::LinalgOp>();
    // Forward: (a, previous). Backward: (a, dy, previous), without a if the
    // derivative does not need it.
    constexpr double kAt = 0.7, kStep = 1e-2, kSeed = 1.5, kPrevious = 0.25;
    double slope = (evaluate(*op.getBlock(), {kAt + kStep, 0}) -
                    evaluate(*op.getBlock(), {kAt - kStep, 0})) /
                   (2 * kStep);
    SmallVector<double> arguments = {kAt, kSeed, kPrevious};
    double got = evaluate(
        *gradient.getBlock(),
        ArrayRef<double>(arguments).take_back(gradient->getNumOperands()));
    EXPECT_NEAR(got, kPrevious + kSeed * slope, 1e-3);
  }
}

TEST_F(LinalgInterfaceTest, ConstantsFromOutsideAreCopied) {
  Operation *op = parse("%x: tensor<8xf32>, %dy: tensor<8xf32>",
                        R"(%two = arith.constant 2.0 : f32
        %e = tensor.empty() : tensor<8xf32>
        %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
            affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
        ^bb0(%in: f32, %o: f32):
          %p = arith.mulf %in, %two : f32
          linalg.yield %p : f32
        } -> tensor<8xf32>)");
  expectInOrder(gradientText(op, 0),
                {"ins(%arg1 :", "arith.constant 2.0", "arith.mulf"});
}

TEST_F(LinalgInterfaceTest, MaskByIndexIsComputedAgain) {
  Operation *op = parseUnary("%z = arith.constant 0.0 : f32 "
                             "%i = linalg.index 0 : index "
                             "%j = linalg.index 1 : index "
                             "%p = arith.cmpi uge, %i, %j : index "
                             "%r = arith.select %p, %a, %z : f32");
  expectInOrder(gradientText(op, 0),
                {"ins(%arg1 :", "linalg.index 0", "linalg.index 1",
                 "arith.cmpi uge", "arith.select", "arith.addf %out"});
}

TEST_F(LinalgInterfaceTest, FillHasNothingToDifferentiate) {
  Operation *op =
      parse("%v: f32, %i: tensor<8xf32>, %dy: tensor<8xf32>",
            "%y = linalg.fill ins(%v : f32) outs(%i : tensor<8xf32>) -> "
            "tensor<8xf32>");
  FunctionScope scope(function);
  EXPECT_TRUE(succeeded(differentiate(op, scope)));
  EXPECT_TRUE(scope.gradients.empty());
}

TEST_F(LinalgInterfaceTest, UnknownBodiesAreCostOnly) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto expectObstacle = [&](Operation *op, StringRef obstacle) {
    SCOPED_TRACE(obstacle.str());
    EXPECT_TRUE(isCostOnly(op));
    FunctionScope scope(function);
    EXPECT_TRUE(failed(differentiate(op, scope)));
    expectInOrder(message,
                  {"has a body that Proteus can't differentiate: ", obstacle,
                   "; yield the result of arith and math operations"});
  };
  expectObstacle(parseUnary("%r = math.sin %a : f32"), "math.sin");
  expectObstacle(parseReduction("arith.maximumf"), "arith.maximumf");
  expectObstacle(parseReduction("arith.mulf"), "arith.mulf");
  EXPECT_FALSE(isCostOnly(parseReduction("arith.addf")));
}

} // namespace
