//===- DistAttrs.cpp - attributes of the dist dialect ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus::dist;

#include "Proteus/Dialect/Dist/DistEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/Dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Proteus/Dialect/Dist/DistAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  std::optional<Axis> axis = getAxisIndex(name);
  if (!axis)
    return std::nullopt;
  return getValue().getSize(*axis);
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Mesh mesh) {
  if (std::optional<std::string> problem = mesh.check())
    return emitError() << *problem;
  return success();
}

/// Parses one option of a mesh: `micro = n` or `devices = [...]`.
static ParseResult parseMeshOption(AsmParser &parser, Mesh &mesh) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword) || parser.parseEqual())
    return failure();
  if (keyword == microAxisName)
    return parser.parseInteger(mesh.micro);
  if (keyword != "devices")
    return parser.emitError(loc, "expected 'micro' or 'devices'");
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(mesh.devices.emplace_back());
  });
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  Mesh mesh;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(mesh.sizes.emplace_back()))
      return failure();
    mesh.names.push_back(name.str());
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseMeshOption(parser, mesh))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), std::move(mesh));
}

void MeshAttr::print(AsmPrinter &printer) const {
  const Mesh &mesh = getValue();
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip_equal(mesh.names, mesh.sizes), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  printer << "]";
  if (mesh.micro != 1)
    printer << ", micro = " << mesh.micro;
  if (!mesh.devices.empty()) {
    printer << ", devices = [";
    llvm::interleaveComma(mesh.devices, printer);
    printer << "]";
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

LayoutAttr
LayoutAttr::withFixed(ArrayRef<std::pair<Axis, int64_t>> fixed) const {
  Layout layout = getValue();
  layout.fixed.assign(fixed.begin(), fixed.end());
  return get(getMesh(), std::move(layout));
}

LayoutAttr LayoutAttr::withHost(bool onHost) const {
  Layout layout = getValue();
  layout.onHost = onHost;
  return get(getMesh(), std::move(layout));
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 MeshAttr mesh, Layout layout) {
  if (std::optional<std::string> problem = layout.check(mesh.getValue()))
    return emitError() << *problem;
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (std::optional<std::string> problem =
          getValue().checkShape(getMesh().getValue(), shape))
    return emitError() << *problem;
  return success();
}

static ParseResult parseAxis(AsmParser &parser, const Mesh &mesh, Axis &axis) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Axis> found = mesh.find(name);
  if (!found)
    return parser.emitError(loc, "unknown axis '")
           << name << "' of a mesh with axes "
           << mesh.format(llvm::to_vector(
                  llvm::seq<Axis>(microAxis + 1, mesh.getNumAxes())));
  axis = *found;
  return success();
}

static ParseResult parseAxisSet(AsmParser &parser, const Mesh &mesh,
                                AxisList &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
    return parseAxis(parser, mesh, axes.emplace_back());
  });
}

/// Parses the axes of one dimension: `{a, b}`, `zigzag {a}` or `{a} shift 1`.
static ParseResult parseDim(AsmParser &parser, const Mesh &mesh,
                            AxisList &axes) {
  bool zigzag = succeeded(parser.parseOptionalKeyword("zigzag"));
  SMLoc loc = parser.getCurrentLocation();
  if (parseAxisSet(parser, mesh, axes))
    return failure();
  bool shifted = succeeded(parser.parseOptionalKeyword("shift"));
  if (shifted && parser.parseInteger(axes.shift))
    return failure();
  axes.zigzag = zigzag;
  if (axes.empty() && (zigzag || shifted))
    return parser.emitError(loc, "expected at least one axis: a whole "
                                 "dimension has no parts to distribute");
  return success();
}

static ParseResult parsePartialEntry(AsmParser &parser, const Mesh &mesh,
                                     Layout &layout) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReductionKind> kind = symbolizeReductionKind(keyword);
  if (!kind)
    return parser.emitError(loc, "expected 'sum' or 'max'");
  AxisList &axes = layout.getPartial(*kind);
  if (!axes.empty())
    return parser.emitError(loc, "'")
           << keyword << "' is listed twice, expected one set of axes per "
           << "reduction";
  if (parseAxisSet(parser, mesh, axes))
    return failure();
  if (axes.empty())
    return parser.emitError(loc, "expected at least one axis");
  return success();
}

/// Parses a flat cut: `{a, b}`, then `leading n` and `granule n` if they are
/// not 0 and 1.
static ParseResult parseFlat(AsmParser &parser, const Mesh &mesh,
                             FlatCut &flat) {
  SMLoc loc = parser.getCurrentLocation();
  if (parseAxisSet(parser, mesh, flat.axes))
    return failure();
  if (flat.empty())
    return parser.emitError(loc, "expected at least one axis");
  if (succeeded(parser.parseOptionalKeyword("leading")) &&
      parser.parseInteger(flat.leading))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("granule")) &&
      parser.parseInteger(flat.granule))
    return failure();
  return success();
}

/// Parses one option of a layout: `flat = ...`, `partial = [...]`,
/// `at = [...]` or `memory = host`.
static ParseResult parseLayoutOption(AsmParser &parser, const Mesh &mesh,
                                     Layout &layout) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword) || parser.parseEqual())
    return failure();
  if (keyword == "flat")
    return parseFlat(parser, mesh, layout.flat);
  if (keyword == "partial")
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parsePartialEntry(parser, mesh, layout);
    });
  if (keyword == "memory") {
    layout.onHost = true;
    return parser.parseKeyword("host");
  }
  if (keyword != "at")
    return parser.emitError(loc,
                            "expected 'flat', 'partial', 'at' or 'memory'");
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    auto &[axis, coordinate] = layout.fixed.emplace_back();
    return failure(parseAxis(parser, mesh, axis) || parser.parseEqual() ||
                   parser.parseInteger(coordinate));
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  MeshAttr mesh;
  Layout layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseDim(parser, mesh.getValue(), layout.dims.emplace_back());
      }))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseLayoutOption(parser, mesh.getValue(), layout))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, mesh, std::move(layout));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  const Mesh &mesh = getMesh().getValue();
  const Layout &layout = getValue();
  printer << "<";
  printer.printAttribute(getMesh());
  printer << ", [";
  llvm::interleaveComma(layout.dims, printer, [&](const AxisList &axes) {
    printer << (axes.zigzag ? "zigzag " : "") << mesh.format(axes);
    if (axes.shift != 0)
      printer << " shift " << axes.shift;
  });
  printer << "]";
  if (!layout.flat.empty()) {
    printer << ", flat = " << mesh.format(layout.flat.axes);
    if (layout.flat.leading != 0)
      printer << " leading " << layout.flat.leading;
    if (layout.flat.granule != 1)
      printer << " granule " << layout.flat.granule;
  }
  if (layout.isPartial()) {
    printer << ", partial = [";
    llvm::ListSeparator separator;
    for (auto [index, axes] : llvm::enumerate(layout.partial))
      if (!axes.empty())
        printer << StringRef(separator)
                << stringifyReductionKind(static_cast<ReductionKind>(index))
                << " " << mesh.format(axes);
    printer << "]";
  }
  if (!layout.fixed.empty()) {
    printer << ", at = [";
    llvm::interleaveComma(layout.fixed, printer, [&](auto entry) {
      printer << mesh.getName(entry.first) << " = " << entry.second;
    });
    printer << "]";
  }
  if (layout.onHost)
    printer << ", memory = host";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// OrderAttr
//===----------------------------------------------------------------------===//

ParseResult proteus::dist::parseWorkList(AsmParser &parser,
                                         SmallVectorImpl<Work> &items) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef text;
        if (parser.parseKeyword(&text))
          return failure();
        std::optional<Work> work = parseWork(text);
        if (!work)
          return parser.emitError(loc, "'")
                 << text << "' is not a work item such as F3, B0.1 or U";
        items.push_back(*work);
        return success();
      });
}

void proteus::dist::printWorkList(AsmPrinter &printer, ArrayRef<Work> items) {
  printer << "[";
  llvm::interleaveComma(items, printer,
                        [&](const Work &work) { printer << formatWork(work); });
  printer << "]";
}

Attribute OrderAttr::parse(AsmParser &parser, Type) {
  SmallVector<Work> items;
  if (parser.parseLess() || parseWorkList(parser, items) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), items);
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printWorkList(printer, getItems());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// BucketsAttr
//===----------------------------------------------------------------------===//

ParseResult proteus::dist::parseBucketList(AsmParser &parser,
                                           Buckets &buckets) {
  auto parseRange = [&]() -> ParseResult {
    BucketRange &range = buckets.list.back().emplace_back();
    return failure(parser.parseInteger(range.operand) ||
                   parser.parseLSquare() || parser.parseInteger(range.from) ||
                   parser.parseColon() || parser.parseInteger(range.to) ||
                   parser.parseRSquare());
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    buckets.list.emplace_back();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          parseRange);
  });
}

void proteus::dist::printBucketList(AsmPrinter &printer,
                                    const Buckets &buckets) {
  auto printRange = [&](const BucketRange &range) {
    printer << range.operand << "[" << range.from << ":" << range.to << "]";
  };
  printer << "[";
  llvm::interleaveComma(buckets.list, printer,
                        [&](const Buckets::Bucket &bucket) {
                          printer << "[";
                          llvm::interleaveComma(bucket, printer, printRange);
                          printer << "]";
                        });
  printer << "]";
}

Attribute BucketsAttr::parse(AsmParser &parser, Type) {
  Buckets buckets;
  if (parser.parseLess() || parseBucketList(parser, buckets) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), std::move(buckets));
}

void BucketsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBucketList(printer, getValue());
  printer << ">";
}
