//===- StrategyOps.cpp - operations of the strategy dialect ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttrSyntax.h"

#include "Proteus/Dialect/Strategy/Strategy.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::strategy;

//===----------------------------------------------------------------------===//
// Custom directives of assembly formats
//===----------------------------------------------------------------------===//

static ParseResult parseItem(OpAsmParser &parser, ItemAttr &item) {
  return parseItemText(parser, item);
}

static void printItem(OpAsmPrinter &printer, Operation *, ItemAttr item) {
  printItemText(printer, item);
}

static ParseResult parsePartition(OpAsmParser &parser,
                                  PartitionAttr &partition) {
  return parsePartitionText(parser, partition);
}

static void printPartition(OpAsmPrinter &printer, Operation *,
                           PartitionAttr partition) {
  printPartitionText(printer, partition);
}

static ParseResult parseAxisName(OpAsmParser &parser, StringAttr &axis) {
  return parseAxisUse(parser, axis);
}

static void printAxisName(OpAsmPrinter &printer, Operation *, StringAttr axis) {
  printer << axis.getValue();
}

template <typename AttrT>
static ParseResult parseList(OpAsmParser &parser, ArrayAttr &array,
                             ParseResult (*parseText)(AsmParser &, AttrT &)) {
  SmallVector<Attribute> elements;
  auto parseElement = [&]() -> ParseResult {
    AttrT element;
    if (parseText(parser, element))
      return failure();
    elements.push_back(element);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseElement))
    return failure();
  array = parser.getBuilder().getArrayAttr(elements);
  return success();
}

template <typename AttrT>
static void printList(OpAsmPrinter &printer, ArrayAttr array,
                      void (*printText)(AsmPrinter &, AttrT)) {
  printer << '[';
  llvm::interleaveComma(array.getAsRange<AttrT>(), printer,
                        [&](AttrT element) { printText(printer, element); });
  printer << ']';
}

static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  return parseList<AxisAttr>(parser, axes, parseAxisText);
}

static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printList<AxisAttr>(printer, axes, printAxisText);
}

static ParseResult parseCoordinates(OpAsmParser &parser,
                                    ArrayAttr &coordinates) {
  return parseList<CoordinateAttr>(parser, coordinates, parseCoordinateText);
}

static void printCoordinates(OpAsmPrinter &printer, Operation *,
                             ArrayAttr coordinates) {
  printList<CoordinateAttr>(printer, coordinates, printCoordinateText);
}

/// Parses a list of work items, such as `[F0, F1.1, B0]`.
static ParseResult parseWorkItems(OpAsmParser &parser, ArrayAttr &items) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            StringRef item;
            if (parser.parseKeyword(&item))
              return failure();
            list.push_back(parser.getBuilder().getStringAttr(item));
            return success();
          }))
    return failure();
  items = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printWorkItems(OpAsmPrinter &printer, Operation *,
                           ArrayAttr items) {
  printer << '[';
  llvm::interleaveComma(items.getAsRange<StringAttr>(), printer,
                        [&](StringAttr item) { printer << item.getValue(); });
  printer << ']';
}

#define GET_OP_CLASSES
#include "Proteus/Dialect/Strategy/StrategyOps.cpp.inc"

//===----------------------------------------------------------------------===//
// TreeOp
//===----------------------------------------------------------------------===//

void TreeOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   StringRef model) {
  state.getOrAddProperties<Properties>().sym_name = builder.getStringAttr(name);
  state.getOrAddProperties<Properties>().model =
      FlatSymbolRefAttr::get(builder.getContext(), model);
  state.addRegion()->emplaceBlock();
}

/// Returns the first operation of type `OpT` directly in the tree, or null if
/// there is none.
template <typename OpT> static OpT findSetting(TreeOp tree) {
  auto settings = tree.getBody().getOps<OpT>();
  return settings.empty() ? OpT() : *settings.begin();
}

MeshOp TreeOp::getMesh() { return findSetting<MeshOp>(*this); }

ScheduleOp TreeOp::getSchedule() { return findSetting<ScheduleOp>(*this); }

BucketOp TreeOp::getBucket() { return findSetting<BucketOp>(*this); }

ScatterGatherOp TreeOp::getScatterGather() {
  return findSetting<ScatterGatherOp>(*this);
}

OverlapOp TreeOp::getOverlap() { return findSetting<OverlapOp>(*this); }

//===----------------------------------------------------------------------===//
// NodeOp
//===----------------------------------------------------------------------===//

void NodeOp::build(OpBuilder &builder, OperationState &state,
                   StringRef pattern) {
  state.getOrAddProperties<Properties>().pattern =
      builder.getStringAttr(pattern);
  state.addRegion()->emplaceBlock();
}

PathPattern NodeOp::getFullPattern() {
  PathPattern pattern = llvm::cantFail(PathPattern::parse(getPattern()));
  auto parent = dyn_cast<NodeOp>((*this)->getParentOp());
  return parent ? parent.getFullPattern().join(pattern) : pattern;
}

TreeOp NodeOp::getTree() { return (*this)->getParentOfType<TreeOp>(); }

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

int64_t MeshOp::getNumDevices() {
  int64_t count = 1;
  for (auto axis : getAxes().getAsRange<AxisAttr>())
    count *= axis.getSize();
  return count;
}

std::optional<unsigned> MeshOp::getAxisIndex(StringRef name) {
  for (auto [index, axis] : llvm::enumerate(getAxes().getAsRange<AxisAttr>()))
    if (axis.getName() == name)
      return index;
  return std::nullopt;
}

std::optional<int64_t> MeshOp::getAxisSize(StringRef name) {
  std::optional<unsigned> index = getAxisIndex(name);
  if (!index)
    return std::nullopt;
  return cast<AxisAttr>(getAxes()[*index]).getSize();
}

SmallVector<int64_t> MeshOp::getDeviceIds() {
  if (std::optional<ArrayRef<int64_t>> devices = getDevices())
    return SmallVector<int64_t>(*devices);
  return llvm::to_vector(llvm::seq<int64_t>(0, getNumDevices()));
}

//===----------------------------------------------------------------------===//
// ScheduleOp
//===----------------------------------------------------------------------===//

plan::ScheduleOrder ScheduleOp::getOrderKind() {
  assert(!isExplicit() && "an explicit order is not built in");
  constexpr auto unset = plan::ScheduleOrder::OneForwardOneBackward;
  std::optional<StringRef> order = getOrder();
  plan::ScheduleOrder kind =
      order ? plan::symbolizeScheduleOrder(*order).value_or(unset) : unset;
  if (kind == unset && getVirtualStages().value_or(1) > 1)
    return plan::ScheduleOrder::Interleaved;
  return kind;
}

//===----------------------------------------------------------------------===//
// BucketOp, OverlapOp
//===----------------------------------------------------------------------===//

plan::GradientReduction BucketOp::getReductionKind() {
  return plan::symbolizeGradientReduction(getReduction().value_or(""))
      .value_or(plan::GradientReduction::Overlapped);
}

plan::TensorOverlap OverlapOp::getTensorKind() {
  return plan::symbolizeTensorOverlap(getTensor().value_or(""))
      .value_or(plan::TensorOverlap::Async);
}
