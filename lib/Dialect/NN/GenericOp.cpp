//===- GenericOp.cpp - operation with a given cost --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace proteus::nn;

static std::optional<IteratorKind> parseKind(StringRef text) {
  return llvm::StringSwitch<std::optional<IteratorKind>>(text)
      .Case("parallel", IteratorKind::Parallel)
      .Case("sum", IteratorKind::Sum)
      .Case("max", IteratorKind::Max)
      .Case("opaque", IteratorKind::Opaque)
      .Default(std::nullopt);
}

/// Calls `visit` with each iterator name in `entry`, which is the string of one
/// dimension in `indexing`.
static void forEachName(StringAttr entry, function_ref<void(StringRef)> visit) {
  for (StringRef name : llvm::split(entry.getValue(), ' '))
    if (!name.empty())
      visit(name);
}

static bool indexes(ArrayAttr dims, StringRef iterator) {
  bool found = false;
  for (auto entry : dims.getAsRange<StringAttr>())
    forEachName(entry, [&](StringRef name) { found |= name == iterator; });
  return found;
}

//===----------------------------------------------------------------------===//
// Verification of nn.generic
//===----------------------------------------------------------------------===//

static bool isWord(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
}

LogicalResult GenericOp::verify() {
  size_t count = getIterators().size();
  if (getSizes().size() != count || getKinds().size() != count)
    return emitOpError("'iterators', 'sizes' and 'kinds' must have the same "
                       "length, got ")
           << count << ", " << getSizes().size() << " and "
           << getKinds().size();
  llvm::SmallDenseSet<StringRef> known;
  for (auto [name, size, kind] :
       llvm::zip(getIterators().getAsValueRange<StringAttr>(), getSizes(),
                 getKinds().getAsValueRange<StringAttr>())) {
    if (!isWord(name))
      return emitOpError("iterator name '")
             << name << "' must be letters, digits and underscores";
    if (!known.insert(name).second)
      return emitOpError("iterator '") << name << "' is listed twice";
    if (size < 1)
      return emitOpError("iterator '")
             << name << "' must have a positive size, got " << size;
    if (!parseKind(kind))
      return emitOpError("iterator '")
             << name << "' has the unknown kind '" << kind
             << "'; known are parallel, sum, max and opaque";
  }
  size_t tensors = getNumOperands() + getNumResults();
  if (getIndexing().size() != tensors)
    return emitOpError("'indexing' needs an entry per operand and result, ")
           << tensors << " in all, got " << getIndexing().size();
  std::string unknown;
  for (auto dims : getIndexing().getAsRange<ArrayAttr>())
    for (auto entry : dims.getAsRange<StringAttr>())
      forEachName(entry, [&](StringRef name) {
        if (!known.contains(name))
          unknown = name.str();
      });
  if (!unknown.empty())
    return emitOpError("'indexing' names '")
           << unknown << "', which is no iterator";
  for (auto [name, kind] :
       llvm::zip(getIterators().getAsValueRange<StringAttr>(),
                 getKinds().getAsValueRange<StringAttr>()))
    for (auto [number, dims] :
         llvm::enumerate(getIndexing().getAsRange<ArrayAttr>()))
      if (kind == "parallel" && number >= getNumOperands() &&
          !indexes(dims, name))
        return emitOpError("iterator '")
               << name << "' is parallel but does not index result "
               << number - getNumOperands()
               << "; make it a sum, a maximum or opaque";
  std::pair<StringRef, std::optional<APFloat>> costs[] = {
      {"flops", getFlops()},
      {"bytes", getBytes()},
      {"gradient_flops", getGradientFlops()}};
  for (auto &[name, value] : costs)
    if (value && !(value->convertToDouble() >= 0))
      return emitOpError("'") << name << "' must not be negative, got "
                              << value->convertToDouble();
  return success();
}

//===----------------------------------------------------------------------===//
// Iteration space and cost
//===----------------------------------------------------------------------===//

IterationSpace GenericOp::getIterationSpace() {
  IterationSpace space;
  for (auto [name, size, kind] :
       llvm::zip(getIterators().getAsValueRange<StringAttr>(), getSizes(),
                 getKinds().getAsValueRange<StringAttr>()))
    space.add(name, size, parseKind(kind).value_or(IteratorKind::Opaque));
  for (auto [number, dims] :
       llvm::enumerate(getIndexing().getAsRange<ArrayAttr>())) {
    TensorIterators tensor;
    for (auto entry : dims.getAsRange<StringAttr>()) {
      DimIterators &dim = tensor.emplace_back();
      forEachName(entry, [&](StringRef name) {
        if (auto iterator = space.find(name))
          dim.push_back(*iterator);
      });
    }
    if (number < getNumOperands())
      space.operands.push_back(tensor);
    else
      space.results.push_back(tensor);
  }
  return space;
}

double GenericOp::getFlopsPerPoint() { return getFlops().convertToDouble(); }

std::optional<double> GenericOp::getBytesPerPoint() {
  if (std::optional<APFloat> bytes = getBytes())
    return bytes->convertToDouble();
  return std::nullopt;
}

KernelClass GenericOp::getKernelClass() {
  return getMatrix() ? KernelClass::Matrix : KernelClass::Memory;
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

LogicalResult GenericOp::buildGradients(GradientScope &scope) {
  SmallVector<Value> read;
  SmallVector<Attribute> readDims;
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (Value gradient = scope.gradientOf(result)) {
      read.push_back(gradient);
      readDims.push_back(getIndexing()[getNumOperands() + i]);
    }
  if (read.empty())
    return success();
  Builder attributes(getContext());
  for (auto [i, wanted] : llvm::enumerate(getInputs())) {
    if (!scope.wants(wanted))
      continue;
    if (!getGradientFlopsAttr())
      return emitOpError(
          "states no cost of its gradient; add 'gradient_flops'");
    auto ownDims = cast<ArrayAttr>(getIndexing()[i]);
    SmallVector<Value> operands = read;
    SmallVector<Attribute> indexing = readDims;
    for (auto [j, input] : llvm::enumerate(getInputs())) {
      if (getMultilinear() && i == j)
        continue;
      operands.push_back(scope.saved(input));
      indexing.push_back(getIndexing()[j]);
    }
    indexing.push_back(ownDims);
    SmallVector<StringRef> kinds;
    for (auto [name, kind] :
         llvm::zip(getIterators().getAsValueRange<StringAttr>(),
                   getKinds().getAsValueRange<StringAttr>()))
      kinds.push_back(kind == "opaque"         ? "opaque"
                      : indexes(ownDims, name) ? "parallel"
                                               : "sum");
    auto gradient = GenericOp::create(
        scope.builder(), getLoc(), TypeRange{scope.gradientType(wanted)},
        getPathAttr(), operands, getIteratorsAttr(), getSizesAttr(),
        attributes.getStrArrayAttr(kinds), attributes.getArrayAttr(indexing),
        getGradientFlopsAttr(), getBytesAttr(), getMatrixAttr(),
        /*gradient_flops=*/FloatAttr(), getMultilinearAttr());
    scope.add(wanted, gradient.getResult(0));
  }
  return success();
}
