//===- ProteusDialect.cpp - the proteus attribute dialect -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Proteus/Proteus.h"

#include "Proteus/Support/PathPattern.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace proteus;

#include "Proteus/Dialect/Proteus/ProteusDialect.cpp.inc"

void ProteusDialect::initialize() {}

//===----------------------------------------------------------------------===//
// Verification of values of attributes
//===----------------------------------------------------------------------===//

/// Verifies the attribute for the cluster, stack or site. Its value is either a
/// non-empty string (a name or the path of a file) or a dictionary (an inline
/// description). The error message suggests `example`, which is a valid name.
static LogicalResult verifyMachine(Operation *op, NamedAttribute attribute,
                                   StringRef example) {
  Attribute value = attribute.getValue();
  if (isa<DictionaryAttr>(value))
    return success();
  auto text = dyn_cast<StringAttr>(value);
  if (!text)
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' must be a string or a dictionary, got "
                           << value;
  if (text.empty())
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' is an empty string; name a preset, such as \""
                           << example << "\", or a file";
  return success();
}

static LogicalResult verifyCluster(Operation *op, NamedAttribute attribute) {
  return verifyMachine(op, attribute, "dgx-a100:1");
}

static LogicalResult verifyStack(Operation *op, NamedAttribute attribute) {
  return verifyMachine(op, attribute, "megatron-lm");
}

static LogicalResult verifySite(Operation *op, NamedAttribute attribute) {
  return verifyMachine(op, attribute, "jean-zay-a100");
}

static LogicalResult verifyPath(Operation *op, NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (!text)
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' must be a string, got "
                           << attribute.getValue();
  llvm::Expected<proteus::Path> path = parsePath(text.getValue());
  if (path)
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' is the malformed path \"" << text.getValue()
                         << "\": " << llvm::toString(path.takeError());
}

static LogicalResult verifyQuantity(Operation *op, NamedAttribute attribute) {
  auto number = dyn_cast<FloatAttr>(attribute.getValue());
  if (!number || !number.getType().isF64())
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' must be an f64, got " << attribute.getValue();
  if (!number.getValue().isFinite() || number.getValueAsDouble() < 0)
    return op->emitError() << "'" << attribute.getName().getValue()
                           << "' must be finite and not negative, got "
                           << attribute.getValue();
  return success();
}

static LogicalResult verifyDepth(Operation *op, NamedAttribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (number && number.getType().isInteger(64) && number.getInt() >= 0)
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' must be an i64 and not negative, got "
                         << attribute.getValue();
}

static LogicalResult verifyCount(Operation *op, NamedAttribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (number && number.getType().isInteger(64) && number.getInt() >= 1)
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' must be an i64 and at least 1, got "
                         << attribute.getValue();
}

/// Verifies that the value is `array<i64: i, k>` with 0 <= i < k. The operation
/// is then chunk i of a collective in k chunks.
static LogicalResult verifyExchange(Operation *op, NamedAttribute attribute) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (numbers && numbers.size() == 2 && numbers[0] >= 0 &&
      numbers[0] < numbers[1])
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' must be array<i64: i, k> with 0 <= i < k, got "
                         << attribute.getValue();
}

static LogicalResult verifyUnit(Operation *op, NamedAttribute attribute) {
  if (isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' takes no value, got " << attribute.getValue();
}

static LogicalResult verifyElementType(Operation *op,
                                       NamedAttribute attribute) {
  auto type = dyn_cast<TypeAttr>(attribute.getValue());
  if (type && isa<FloatType>(type.getValue()))
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' must be a floating-point type, got "
                         << attribute.getValue();
}

static LogicalResult verifyFlag(Operation *op, NamedAttribute attribute) {
  if (isa<BoolAttr>(attribute.getValue()))
    return success();
  return op->emitError() << "'" << attribute.getName().getValue()
                         << "' must be true or false, got "
                         << attribute.getValue();
}

//===----------------------------------------------------------------------===//
// Verification of attributes on operations, arguments and results
//===----------------------------------------------------------------------===//

namespace {

/// Kinds of operations and arguments on which an attribute is allowed.
enum Place {
  Module,     ///< only a `builtin.module`
  Anywhere,   ///< any operation and any argument
  Operations, ///< operations for which `mayCarry` of their dialect is true
};

/// The rule by which one attribute is verified.
struct AttributeRule {
  StringRef name;
  Place place;
  /// Text for `place` in error messages, after "belongs to".
  StringRef placeText;
  LogicalResult (*verifyValue)(Operation *, NamedAttribute);
};

constexpr StringRef moduleText = "a builtin.module";
constexpr StringRef productText = "a matrix product";

constexpr AttributeRule attributeRules[] = {
    {ProteusDialect::clusterAttrName, Module, moduleText, verifyCluster},
    {ProteusDialect::computeAttrName, Operations, productText,
     verifyElementType},
    {ProteusDialect::exchangeAttrName, Operations,
     "an all-gather, reduce-scatter or all-reduce", verifyExchange},
    {ProteusDialect::fitsAttrName, Module, moduleText, verifyFlag},
    {ProteusDialect::iterationTimeAttrName, Module, moduleText, verifyQuantity},
    {ProteusDialect::onceAttrName, Operations,
     "an operation that gathers a parameter", verifyUnit},
    {ProteusDialect::pathAttrName, Anywhere, "an operation or an argument",
     verifyPath},
    {ProteusDialect::peakMemoryAttrName, Module, moduleText, verifyQuantity},
    {ProteusDialect::piecesAttrName, Operations, productText, verifyCount},
    {ProteusDialect::prefetchAttrName, Operations,
     "an operation that gathers or fetches a parameter", verifyDepth},
    {ProteusDialect::samplesPerSecondAttrName, Module, moduleText,
     verifyQuantity},
    {ProteusDialect::siteAttrName, Module, moduleText, verifySite},
    {ProteusDialect::stackAttrName, Module, moduleText, verifyStack},
};

} // namespace

/// Returns the rule for an attribute. If the dialect has no attribute of this
/// name, reports an error on `op` and returns null.
static const AttributeRule *findRule(Operation *op, NamedAttribute attribute) {
  const auto *rule = llvm::find_if(attributeRules, [&](const auto &rule) {
    return rule.name == attribute.getName();
  });
  if (rule != std::end(attributeRules))
    return rule;
  InFlightDiagnostic diag =
      op->emitError() << "unknown attribute '" << attribute.getName().getValue()
                      << "'; the attributes of the proteus dialect are ";
  llvm::interleaveComma(attributeRules, diag,
                        [&](const auto &known) { diag << known.name; });
  return nullptr;
}

/// Returns true if the rule allows its attribute on `op`.
static bool mayCarry(Operation *op, const AttributeRule &rule) {
  if (rule.place == Module)
    return isa<ModuleOp>(op);
  if (rule.place == Anywhere)
    return true;
  Dialect *dialect = op->getDialect();
  auto *places =
      dialect ? dialect->getRegisteredInterface<AttributePlaceInterface>()
              : nullptr;
  return places && places->mayCarry(op, rule.name);
}

LogicalResult
ProteusDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  const AttributeRule *rule = findRule(op, attribute);
  if (!rule)
    return failure();
  if (!mayCarry(op, *rule))
    return op->emitError() << "'" << rule->name << "' belongs to "
                           << rule->placeText << ", not to '" << op->getName()
                           << "'";
  return rule->verifyValue(op, attribute);
}

LogicalResult ProteusDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  const AttributeRule *rule = findRule(op, attribute);
  if (!rule)
    return failure();
  if (rule->place != Anywhere)
    return op->emitError() << "'" << rule->name << "' belongs to "
                           << rule->placeText << ", not to argument "
                           << argIndex << " of '" << op->getName() << "'";
  return rule->verifyValue(op, attribute);
}

LogicalResult ProteusDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  const AttributeRule *rule = findRule(op, attribute);
  if (!rule)
    return failure();
  return op->emitError() << "'" << rule->name << "' belongs to "
                         << rule->placeText << ", not to result " << resultIndex
                         << " of '" << op->getName() << "'";
}
