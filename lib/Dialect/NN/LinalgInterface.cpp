//===- LinalgInterface.cpp - nn interfaces of linalg operations -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/LinalgInterface.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/NN/ProductAttributes.h"
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
// Bodies of linalg operations
//===----------------------------------------------------------------------===//

/// Returns the operation of the body that combines the previous value of result
/// number `result` with a new value, such as the arith.addf of a sum. The
/// previous value is the block argument for the output. Returns null if there
/// is no such operation, if another operation reads the previous value, or if
/// an operation other than the terminator reads the combined value.
static Operation *getCombiner(LinalgOp op, unsigned result) {
  BlockArgument previous = op.getRegionOutputArgs()[result];
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !combiner->hasOneUse() ||
      !previous.hasOneUse() || *previous.user_begin() != combiner)
    return nullptr;
  return combiner;
}

/// Returns the kind of the reduction loops of `op`: `Sum` if the operation that
/// combines values is an addition for every result, `Max` if it is a maximum
/// for every result, else `Opaque`.
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

/// Returns true if `op` counts as one FLOP: an arith or math operation with a
/// float operand, except arith.extf, arith.truncf and arith.select.
static bool isFlop(Operation &op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return false;
  return !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp>(op) &&
         llvm::any_of(op.getOperandTypes(), llvm::IsaPred<FloatType>);
}

/// Returns the input of `op` if `value` is an element of this input, possibly
/// after conversions to other float types. Returns null if `value` is anything
/// else, such as the result of a computation.
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

/// Returns true if `op` is a product of two matrices: it sums products of
/// elements of two inputs over a loop that indexes both inputs, and each input
/// is reused along a parallel loop that does not index it. A product of a
/// matrix and a vector does not count, and neither does a depth-wise
/// convolution, because one of their inputs is indexed by all parallel loops.
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

/// Returns for each dimension its plain loop, or nullopt. A plain loop is the
/// whole index of the dimension and indexes no other dimension. For example,
/// `(i, j + k, l, l)` has the plain loops i, none, none, none.
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

/// Returns true if `map` uses `loop`, but not as a plain loop (see
/// getPlainLoops).
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

/// Iteration space of tensor.empty. The operation computes nothing; it only
/// defines the shape of an initial value.
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

/// Returns an operation of the body that prevents a gradient, or null if the
/// body has a gradient. A body has a gradient if it yields a differentiable
/// function of its inputs, or adds such a function to the previous value of the
/// result. With reduction loops, only the second form has a gradient.
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
    // A constant from outside the body can be copied into the gradient. Any
    // other value from outside would have to be saved for the backward pass,
    // which is not supported.
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != body &&
          !matchPattern(operand, m_Constant()))
        return &inner;
  }
  return nullptr;
}

/// Returns the attribute with the path of `op`. The operations that are built
/// for the gradients of `op` get this attribute, except those in bodies.
static NamedAttribute getPathAttr(LinalgOp op) {
  Builder builder(op->getContext());
  return {ProteusDialect::pathAttrName, builder.getStringAttr(getOwnPath(op))};
}

/// Builds a tensor.empty of type `type`. It is the initial value of a linalg
/// operation that writes all elements, or it only defines the sizes of loops.
static Value buildEmpty(LinalgOp op, RankedTensorType type,
                        OpBuilder &builder) {
  auto empty = tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                       type.getElementType());
  NamedAttribute path = getPathAttr(op);
  empty->setDiscardableAttr(path.getName(), path.getValue());
  return empty;
}

/// Builds the conversion of `gradient` to `type`, which may differ from the
/// type of `gradient` in the element type only. Returns `gradient` itself if it
/// has this type or is null.
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
/// Builds the gradient of one input of a linalg operation. The gradient is a
/// linalg.generic over the same loops. Its body multiplies the gradients of the
/// results by the derivatives of the forward body. The gradient of an element
/// of the input is the sum of these products over all points of the loops that
/// read the element.
class InputGradient {
public:
  InputGradient(LinalgOp op, OpOperand &operand, ArrayRef<Value> gradients,
                GradientScope &scope)
      : op(op), operand(operand), gradients(gradients), scope(scope),
        builder(scope.builder()), loc(op->getLoc()),
        type(cast<RankedTensorType>(scope.gradientType(operand.get()))),
        path(getPathAttr(op)) {}

  /// Builds the gradient, or returns null if the results do not depend on the
  /// operand.
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
    // The callback moves the body into the new operation during its creation,
    // so that the operation is complete when the listener of the builder is
    // notified of it.
    return linalg::GenericOp::create(builder, loc, type, inputs, init, maps,
                                     getIteratorTypes(), spliceBody, path)
        .getResult(0);
  }

private:
  /// Builds the body of the gradient. The arguments of the body are the
  /// elements of all inputs, the gradients of all results, and the previous
  /// value of the sum. Returns false if the results do not depend on the
  /// operand.
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

  /// Appends to `inputs` those forward inputs and gradients that the body
  /// reads. The others do not become operands of the gradient.
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

  /// Adds empty tensors as operands. linalg takes the size of a loop from an
  /// operand that the loop indexes. For a loop that indexes no operand of the
  /// gradient, an empty tensor defines the size.
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

  /// Returns the types of the loops. A loop is parallel if it is the plain loop
  /// of a dimension of the operand (see getPlainLoops). Otherwise it is a
  /// reduction.
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
  /// Element i is the argument of `body` for `inputs[i]`. The last elements of
  /// `inputs`, which addShapeOperands adds, have no argument in `body`.
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
           << "; yield the result of arith and math operations on the inputs, "
              "such as arith.mulf, arith.maximumf and math.exp, or add it to "
              "the previous value, or use an operation of the nn dialect";
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isWanted(operand))
      continue;
    // A result is its initial value plus a sum, so the gradient of the initial
    // value is the gradient of the result.
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
  registry.addExtension(
      +[](MLIRContext *context, linalg::LinalgDialect *dialect) {
        dialect->addInterfaces<ProductAttributes>();
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
