//===- Programs.cpp - programs and their sections -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace proteus::dist;

//===----------------------------------------------------------------------===//
// ProgramOp: accessors, parser and printer
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      FunctionType type, MeshAttr mesh,
                      ArrayRef<std::pair<Axis, int64_t>> at) {
  SmallVector<NamedAttribute> attrs;
  attrs.push_back(builder.getNamedAttr(getMeshAttrName(state.name), mesh));
  if (!at.empty()) {
    SmallVector<NamedAttribute> coordinates;
    for (auto [axis, coordinate] : at)
      coordinates.push_back(
          builder.getNamedAttr(mesh.getValue().getName(axis),
                               builder.getI64IntegerAttr(coordinate)));
    attrs.push_back(builder.getNamedAttr(
        getAtAttrName(state.name), builder.getDictionaryAttr(coordinates)));
  }
  buildWithEntryBlock(builder, state, name, type, attrs, type.getInputs());
}

StepAttr ProgramOp::getStepOrDefault() {
  return getStepAttr() ? getStepAttr() : StepAttr::get(getContext());
}

void ProgramOp::setStepSettings(StepAttr step) {
  if (step == StepAttr::get(getContext()))
    removeStepAttr();
  else
    setStepAttr(step);
}

SmallVector<std::pair<Axis, int64_t>> ProgramOp::getFixed() {
  SmallVector<std::pair<Axis, int64_t>> fixed;
  if (std::optional<DictionaryAttr> at = getAt())
    for (NamedAttribute entry : *at)
      fixed.emplace_back(*getMesh().getAxisIndex(entry.getName()),
                         cast<IntegerAttr>(entry.getValue()).getInt());
  llvm::sort(fixed);
  return fixed;
}

llvm::iterator_range<Block::op_iterator<SectionOp>> ProgramOp::getSections() {
  return getBody().front().getOps<SectionOp>();
}

SectionOp ProgramOp::getSection(SectionKind kind, int64_t chunk) {
  for (SectionOp section : getSections())
    if (section.getKind() == kind && section.getChunkNumber() == chunk)
      return section;
  return {};
}

/// Parses the coordinates of a program, such as `[pp = 0]`.
static ParseResult parseAt(OpAsmParser &parser, DictionaryAttr &at) {
  NamedAttrList coordinates;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            SMLoc loc = parser.getCurrentLocation();
            StringRef name;
            int64_t coordinate;
            if (parser.parseKeyword(&name) || parser.parseEqual() ||
                parser.parseInteger(coordinate))
              return failure();
            if (coordinates.get(name))
              return parser.emitError(loc, "axis '")
                     << name << "' is fixed twice";
            coordinates.append(
                name, parser.getBuilder().getI64IntegerAttr(coordinate));
            return success();
          }))
    return failure();
  at = coordinates.getDictionary(parser.getContext());
  return success();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  MeshAttr mesh;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseKeyword("mesh") ||
      parser.parseAttribute(mesh, getMeshAttrName(result.name),
                            result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("at"))) {
    DictionaryAttr at;
    if (parseAt(parser, at))
      return failure();
    result.addAttribute(getAtAttrName(result.name), at);
  }
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  if (function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes,
          resultAttrs) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  auto argumentTypes = llvm::map_to_vector(
      arguments, [](const OpAsmParser::Argument &arg) { return arg.type; });
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " mesh " << getMesh();
  if (std::optional<DictionaryAttr> at = getAt()) {
    printer << " at [";
    llvm::interleaveComma(*at, printer, [&](NamedAttribute entry) {
      printer << entry.getName().getValue() << " = ";
      printer.printAttributeWithoutType(entry.getValue());
    });
    printer << "]";
  }
  printer << ' ';
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  function_interface_impl::printFunctionAttributes(
      printer, *this,
      {getFunctionTypeAttrName(), getMeshAttrName(), getAtAttrName(),
       getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// ProgramOp: verification
//===----------------------------------------------------------------------===//

LogicalResult ProgramOp::verify() {
  if (std::optional<DictionaryAttr> at = getAt()) {
    for (NamedAttribute entry : *at) {
      std::optional<int64_t> size = getMesh().getAxisSize(entry.getName());
      if (!size || entry.getName() == microAxisName)
        return emitOpError("is at a coordinate of '")
               << entry.getName().getValue()
               << "', which is no device axis of the mesh " << getMesh();
      auto coordinate = dyn_cast<IntegerAttr>(entry.getValue());
      if (!coordinate || !coordinate.getType().isInteger(64))
        return emitOpError("coordinate of axis '")
               << entry.getName().getValue() << "' is not a 64-bit integer";
      if (coordinate.getInt() < 0 || coordinate.getInt() >= *size)
        return emitOpError("coordinate ")
               << coordinate.getInt() << " is outside axis '"
               << entry.getName().getValue() << "' of size " << *size;
    }
  }
  return success();
}

/// Returns 0 for a forward section, 1 for a section of gradients and 2 for an
/// update. A program lists its sections in this order.
static unsigned getPhase(SectionKind kind) {
  switch (kind) {
  case SectionKind::Forward:
    return 0;
  case SectionKind::Backward:
  case SectionKind::InputGradient:
  case SectionKind::WeightGradient:
    return 1;
  case SectionKind::Update:
    return 2;
  }
  llvm_unreachable("unknown section kind");
}

/// Checks that the layout of a value in a program is on the mesh of the program
/// and fixes the coordinates at which the program runs.
static LogicalResult verifyPlace(ProgramOp program, Location loc, Type type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return success();
  if (layout.getMesh() != program.getMesh()) {
    return emitError(loc) << "value of type " << type << " is not on the mesh "
                          << program.getMesh() << " of program @"
                          << program.getSymName();
  }
  for (auto [axis, coordinate] : program.getFixed()) {
    if (layout.getValue().getFixedCoordinate(axis) != coordinate)
      return emitError(loc) << "value of type " << type << " is not at "
                            << program.getMesh().getValue().getName(axis)
                            << " = " << coordinate << ", where program @"
                            << program.getSymName() << " runs";
  }
  return success();
}

static LogicalResult verifyPlaces(ProgramOp program) {
  for (BlockArgument argument : program.getBody().getArguments())
    if (failed(verifyPlace(program, argument.getLoc(), argument.getType())))
      return failure();
  WalkResult result = program.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyPlace(program, op->getLoc(), type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifySectionOrder(ProgramOp program) {
  std::map<std::pair<SectionKind, int64_t>, SectionOp> seen;
  SectionOp previous;
  for (SectionOp section : program.getSections()) {
    SectionKind kind = section.getKind();
    int64_t chunk = section.getChunkNumber();
    if (!seen.try_emplace({kind, chunk}, section).second) {
      InFlightDiagnostic diag = section.emitOpError("is the second '")
                                << stringifySectionKind(kind)
                                << "' section of chunk " << chunk;
      diag.attachNote(seen[{kind, chunk}].getLoc()) << "the first one is here";
      return diag;
    }
    if (previous && getPhase(previous.getKind()) > getPhase(kind))
      return section.emitOpError("'")
             << stringifySectionKind(kind) << "' comes after '"
             << stringifySectionKind(previous.getKind())
             << "', expected the order forward, gradients, update";
    previous = section;
  }
  for (auto &[key, section] : seen) {
    if (key.first != SectionKind::InputGradient &&
        key.first != SectionKind::WeightGradient)
      continue;
    if (seen.count({SectionKind::Backward, key.second}))
      return section.emitOpError("chunk ")
             << key.second << " has a 'backward' section and a separate '"
             << stringifySectionKind(key.first) << "' section";
  }
  return success();
}

/// Checks that no operation computes with a value in host memory. Only
/// dist.fetch reads such a value; terminators and operations with regions may
/// pass it on. The verifier of dist.offload checks its operand itself.
static LogicalResult verifyMemory(ProgramOp program) {
  WalkResult result = program.walk([](Operation *op) {
    if (isa<FetchOp, OffloadOp>(op) || op->getNumRegions() > 0 ||
        op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    for (Value operand : op->getOperands()) {
      LayoutAttr layout = getLayout(operand.getType());
      if (!layout || !layout.isOnHost())
        continue;
      op->emitOpError("reads a value of type ")
          << operand.getType() << ", which is in host memory; fetch it first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ProgramOp::verifyRegions() {
  for (Operation &op : getBody().front().without_terminator())
    if (!isa<SectionOp>(op))
      return op.emitOpError("is outside a section of program @")
             << getSymName();
  if (failed(verifySectionOrder(*this)) || failed(verifyMemory(*this)))
    return failure();
  return verifyPlaces(*this);
}

LogicalResult ReturnOp::verify() {
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (getOperandTypes() != TypeRange(program.getResultTypes()))
    return emitOpError("returns (")
           << getOperandTypes() << "), but program @" << program.getSymName()
           << " has results (" << program.getResultTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// SectionOp
//===----------------------------------------------------------------------===//

void SectionOp::build(OpBuilder &builder, OperationState &state,
                      TypeRange types, SectionKind kind, int64_t chunk) {
  state.addTypes(types);
  state.addAttribute(getKindAttrName(state.name),
                     SectionKindAttr::get(builder.getContext(), kind));
  if (chunk != 0)
    state.addAttribute(getChunkAttrName(state.name),
                       builder.getI64IntegerAttr(chunk));
  if (kind == SectionKind::Update)
    state.addAttribute(getOnceAttrName(state.name), builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.addRegion());
}

ParseResult SectionOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<SectionKind> kind = symbolizeSectionKind(keyword);
  if (!kind)
    return parser.emitError(loc, "'") << keyword << "' is not a section kind";
  result.addAttribute(getKindAttrName(result.name),
                      SectionKindAttr::get(parser.getContext(), *kind));
  if (succeeded(parser.parseOptionalKeyword("chunk"))) {
    int64_t chunk;
    if (parser.parseInteger(chunk))
      return failure();
    if (chunk != 0)
      result.addAttribute(getChunkAttrName(result.name),
                          parser.getBuilder().getI64IntegerAttr(chunk));
  }
  if (succeeded(parser.parseOptionalKeyword("once")))
    result.addAttribute(getOnceAttrName(result.name),
                        parser.getBuilder().getUnitAttr());
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  result.addTypes(body->front().back().getOperandTypes());
  return success();
}

void SectionOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifySectionKind(getKind());
  if (getChunkNumber() != 0)
    printer << " chunk " << getChunkNumber();
  if (getOnce())
    printer << " once";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getKindAttrName(), getChunkAttrName(), getOnceAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult SectionOp::verify() {
  bool isUpdate = getKind() == SectionKind::Update;
  if (isUpdate && !getOnce())
    return emitOpError("'update' runs once per step, expected 'once'");
  if (!isUpdate && getOnce())
    return emitOpError("'") << stringifySectionKind(getKind())
                            << "' runs per micro-batch and cannot be 'once'";
  return success();
}

LogicalResult SectionOp::verifyRegions() {
  if (getYielded().getTypes() != getResultTypes())
    return emitOpError("yields (")
           << getYielded().getTypes() << "), but has results ("
           << getResultTypes() << ")";
  if (!getOnce())
    return success();
  WalkResult result = getBody().walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      LayoutAttr layout = getLayout(operand.get().getType());
      if (!layout || layout.getValue().isReplicated(microAxis) ||
          (isa<AccumulateOp>(op) && layout.isPartialOverMicro()))
        continue;
      op->emitOpError("operand ")
          << operand.getOperandNumber() << " of type "
          << operand.get().getType()
          << " depends on the micro-batch and cannot be used in a section that "
             "runs once; accumulate it first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
