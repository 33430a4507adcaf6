//===- NNOps.cpp - verifiers and syntax of nn operations --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Constraints that verifyIterationSpace does not check
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() {
  int64_t rank = tensorType(getLhs()).getRank();
  if (rank < 2 || tensorType(getRhs()).getRank() != rank)
    return emitOpError("operands must have the same rank of at least 2, got ")
           << rank << " and " << tensorType(getRhs()).getRank();
  return success();
}

/// Verifies that query and value have rank 3, that `kv_heads` divides `heads`,
/// that `heads` divides the last dimension of the query, and that `kv_heads`
/// divides the last dimension of the value. verifyIterationSpace checks the
/// shape of the key.
template <typename OpTy> static LogicalResult verifyHeads(OpTy op) {
  int64_t heads = op.getHeads(), keyHeads = op.getKeyHeads();
  if (heads < 1 || keyHeads < 1 || heads % keyHeads != 0)
    return op.emitOpError("'kv_heads' must divide 'heads', got ")
           << keyHeads << " and " << heads;
  if (tensorType(op.getQuery()).getRank() != 3)
    return op.emitOpError("query must have rank 3, got ")
           << tensorType(op.getQuery()).getRank();
  int64_t width = tensorType(op.getQuery()).getDimSize(2);
  if (width % heads != 0)
    return op.emitOpError(
               "'heads' must divide the query's last dimension, got ")
           << heads << " and " << width;
  if (tensorType(op.getValue()).getRank() != 3)
    return op.emitOpError("value must have rank 3, got ")
           << tensorType(op.getValue()).getRank();
  int64_t valueWidth = tensorType(op.getValue()).getDimSize(2);
  if (valueWidth % keyHeads != 0)
    return op.emitOpError("the value's last dimension, ")
           << valueWidth << ", is not a multiple of the number of key heads, "
           << keyHeads;
  return success();
}

LogicalResult AttentionOp::verify() { return verifyHeads(*this); }
LogicalResult AttentionGradOp::verify() { return verifyHeads(*this); }

template <typename OpTy> static LogicalResult verifyBlocks(OpTy op) {
  if (static_cast<int64_t>(op.getBlocks()) < 1)
    return op.emitOpError("'blocks' must be positive, got ") << op.getBlocks();
  return verifyHeads(op);
}

LogicalResult AttentionBlockOp::verify() {
  if (!getSoFar().empty() && getSoFar().getTypes() != getResultTypes())
    return emitOpError("the results so far must have the types of the results");
  return verifyBlocks(*this);
}
LogicalResult AttentionBlockGradOp::verify() { return verifyBlocks(*this); }

LogicalResult AddOp::verify() {
  return verifyRepeatedOperand(*this, getLhs(), getRhs());
}

LogicalResult DropoutOp::verify() {
  double probability = getProbability().convertToDouble();
  if (!(probability >= 0 && probability < 1))
    return emitOpError("'probability' must be at least 0 and below 1, got ")
           << probability;
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorType(getInput()), to = tensorType(getResult());
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("operand has ")
           << from.getNumElements() << " elements, result has "
           << to.getNumElements();
  return success();
}

/// Verifies the number of states and of results of an update, and that the
/// factor of the gradient is a scalar.
template <typename OpTy>
static LogicalResult verifyUpdate(OpTy op, size_t expectedStates) {
  if (op.getScaled() && op.getStates().empty())
    return op.emitOpError("is scaled and needs a factor after the gradient");
  size_t states = op.getOwnStates().size();
  if (states != expectedStates)
    return op.emitOpError("needs ")
           << expectedStates << " states after the gradient, got " << states;
  if (op->getNumResults() != states + 1)
    return op.emitOpError("needs one result per operand but the gradient")
           << (op.getScaled() ? " and the factor, " : ", ") << states + 1
           << " in all, got " << op->getNumResults();
  Value factor = op.getFactor();
  if (factor && tensorType(factor).getRank() != 0)
    return op.emitOpError("the factor of the gradient must be a scalar, got ")
           << factor.getType();
  return success();
}

LogicalResult SGDOp::verify() {
  return verifyUpdate(*this, getMomentum() + getMaster());
}
LogicalResult AdamOp::verify() { return verifyUpdate(*this, 2 + getMaster()); }

//===----------------------------------------------------------------------===//
// RepeatOp
//===----------------------------------------------------------------------===//

void RepeatOp::build(OpBuilder &, OperationState &state, StringRef path,
                     int64_t first, int64_t count, bool reverse,
                     ValueRange carried, ValueRange sliced, TypeRange results) {
  auto &properties = state.getOrAddProperties<Properties>();
  Builder builder(state.getContext());
  properties.path = builder.getStringAttr(path);
  properties.first = builder.getI64IntegerAttr(first);
  properties.count = builder.getI64IntegerAttr(count);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  properties.operandSegmentSizes = {static_cast<int32_t>(carried.size()),
                                    static_cast<int32_t>(sliced.size())};
  state.addOperands(carried);
  state.addOperands(sliced);
  state.addTypes(results);
  state.addRegion();
}

/// Returns true if both values are tensors of the same shape and element type.
/// Encodings may differ. Returns false if a value is no tensor, as an argument
/// of an invalid body can be.
static bool sameTensor(Value first, Value second) {
  auto a = dyn_cast<RankedTensorType>(first.getType());
  auto b = dyn_cast<RankedTensorType>(second.getType());
  return a && b && a.getShape() == b.getShape() &&
         a.getElementType() == b.getElementType();
}

static bool isSliceOf(Value one, Value all, int64_t count) {
  auto slice = dyn_cast<RankedTensorType>(one.getType());
  auto stack = dyn_cast<RankedTensorType>(all.getType());
  return slice && stack && stack.getRank() > 0 &&
         stack.getDimSize(0) == count &&
         stack.getShape().drop_front() == slice.getShape() &&
         stack.getElementType() == slice.getElementType();
}

LogicalResult RepeatOp::verify() {
  // The attributes are signed, but their generated getters return unsigned
  // numbers.
  auto count = static_cast<int64_t>(getCount());
  auto first = static_cast<int64_t>(getFirst());
  if (count < 1)
    return emitOpError("'count' must be at least 1, got ") << count;
  if (first < 0)
    return emitOpError("'first' must not be negative, got ") << first;
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  Block &body = getBody().front();
  unsigned numCarried = getNumCarried();
  int64_t count = getCount();
  if (body.getNumArguments() != getNumOperands())
    return emitOpError("body must have one argument per operand, ")
           << getNumOperands() << " in all, got " << body.getNumArguments();
  if (!isa<YieldOp>(getYield()))
    return emitOpError("body must end in nn.yield");
  if (getNumResults() < numCarried ||
      getYield()->getNumOperands() != getNumResults())
    return emitOpError("yields ")
           << getYield()->getNumOperands() << " values, expected "
           << getNumResults() << " of which " << numCarried << " carried";
  for (auto [i, pair] : llvm::enumerate(
           llvm::zip(getCarriedArgs(), getCarried(), getCarriedResults(),
                     getYield()->getOperands()))) {
    auto [argument, init, result, yielded] = pair;
    for (Value other : {Value(init), Value(result), Value(yielded)})
      if (!sameTensor(argument, other))
        return emitOpError("carried value ")
               << i << " has type " << argument.getType() << " in the body but "
               << other.getType() << " outside or where it is yielded";
  }
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(getSliceArgs(), getSliced()))) {
    auto [slice, stack] = pair;
    if (!isSliceOf(slice, stack, count))
      return emitOpError("sliced operand ")
             << i << " of type " << stack.getType() << " must be " << count
             << " slices of " << slice.getType();
  }
  for (auto [i, pair] : llvm::enumerate(
           llvm::zip(getYield()->getOperands().drop_front(numCarried),
                     getStackedResults()))) {
    auto [slice, stack] = pair;
    if (!isSliceOf(slice, stack, count))
      return emitOpError("stacked result ")
             << i << " of type " << stack.getType() << " must be " << count
             << " slices of " << slice.getType();
  }
  return success();
}

/// Parses `%arg = %operand : type`. If `slice` is set, parses
/// `%arg = %operand : type to type`, where the second type is that of the
/// argument.
static ParseResult
parseBinding(OpAsmParser &parser, bool slice,
             SmallVectorImpl<OpAsmParser::Argument> &arguments,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
             SmallVectorImpl<Type> &types) {
  OpAsmParser::Argument &argument = arguments.emplace_back();
  if (parser.parseArgument(argument) || parser.parseEqual() ||
      parser.parseOperand(operands.emplace_back()) ||
      parser.parseColonType(types.emplace_back()))
    return failure();
  argument.type = types.back();
  return slice ? failure(parser.parseKeyword("to") ||
                         parser.parseType(argument.type))
               : success();
}

static void printBinding(OpAsmPrinter &printer, Value argument, Value operand,
                         bool slice) {
  printer << argument << " = " << operand << " : " << operand.getType();
  if (slice)
    printer << " to " << argument.getType();
}

/// Parses ` -> (types) attributes {...} {region}`, the last part of the syntax
/// of nn.repeat and of nn.recompute.
static ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                             ArrayRef<OpAsmParser::Argument> arguments) {
  if (parser.parseArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty() || body->front().empty())
    return parser.emitError(parser.getNameLoc(), "body must end in nn.yield");
  return success();
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  std::string path;
  int64_t first = 0, count = 0;
  if (parser.parseString(&path))
    return failure();
  properties.path = builder.getStringAttr(path);
  if (succeeded(parser.parseOptionalKeyword("first")) &&
      parser.parseInteger(first))
    return failure();
  if (parser.parseKeyword("count") || parser.parseInteger(count))
    return failure();
  properties.first = builder.getI64IntegerAttr(first);
  properties.count = builder.getI64IntegerAttr(count);
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = builder.getUnitAttr();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  size_t numCarried = 0;
  for (bool slice : {false, true}) {
    if (succeeded(parser.parseOptionalKeyword(slice ? "slice" : "carry")))
      if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() {
            return parseBinding(parser, slice, arguments, operands, types);
          }))
        return failure();
    if (!slice)
      numCarried = operands.size();
  }
  properties.operandSegmentSizes = {
      static_cast<int32_t>(numCarried),
      static_cast<int32_t>(operands.size() - numCarried)};
  if (parser.resolveOperands(operands, types, parser.getNameLoc(),
                             result.operands))
    return failure();
  return parseBody(parser, result, arguments);
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " " << getPathAttr();
  if (getFirst() != 0)
    printer << " first " << getFirst();
  printer << " count " << getCount();
  if (getReverse())
    printer << " reverse";
  auto bindings = [&](StringRef keyword, Block::BlockArgListType arguments,
                      OperandRange operands, bool slice) {
    if (operands.empty())
      return;
    printer << " " << keyword << "(";
    llvm::interleaveComma(
        llvm::zip(arguments, operands), printer, [&](auto pair) {
          printBinding(printer, std::get<0>(pair), std::get<1>(pair), slice);
        });
    printer << ")";
  };
  bindings("carry", getCarriedArgs(), getCarried(), false);
  bindings("slice", getSliceArgs(), getSliced(), true);
  printer.printArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"path", "first", "count", "reverse", "operandSegmentSizes"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// RecomputeOp
//===----------------------------------------------------------------------===//

void RecomputeOp::build(OpBuilder &builder, OperationState &state,
                        StringRef path, ValueRange inputs, TypeRange results) {
  state.getOrAddProperties<Properties>().path = builder.getStringAttr(path);
  state.addOperands(inputs);
  state.addTypes(results);
  state.addRegion();
}

LogicalResult RecomputeOp::verifyRegions() {
  if (!isa<YieldOp>(getYield()))
    return emitOpError("body must end in nn.yield");
  if (getBody().getArgumentTypes() != getOperandTypes())
    return emitOpError("body arguments must have the types of the operands");
  if (getYield()->getOperandTypes() != getResultTypes())
    return emitOpError("yielded values must have the types of the results");
  return success();
}

ParseResult RecomputeOp::parse(OpAsmParser &parser, OperationState &result) {
  std::string path;
  if (parser.parseString(&path))
    return failure();
  result.getOrAddProperties<Properties>().path =
      parser.getBuilder().getStringAttr(path);
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Paren,
          [&]() {
            return parseBinding(parser, false, arguments, operands, types);
          }) ||
      parser.resolveOperands(operands, types, parser.getNameLoc(),
                             result.operands))
    return failure();
  return parseBody(parser, result, arguments);
}

void RecomputeOp::print(OpAsmPrinter &printer) {
  printer << " " << getPathAttr() << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printBinding(printer, std::get<0>(pair),
                                       std::get<1>(pair), false);
                        });
  printer << ")";
  printer.printArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"path"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
