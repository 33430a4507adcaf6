//===- DistOps.cpp - text, folding and accessors of dist ops --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace proteus::dist;

#include "Proteus/Dialect/Dist/DistInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Custom directives of assembly formats
//===----------------------------------------------------------------------===//

/// Parses the keyword of an enumeration, such as `sum`.
template <typename AttrT>
static ParseResult parseEnumKeyword(OpAsmParser &parser, AttrT &attr) {
  using EnumT = decltype(attr.getValue());
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<EnumT> value = symbolizeEnum<EnumT>(keyword);
  if (!value)
    return parser.emitError(loc, "'")
           << keyword << "' is not a " << AttrT::getMnemonic();
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

template <typename AttrT>
static void printEnumKeyword(OpAsmPrinter &printer, Operation *, AttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

/// Parses a list of axis names, such as `{dp, tp}`.
static ParseResult parseAxisNames(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        names.push_back(parser.getBuilder().getStringAttr(name));
        return success();
      }))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisNames(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << "{";
  llvm::interleaveComma(axes.getAsRange<StringAttr>(), printer,
                        [&](StringAttr name) { printer << name.getValue(); });
  printer << "}";
}

static ParseResult parseBuckets(OpAsmParser &parser, BucketsAttr &attr) {
  Buckets buckets;
  if (parseBucketList(parser, buckets))
    return failure();
  attr = BucketsAttr::get(parser.getContext(), std::move(buckets));
  return success();
}

static void printBuckets(OpAsmPrinter &printer, Operation *, BucketsAttr attr) {
  printBucketList(printer, attr.getValue());
}

/// Parses the orders of all programs, such as `[[F0, B0, U], [F0, B0, U]]`.
static ParseResult parseOrders(OpAsmParser &parser, ArrayAttr &orders) {
  SmallVector<Attribute> attrs;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        SmallVector<Work> items;
        if (parseWorkList(parser, items))
          return failure();
        attrs.push_back(OrderAttr::get(parser.getContext(), items));
        return success();
      }))
    return failure();
  orders = parser.getBuilder().getArrayAttr(attrs);
  return success();
}

static void printOrders(OpAsmPrinter &printer, Operation *, ArrayAttr orders) {
  printer << "[";
  printer.increaseIndent();
  llvm::interleave(
      orders.getAsRange<OrderAttr>(),
      [&](OrderAttr order) {
        printer.printNewline();
        printWorkList(printer, order.getItems());
      },
      [&] { printer << ","; });
  printer.decreaseIndent();
  printer.printNewline();
  printer << "]";
}

#define GET_OP_CLASSES
#include "Proteus/Dialect/Dist/DistOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Folds an operation on `input` that undoes the producer of `input`: returns
/// the operand of the producer if this operand has the type `resultType`.
/// Slices, all-gathers, all-to-alls and permutes change the layout of a value
/// but not its elements, so such a round trip has no effect.
static OpFoldResult foldRoundTrip(Value input, Type resultType) {
  Operation *producer = input.getDefiningOp();
  if (!isa_and_nonnull<SliceOp, AllGatherOp, AllToAllOp, PermuteOp>(producer))
    return {};
  Value origin = producer->getOperand(0);
  return origin.getType() == resultType ? OpFoldResult(origin) : OpFoldResult();
}

OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  return foldRoundTrip(getInput(), getType());
}

OpFoldResult AllToAllOp::fold(FoldAdaptor) {
  return foldRoundTrip(getInput(), getType());
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  return foldRoundTrip(getInput(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return foldRoundTrip(getInput(), getType());
}

OpFoldResult TransferOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// ShiftOp
//===----------------------------------------------------------------------===//

MeshAttr ShiftOp::getMesh() {
  return getLayout(getInputs().front().getType()).getMesh();
}

int64_t ShiftOp::getGroupSize() {
  MeshAttr mesh = getMesh();
  return mesh.getValue().getSize(*::proteus::dist::getAxes(mesh, getAxes()));
}

int64_t ShiftOp::getBufferBytes() {
  int64_t bytes = 0;
  for (Value input : getInputs())
    bytes += localBytes(cast<RankedTensorType>(input.getType()));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Fused collectives
//===----------------------------------------------------------------------===//

template <typename OpT> static int64_t numIterations(OpT op, unsigned operand) {
  return op.getStacked()[operand]
             ? cast<RankedTensorType>(op.getInputs()[operand].getType())
                   .getDimSize(0)
             : 1;
}

/// Returns the bytes of bucket `bucket`. `wholes` and `parts` are the operands
/// and the results of `op`, or the other way round for a gather: a range of the
/// bucket consists of iterations of one of these values. If `wire` is given,
/// each element has this type instead of the element type of the value.
template <typename OpT>
static int64_t bucketBytes(OpT op, unsigned bucket, ValueRange wholes,
                           ValueRange parts, std::optional<Type> wire) {
  int64_t bytes = 0;
  for (const BucketRange &range : op.getBuckets().getValue().list[bucket]) {
    auto whole = cast<RankedTensorType>(wholes[range.operand].getType());
    auto part = cast<RankedTensorType>(parts[range.operand].getType());
    if (wire) {
      whole = whole.clone(*wire);
      part = part.clone(*wire);
    }
    bytes += bufferBytes(whole, part) / op.getNumIterations(range.operand) *
             (range.to - range.from);
  }
  return bytes;
}

template <typename OpT> static int64_t allBucketBytes(OpT op) {
  int64_t bytes = 0;
  for (unsigned bucket = 0; bucket < op.getNumBuckets(); ++bucket)
    bytes += op.getBucketBytes(bucket);
  return bytes;
}

template <typename OpT> static int64_t groupSize(OpT op) {
  MeshAttr mesh = op.getMesh();
  return mesh.getValue().getSize(*::proteus::dist::getAxes(mesh, op.getAxes()));
}

MeshAttr FusedReduceOp::getMesh() {
  return getLayout(getInputs().front().getType()).getMesh();
}
int64_t FusedReduceOp::getGroupSize() { return groupSize(*this); }
int64_t FusedReduceOp::getNumIterations(unsigned operand) {
  return numIterations(*this, operand);
}
int64_t FusedReduceOp::getBucketBytes(unsigned bucket) {
  return bucketBytes(*this, bucket, getInputs(), getOutputs(), getWireType());
}
int64_t FusedReduceOp::getBufferBytes() { return allBucketBytes(*this); }

MeshAttr FusedGatherOp::getMesh() {
  return getLayout(getInputs().front().getType()).getMesh();
}
int64_t FusedGatherOp::getGroupSize() { return groupSize(*this); }
int64_t FusedGatherOp::getNumIterations(unsigned operand) {
  return numIterations(*this, operand);
}
int64_t FusedGatherOp::getBucketBytes(unsigned bucket) {
  return bucketBytes(*this, bucket, getOutputs(), getInputs(), std::nullopt);
}
int64_t FusedGatherOp::getBufferBytes() { return allBucketBytes(*this); }
//===----------------------------------------------------------------------===//
// ExchangeOp
//===----------------------------------------------------------------------===//

MeshAttr ExchangeOp::getMesh() {
  return getLayout(getInputs().front().getType()).getMesh();
}

int64_t ExchangeOp::getGroupSize() {
  return getMesh().getValue().getSize(
      *::proteus::dist::getAxes(getMesh(), getAxes()));
}

bool ExchangeOp::isScattered(unsigned index) {
  AxisList axes = *::proteus::dist::getAxes(getMesh(), getAxes());
  return getLayout(getInputs()[index].getType())
      .getValue()
      .getFixedCoordinate(axes.front())
      .has_value();
}

unsigned ExchangeOp::getDim(unsigned index) {
  AxisList axes = *::proteus::dist::getAxes(getMesh(), getAxes());
  Value sharded = isScattered(index) ? getOutputs()[index] : getInputs()[index];
  return *getLayout(sharded.getType()).getValue().getShardedDim(axes.front());
}

int64_t ExchangeOp::getBufferBytes() {
  AxisList axes = *::proteus::dist::getAxes(getMesh(), getAxes());
  std::map<SmallVector<int64_t>, int64_t> bytes;
  int64_t most = 0;
  for (auto [index, input, output] :
       llvm::enumerate(getInputs(), getOutputs())) {
    Value whole = isScattered(index) ? input : output;
    SmallVector<int64_t> place;
    for (Axis axis : axes)
      place.push_back(
          *getLayout(whole.getType()).getValue().getFixedCoordinate(axis));
    int64_t &sum = bytes[place];
    sum += localBytes(cast<RankedTensorType>(whole.getType()));
    most = std::max(most, sum);
  }
  return most;
}
