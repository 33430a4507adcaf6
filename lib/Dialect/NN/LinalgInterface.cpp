//===- LinalgInterface.cpp - linalg as a front door -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/LinalgInterface.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "ScalarGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;
using linalg::LinalgOp;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The operation that combines the previous value of a result with a new one:
/// the only user of the previous value, yielded and nothing else.
static Operation *getCombiner(LinalgOp op, unsigned result) {
  BlockArgument previous = op.getRegionOutputArgs()[result];
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !combiner->hasOneUse() ||
      !previous.hasOneUse() || *previous.user_begin() != combiner)
    return nullptr;
  return combiner;
}

/// What a reduction over some loops computes, if all results agree.
static IteratorKind getReductionKind(LinalgOp op) {
  std::optional<IteratorKind> common;
  for (unsigned result = 0, e = op.getNumDpsInits(); result != e; ++result) {
    Operation *combiner = getCombiner(op, result);
    IteratorKind kind = IteratorKind::Opaque;
    if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner))
      kind = IteratorKind::Sum;
    else if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp,
                             arith::MaxSIOp, arith::MaxUIOp>(combiner))
      kind = IteratorKind::Max;
    if (common && *common != kind)
      return IteratorKind::Opaque;
    common = kind;
  }
  return common.value_or(IteratorKind::Opaque);
}

/// Whether `op` counts as a floating-point operation: conversions and choices
/// do not.
static bool isFlop(Operation &op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return false;
  return !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp>(op) &&
         llvm::any_of(op.getOperandTypes(), llvm::IsaPred<FloatType>);
}

/// The input that `value` is, seen through conversions; null if it is computed.
static OpOperand *getInput(LinalgOp op, Value value) {
  while (Operation *conversion = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(conversion))
      return nullptr;
    value = conversion->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock())
    return nullptr;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  return op.isDpsInput(operand) ? operand : nullptr;
}

/// Whether `op` is a product of matrices: it sums products of two inputs over a
/// loop that indexes both, and either input lacks a loop that the other has. A
/// matrix times a vector and a depth-wise convolution reuse nothing and do not
/// count.
static bool isContraction(LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  auto sum = dyn_cast_or_null<arith::AddFOp>(getCombiner(op, 0));
  if (!sum)
    return false;
  bool previousIsLeft = sum.getLhs() == op.getRegionOutputArgs()[0];
  Value summand = previousIsLeft ? sum.getRhs() : sum.getLhs();
  while (auto conversion = summand.getDefiningOp<arith::ExtFOp>())
    summand = conversion.getIn();
  auto product = summand.getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  OpOperand *lhs = getInput(op, product.getLhs());
  OpOperand *rhs = getInput(op, product.getRhs());
  if (!lhs || !rhs)
    return false;
  AffineMap lhsMap = op.getMatchingIndexingMap(lhs);
  AffineMap rhsMap = op.getMatchingIndexingMap(rhs);
  bool contracts = false, lhsLacks = false, rhsLacks = false;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inLhs = lhsMap.isFunctionOfDim(loop);
    bool inRhs = rhsMap.isFunctionOfDim(loop);
    if (type == utils::IteratorType::reduction) {
      contracts |= inLhs && inRhs;
    } else {
      lhsLacks |= !inLhs;
      rhsLacks |= !inRhs;
    }
  }
  return contracts && lhsLacks && rhsLacks;
}

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

/// Per dimension the loop that alone indexes it, if there is one.
static SmallVector<std::optional<unsigned>> getPlainLoops(AffineMap map) {
  SmallVector<std::optional<unsigned>> loops;
  for (AffineExpr expr : map.getResults()) {
    std::optional<unsigned> loop;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loop = dim.getPosition();
    if (loop && llvm::count_if(map.getResults(), [&](AffineExpr other) {
                  return other.isFunctionOfDim(*loop);
                }) != 1)
      loop = std::nullopt;
    loops.push_back(loop);
  }
  return loops;
}

static TensorIterators getTensorIterators(AffineMap map) {
  TensorIterators dims;
  for (std::optional<unsigned> loop : getPlainLoops(map))
    dims.push_back(loop ? DimIterators{*loop} : DimIterators{});
  return dims;
}

/// Whether `map` uses `loop` in an expression that is more than the loop.
static bool isCompound(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop) &&
         !llvm::is_contained(getPlainLoops(map), loop);
}

static IterationSpace getSpace(LinalgOp op) {
  IterationSpace space;
  StringRef prefix = isa<linalg::FillOp>(op) ? "dim" : "d";
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  IteratorKind reduction = getReductionKind(op);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (unsigned loop = 0, e = sizes.size(); loop != e; ++loop) {
    IteratorKind kind = types[loop] == utils::IteratorType::parallel
                            ? IteratorKind::Parallel
                            : reduction;
    if (llvm::any_of(maps,
                     [&](AffineMap map) { return isCompound(map, loop); }))
      kind = IteratorKind::Opaque;
    space.add((prefix + Twine(loop)).str(), sizes[loop], kind);
  }
  for (AffineMap map : maps)
    space.operands.push_back(getTensorIterators(map));
  for (OpResult result : op->getResults())
    space.results.push_back(
        getTensorIterators(op.getIndexingMapMatchingResult(result)));
  return space;
}

namespace {
template <typename OpTy>
struct LinalgSpaceModel
    : IterationSpaceOpInterface::ExternalModel<LinalgSpaceModel<OpTy>, OpTy> {
  IterationSpace getIterationSpace(Operation *op) const {
    return getSpace(cast<LinalgOp>(op));
  }
  double getFlopsPerPoint(Operation *op) const {
    return llvm::count_if(*cast<LinalgOp>(op).getBlock(), isFlop);
  }
  double getExecutedFlopsPerPoint(Operation *op) const {
    return getFlopsPerPoint(op);
  }
  KernelClass getKernelClass(Operation *op) const {
    return isContraction(cast<LinalgOp>(op)) ? KernelClass::Matrix
                                             : KernelClass::Memory;
  }
  bool readsWholeOperand(Operation *op, unsigned operand) const {
    return cast<LinalgOp>(op).payloadUsesValueFromOperand(
        &op->getOpOperand(operand));
  }
};

/// tensor.empty computes nothing: it gives an initial value its shape.
struct EmptySpaceModel
    : IterationSpaceOpInterface::ExternalModel<EmptySpaceModel,
                                               tensor::EmptyOp> {
  IterationSpace getIterationSpace(Operation *op) const {
    IterationSpace space;
    TensorIterators dims;
    auto type = cast<tensor::EmptyOp>(op).getType();
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      dims.push_back({space.add("dim" + std::to_string(dim), size)});
    space.operands.resize(op->getNumOperands());
    space.results = {dims};
    return space;
  }
  double getExecutedFlopsPerPoint(Operation *) const { return 0; }
  KernelClass getKernelClass(Operation *) const { return KernelClass::View; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The operation of the body that prevents a gradient; null if there is none.
/// A body has one if it yields a function of the inputs, or adds it to the
/// previous value.
static Operation *findObstacle(LinalgOp op) {
  Block *body = op.getBlock();
  for (auto [i, previous] : llvm::enumerate(op.getRegionOutputArgs())) {
    Operation *combiner = getCombiner(op, i);
    if (previous.use_empty() && op.getNumReductionLoops() != 0)
      return body->getTerminator();
    if (!previous.use_empty() && !isa_and_nonnull<arith::AddFOp>(combiner))
      return *previous.user_begin();
  }
  for (Operation &inner : body->without_terminator()) {
    if (!hasKnownDerivative(&inner))
      return &inner;
    // Constants from outside can be copied, other values would have to be
    // saved.
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != body &&
          !matchPattern(operand, m_Constant()))
        return &inner;
  }
  return nullptr;
}

/// The attribute that gives the operations built for `op` its path.
static NamedAttribute getPathAttr(LinalgOp op) {
  Builder builder(op->getContext());
  return {ProteusDialect::pathAttrName, builder.getStringAttr(getOwnPath(op))};
}

/// Memory for a tensor whose elements a linalg operation writes.
static Value buildEmpty(LinalgOp op, RankedTensorType type,
                        OpBuilder &builder) {
  auto empty = tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                       type.getElementType());
  NamedAttribute path = getPathAttr(op);
  empty->setDiscardableAttr(path.getName(), path.getValue());
  return empty;
}

/// The gradient of a result in another element type; null stays null.
static Value convertTensor(LinalgOp op, Value gradient, Type type,
                           OpBuilder &builder) {
  if (!gradient || gradient.getType() == type)
    return gradient;
  auto tensor = cast<RankedTensorType>(type);
  AffineMap identity = builder.getMultiDimIdentityMap(tensor.getRank());
  SmallVector<utils::IteratorType> parallel(tensor.getRank(),
                                            utils::IteratorType::parallel);
  auto convert = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    linalg::YieldOp::create(
        inner, loc,
        convertFloat(inner, loc, arguments[0], tensor.getElementType()));
  };
  return linalg::GenericOp::create(builder, op->getLoc(), tensor, gradient,
                                   buildEmpty(op, tensor, builder),
                                   ArrayRef<AffineMap>{identity, identity},
                                   parallel, convert, getPathAttr(op))
      .getResult(0);
}

namespace {
/// Builds the gradient of one input: an operation over the same loops that
/// adds up the products of the result's gradient and the derivative of the
/// body.
class InputGradient {
public:
  InputGradient(LinalgOp op, OpOperand &operand, ArrayRef<Value> gradients,
                GradientScope &scope)
      : op(op), operand(operand), gradients(gradients), scope(scope),
        builder(scope.builder()), loc(op->getLoc()),
        type(cast<RankedTensorType>(scope.gradientType(operand.get()))),
        path(getPathAttr(op)) {}

  /// The gradient; null if the results do not depend on the operand.
  Value build() {
    if (!buildBody())
      return nullptr;
    collectOperands();
    addShapeOperands();
    maps.push_back(op.getMatchingIndexingMap(&operand));
    Value init = buildZero();
    auto spliceBody = [&](OpBuilder &inner, Location, ValueRange arguments) {
      for (auto [old, now] : llvm::zip(usedArguments, arguments))
        old.replaceAllUsesWith(now);
      body.getArguments().back().replaceAllUsesWith(arguments.back());
      Block *block = inner.getInsertionBlock();
      block->getOperations().splice(block->end(), body.getOperations());
    };
    // The operation is whole when the builder's listener sees it.
    return linalg::GenericOp::create(builder, loc, type, inputs, init, maps,
                                     getIteratorTypes(), spliceBody, path)
        .getResult(0);
  }

private:
  /// Builds the body: arguments for all inputs, all gradients of results and
  /// the previous value.
  bool buildBody() {
    auto elementType = [](Value value) {
      return getElementTypeOrSelf(value.getType());
    };
    for (Value input : op.getDpsInputs())
      body.addArgument(elementType(input), loc);
    for (auto [gradient, init] : llvm::zip(gradients, op.getDpsInits()))
      body.addArgument(elementType(gradient ? gradient : init), loc);
    BlockArgument previous = body.addArgument(type.getElementType(), loc);

    OpBuilder inner(op->getContext());
    inner.setInsertionPointToEnd(&body);
    unsigned numInputs = op.getNumDpsInputs();
    ScalarGradient scalar(inner, loc, *op.getBlock(),
                          body.getArguments().take_front(numInputs));
    for (auto [i, gradient] : llvm::enumerate(gradients)) {
      if (!gradient)
        continue;
      Value yielded = op.getBlock()->getTerminator()->getOperand(i);
      scalar.seed(yielded,
                  convertFloat(inner, loc, body.getArgument(numInputs + i),
                               yielded.getType()));
    }
    Value derivative =
        scalar.derivativeBy(op.getMatchingBlockArgument(&operand));
    if (!derivative)
      return false;
    Value summand = convertFloat(inner, loc, derivative, previous.getType());
    Value sum = arith::AddFOp::create(inner, loc, previous, summand);
    linalg::YieldOp::create(inner, loc, sum);
    return true;
  }

  /// Takes the inputs and gradients that the body reads.
  void collectOperands() {
    for (auto [input, argument] :
         llvm::zip(op.getDpsInputOperands(), body.getArguments()))
      if (!argument.use_empty()) {
        inputs.push_back(scope.saved(input->get()));
        maps.push_back(op.getMatchingIndexingMap(input));
        usedArguments.push_back(argument);
      }
    auto arguments = body.getArguments().drop_front(op.getNumDpsInputs());
    for (auto [i, gradient] : llvm::enumerate(gradients))
      if (!arguments[i].use_empty()) {
        inputs.push_back(gradient);
        maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(i)));
        usedArguments.push_back(arguments[i]);
      }
  }

  /// linalg takes the size of every loop from its operands. Where those that
  /// the body reads leave a loop open, an empty tensor gives its size.
  void addShapeOperands() {
    llvm::SmallBitVector open(op.getNumLoops(), true);
    auto close = [&](AffineMap map) {
      for (AffineExpr expr : map.getResults())
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          open.reset(loop.getPosition());
    };
    llvm::for_each(maps, close);
    close(op.getMatchingIndexingMap(&operand));
    for (OpOperand &candidate : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&candidate);
      auto shape = dyn_cast<RankedTensorType>(candidate.get().getType());
      if (!shape || llvm::none_of(map.getResults(), [&](AffineExpr expr) {
            auto loop = dyn_cast<AffineDimExpr>(expr);
            return loop && open.test(loop.getPosition());
          }))
        continue;
      inputs.push_back(buildEmpty(op, shape, builder));
      maps.push_back(map);
      close(map);
    }
  }

  Value buildZero() {
    auto zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    zero->setDiscardableAttr(path.getName(), path.getValue());
    return linalg::FillOp::create(builder, loc, ValueRange(zero),
                                  buildEmpty(op, type, builder), path)
        .getResult(0);
  }

  /// Loops that do not index the operand alone are summed over.
  SmallVector<utils::IteratorType> getIteratorTypes() {
    SmallVector<utils::IteratorType> types(op.getNumLoops(),
                                           utils::IteratorType::reduction);
    for (auto loop : getPlainLoops(op.getMatchingIndexingMap(&operand)))
      if (loop)
        types[*loop] = utils::IteratorType::parallel;
    return types;
  }

  LinalgOp op;
  OpOperand &operand;
  ArrayRef<Value> gradients;
  GradientScope &scope;
  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  NamedAttribute path;

  Block body;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  /// Arguments of `body` for the first inputs; those for shapes have none.
  SmallVector<BlockArgument> usedArguments;
};

template <typename OpTy>
struct LinalgGradientModel
    : GradientOpInterface::ExternalModel<LinalgGradientModel<OpTy>, OpTy> {
  LogicalResult buildGradients(Operation *op, GradientScope &scope) const;
};
} // namespace

static LogicalResult buildLinalgGradients(LinalgOp op, GradientScope &scope) {
  SmallVector<Value> gradients;
  for (Value result : op->getResults())
    gradients.push_back(scope.gradientOf(result));
  auto isWanted = [&](OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    return type && isa<FloatType>(type.getElementType()) &&
           op.payloadUsesValueFromOperand(&operand) &&
           scope.wants(operand.get());
  };
  if (llvm::none_of(gradients, [](Value value) { return bool(value); }) ||
      llvm::none_of(op->getOpOperands(), isWanted))
    return success();
  if (Operation *obstacle = findObstacle(op))
    return op->emitOpError("has a body that Proteus can't differentiate: ")
           << obstacle->getName()
           << "; yield, or add to the previous value, what arith and math "
              "operations such as arith.mulf, arith.maximumf and math.exp make "
              "of the inputs, or use an operation of the nn dialect";
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isWanted(operand))
      continue;
    // A previous value is read once, whatever the loops that add to it.
    Value gradient =
        op.isDpsInit(&operand)
            ? convertTensor(
                  op, gradients[op.getTiedOpResult(&operand).getResultNumber()],
                  scope.gradientType(operand.get()), scope.builder())
            : InputGradient(op, operand, gradients, scope).build();
    if (gradient)
      scope.add(operand.get(), gradient);
  }
  return success();
}

template <typename OpTy>
LogicalResult
LinalgGradientModel<OpTy>::buildGradients(Operation *op,
                                          GradientScope &scope) const {
  return buildLinalgGradients(cast<LinalgOp>(op), scope);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename... OpTys> static void attachTo(MLIRContext *context) {
  (OpTys::template attachInterface<LinalgSpaceModel<OpTys>,
                                   LinalgGradientModel<OpTys>>(*context),
   ...);
}

void proteus::nn::registerLinalgInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachTo<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::EmptyOp::attachInterface<EmptySpaceModel>(*context);
  });
}

bool proteus::nn::isCostOnly(Operation *op) {
  auto structured = dyn_cast<LinalgOp>(op);
  return structured && findObstacle(structured);
}
