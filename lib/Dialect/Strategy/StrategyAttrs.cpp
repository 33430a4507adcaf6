//===- StrategyAttrs.cpp - attributes of the strategy dialect -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttrSyntax.h"

#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Dialect/Strategy/SubAxis.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus::strategy;

#include "Proteus/Dialect/Strategy/StrategyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/Strategy/StrategyAttrs.cpp.inc"

void StrategyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Proteus/Dialect/Strategy/StrategyAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Names of axes and iterators
//===----------------------------------------------------------------------===//

bool proteus::strategy::isIdentifier(StringRef name) {
  auto isTail = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, isTail);
}

static LogicalResult
verifyIdentifier(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                 StringRef what) {
  if (isIdentifier(name.getValue()))
    return success();
  return emitError() << what << " '" << name.getValue()
                     << "' is not an identifier; use letters, digits and '_', "
                        "not a digit first";
}

ParseResult proteus::strategy::parseName(AsmParser &parser, StringAttr &name,
                                         StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseOptionalKeyword(&keyword))
    return parser.emitError(loc) << "expected the name of an " << what;
  name = parser.getBuilder().getStringAttr(keyword);
  return verifyIdentifier([&] { return parser.emitError(loc); }, name, what);
}

static LogicalResult verifyAxisUse(function_ref<InFlightDiagnostic()> emitError,
                                   StringAttr text) {
  if (std::optional<std::string> problem = AxisUse::check(text.getValue()))
    return emitError() << *problem;
  return success();
}

ParseResult proteus::strategy::parseAxisUse(AsmParser &parser,
                                            StringAttr &axis) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseName(parser, axis, "axis"))
    return failure();
  if (failed(parser.parseOptionalColon()))
    return success();
  AxisUse use{axis.getValue(), SubAxis{}};
  if (parser.parseLParen() || parser.parseInteger(use.sub->prefix) ||
      parser.parseRParen() || parser.parseInteger(use.sub->size))
    return failure();
  axis = parser.getBuilder().getStringAttr(use.str());
  return verifyAxisUse([&] { return parser.emitError(loc); }, axis);
}

/// Parses an attribute in its own brackets, as in `#strategy.item<weight>`.
/// `parseText` parses the text in the brackets.
template <typename AttrT>
static Attribute parseInBrackets(AsmParser &parser,
                                 ParseResult (*parseText)(AsmParser &,
                                                          AttrT &)) {
  AttrT attr;
  if (parser.parseLess() || parseText(parser, attr) || parser.parseGreater())
    return {};
  return attr;
}

template <typename AttrT>
static void printInBrackets(AsmPrinter &printer, AttrT attr,
                            void (*printText)(AsmPrinter &, AttrT)) {
  printer << '<';
  printText(printer, attr);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ItemAttr
//===----------------------------------------------------------------------===//

LogicalResult ItemAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ItemKind kind, std::optional<int64_t> operand) {
  if (operand && kind != ItemKind::Input)
    return emitError() << "item '" << stringifyItemKind(kind)
                       << "' takes no operand number, got " << *operand;
  if (!operand && kind == ItemKind::Input)
    return emitError() << "item 'input' needs the number of an operand, such "
                          "as 'input 0'";
  if (operand && *operand < 0)
    return emitError() << "operand number " << *operand
                       << " of item 'input' is negative";
  return success();
}

ParseResult proteus::strategy::parseItemText(AsmParser &parser,
                                             ItemAttr &item) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  std::optional<ItemKind> kind;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    kind = symbolizeItemKind(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "expected an item: op, weight, gradient, state, output, "
              "output_gradient or input with a number";

  std::optional<int64_t> operand;
  int64_t number;
  OptionalParseResult result = parser.parseOptionalInteger(number);
  if (result.has_value()) {
    if (failed(*result))
      return failure();
    operand = number;
  }
  item = parser.getChecked<ItemAttr>(loc, parser.getContext(), *kind, operand);
  return success(static_cast<bool>(item));
}

void proteus::strategy::printItemText(AsmPrinter &printer, ItemAttr item) {
  printer << stringifyItemKind(item.getKind());
  if (item.getOperand())
    printer << ' ' << *item.getOperand();
}

Attribute ItemAttr::parse(AsmParser &parser, Type) {
  return parseInBrackets<ItemAttr>(parser, parseItemText);
}

void ItemAttr::print(AsmPrinter &printer) const {
  printInBrackets(printer, *this, printItemText);
}

//===----------------------------------------------------------------------===//
// AxisAttr, CoordinateAttr
//===----------------------------------------------------------------------===//

ParseResult proteus::strategy::parseAxisText(AsmParser &parser,
                                             AxisAttr &axis) {
  StringAttr name;
  int64_t size;
  if (parseName(parser, name, "axis") || parser.parseEqual() ||
      parser.parseInteger(size))
    return failure();
  axis = AxisAttr::get(parser.getContext(), name, size);
  return success();
}

void proteus::strategy::printAxisText(AsmPrinter &printer, AxisAttr axis) {
  printer << axis.getName().getValue() << " = " << axis.getSize();
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, int64_t) {
  return verifyIdentifier(emitError, name, "axis");
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  return parseInBrackets<AxisAttr>(parser, parseAxisText);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printInBrackets(printer, *this, printAxisText);
}

ParseResult proteus::strategy::parseCoordinateText(AsmParser &parser,
                                                   CoordinateAttr &coordinate) {
  StringAttr axis;
  int64_t position;
  if (parseAxisUse(parser, axis) || parser.parseEqual() ||
      parser.parseInteger(position))
    return failure();
  coordinate = CoordinateAttr::get(parser.getContext(), axis, position);
  return success();
}

void proteus::strategy::printCoordinateText(AsmPrinter &printer,
                                            CoordinateAttr coordinate) {
  printer << coordinate.getAxis().getValue() << " = "
          << coordinate.getPosition();
}

LogicalResult
CoordinateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       StringAttr axis, int64_t) {
  return verifyAxisUse(emitError, axis);
}

Attribute CoordinateAttr::parse(AsmParser &parser, Type) {
  return parseInBrackets<CoordinateAttr>(parser, parseCoordinateText);
}

void CoordinateAttr::print(AsmPrinter &printer) const {
  printInBrackets(printer, *this, printCoordinateText);
}

//===----------------------------------------------------------------------===//
// PartAttr
//===----------------------------------------------------------------------===//

LogicalResult PartAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Attribute key, ArrayRef<StringAttr> axes,
                               bool zigzag, bool ring) {
  if (auto iterator = dyn_cast<StringAttr>(key)) {
    if (failed(verifyIdentifier(emitError, iterator, "iterator")))
      return failure();
  } else if (auto dimension = dyn_cast<IntegerAttr>(key);
             !dimension || !dimension.getType().isSignlessInteger(64)) {
    return emitError() << "key " << key
                       << " is neither the name of an iterator nor an i64 "
                          "dimension";
  }
  for (StringAttr axis : axes)
    if (failed(verifyAxisUse(emitError, axis)))
      return failure();
  StringRef word = ring ? ringWord : zigzagWord;
  if ((zigzag || ring) && !isa<StringAttr>(key))
    return emitError() << "'" << word << "' applies to iterators, not to "
                       << "dimension " << key;
  if ((zigzag || ring) && axes.empty())
    return emitError() << "'" << word << "' needs an axis";
  return success();
}

/// Parses the key of a part: the name of an iterator or the number of a
/// dimension.
static ParseResult parseKey(AsmParser &parser, Attribute &key) {
  int64_t dimension;
  OptionalParseResult result = parser.parseOptionalInteger(dimension);
  if (result.has_value()) {
    key = parser.getBuilder().getI64IntegerAttr(dimension);
    return *result;
  }
  StringAttr iterator;
  if (parseName(parser, iterator, "iterator"))
    return failure();
  key = iterator;
  return success();
}

static ParseResult parsePartText(AsmParser &parser, PartAttr &part) {
  Attribute key;
  SmallVector<StringAttr> axes;
  auto parseAxis = [&] { return parseAxisUse(parser, axes.emplace_back()); };
  if (parseKey(parser, key) || parser.parseArrow())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  bool ring = succeeded(parser.parseOptionalKeyword(ringWord));
  bool zigzag = succeeded(parser.parseOptionalKeyword(zigzagWord));
  if (succeeded(parser.parseOptionalLSquare())) {
    if (failed(parser.parseOptionalRSquare()) &&
        (parser.parseCommaSeparatedList(parseAxis) || parser.parseRSquare()))
      return failure();
  } else if (parseAxis()) {
    return failure();
  }
  part = parser.getChecked<PartAttr>(loc, parser.getContext(), key, axes,
                                     zigzag, ring);
  return success(static_cast<bool>(part));
}

static void printPartText(AsmPrinter &printer, PartAttr part) {
  if (part.isDimension())
    printer << part.getDimension();
  else
    printer << part.getIterator();
  printer << " -> ";
  if (part.getRing())
    printer << ringWord << ' ';
  if (part.getZigzag())
    printer << zigzagWord << ' ';
  bool single = part.getAxes().size() == 1;
  if (!single)
    printer << '[';
  llvm::interleaveComma(part.getAxes(), printer,
                        [&](StringAttr axis) { printer << axis.getValue(); });
  if (!single)
    printer << ']';
}

Attribute PartAttr::parse(AsmParser &parser, Type) {
  return parseInBrackets<PartAttr>(parser, parsePartText);
}

void PartAttr::print(AsmPrinter &printer) const {
  printInBrackets(printer, *this, printPartText);
}

//===----------------------------------------------------------------------===//
// FlatAttr
//===----------------------------------------------------------------------===//

LogicalResult FlatAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayAttr axes, int64_t leading,
                               std::optional<int64_t> granule) {
  if (axes.empty() || !llvm::all_of(axes, llvm::IsaPred<StringAttr>))
    return emitError() << "a flat cut needs a list of axis names, got " << axes;
  if (leading < 0 || granule.value_or(1) < 1)
    return emitError() << "a flat cut with " << leading
                       << " leading dimensions and granule "
                       << granule.value_or(1) << "; expected at least 0 and 1";
  return success();
}

//===----------------------------------------------------------------------===//
// PartitionAttr
//===----------------------------------------------------------------------===//

PartAttr PartitionAttr::lookup(StringRef iterator) const {
  for (PartAttr part : getParts())
    if (!part.isDimension() && part.getIterator() == iterator)
      return part;
  return {};
}

PartAttr PartitionAttr::lookup(int64_t dimension) const {
  for (PartAttr part : getParts())
    if (part.isDimension() && part.getDimension() == dimension)
      return part;
  return {};
}

ParseResult proteus::strategy::parsePartitionText(AsmParser &parser,
                                                  PartitionAttr &partition) {
  SmallVector<PartAttr> parts;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parsePartText(parser, parts.emplace_back());
      }))
    return failure();
  partition = PartitionAttr::get(parser.getContext(), parts);
  return success();
}

void proteus::strategy::printPartitionText(AsmPrinter &printer,
                                           PartitionAttr partition) {
  printer << '[';
  llvm::interleaveComma(partition.getParts(), printer,
                        [&](PartAttr part) { printPartText(printer, part); });
  printer << ']';
}

Attribute PartitionAttr::parse(AsmParser &parser, Type) {
  return parseInBrackets<PartitionAttr>(parser, parsePartitionText);
}

void PartitionAttr::print(AsmPrinter &printer) const {
  printInBrackets(printer, *this, printPartitionText);
}
