//===- StrategyAnnotations.cpp - attributes that passes leave -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies the discardable attributes of the strategy dialect: their names, the
// objects that carry them, and their values.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Strategy/StrategyAnnotations.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Support/Nearest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::strategy;

namespace {

/// Kinds of objects that can carry an attribute. Each kind is one bit, so that
/// a number can hold a set of kinds.
enum Place : unsigned {
  OnOperation = 1,
  OnFunction = 2,
  OnArgument = 4,
  OnTree = 8,
};

/// The rule by which one attribute is verified: its name, the set of kinds of
/// objects that may carry it, and its valid values.
struct Rule {
  StringRef name;
  unsigned places;
  /// Description of the valid values in error messages, after "must have".
  StringRef value;
  bool (*isValid)(Attribute);
};

} // namespace

template <typename AttrT> static bool isA(Attribute attribute) {
  return isa<AttrT>(attribute);
}

template <typename AttrT> static bool isArrayOf(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, llvm::IsaPred<AttrT>);
}

/// Returns true if the attribute is a non-negative i64.
static bool isNumber(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0;
}

/// Returns true if the attribute is an array of arrays of axis names,
/// optionally followed by a flat cut. There is one inner array for each
/// dimension of a tensor, or none if the tensor has the dimensions of its first
/// reader.
static bool isStorage(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return false;
  ArrayRef<Attribute> dims = list.getValue();
  if (!dims.empty() && isa<FlatAttr>(dims.back()))
    dims = dims.drop_back();
  return llvm::all_of(dims, isArrayOf<StringAttr>);
}

static bool isStages(Attribute attribute) {
  auto stages = dyn_cast<DenseI64ArrayAttr>(attribute);
  return stages && llvm::all_of(stages.asArrayRef(),
                                [](int64_t stage) { return stage >= 0; });
}

/// Returns true if the attribute is an array of pairs [operand number,
/// partition].
static bool isInputs(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, [](Attribute entry) {
           auto pair = dyn_cast<ArrayAttr>(entry);
           return pair && pair.size() == 2 && isNumber(pair[0]) &&
                  isa<PartitionAttr>(pair[1]);
         });
}

static constexpr Rule rules[] = {
    {kFlatAttr, OnOperation, "a #strategy.flat", isA<FlatAttr>},
    {kGatherOnceAttr, OnOperation, "no value", isA<UnitAttr>},
    {kGradientAttr, OnArgument,
     "an array of axis names per dimension and a flat cut", isStorage},
    {kHostStateAttr, OnArgument, "no value", isA<UnitAttr>},
    {kHostWeightAttr, OnArgument, "no value", isA<UnitAttr>},
    {kInputsAttr, OnOperation, "pairs of an operand number and a partition",
     isInputs},
    {kKeepAsReadAttr, OnOperation, "a non-negative i64", isNumber},
    {kKeepGatheredAttr, OnOperation, "no value", isA<UnitAttr>},
    {kLayoutAttr, OnArgument, "a #dist.layout", isA<dist::LayoutAttr>},
    {kMeshAttr, OnFunction, "a #dist.mesh", isA<dist::MeshAttr>},
    {kModuleOutputsAttr, OnOperation, "a non-negative i64", isNumber},
    {kOffloadAttr, OnOperation, "no value", isA<UnitAttr>},
    {kOpAttr, OnOperation, "a #strategy.partition", isA<PartitionAttr>},
    {kOutputGradientAttr, OnOperation, "a #strategy.partition",
     isA<PartitionAttr>},
    {kPhaseAttr, OnOperation, "a #strategy.phase", isA<PhaseAttr>},
    {kPipelineAxisAttr, OnFunction, "a string", isA<StringAttr>},
    {kPlaceAttr, OnOperation | OnArgument, "an array of #strategy.coordinate",
     isArrayOf<CoordinateAttr>},
    {kPositionAttr, OnOperation, "a non-negative i64", isNumber},
    {kPrefetchAttr, OnOperation, "a non-negative i64", isNumber},
    {kRecomputeAttr, OnOperation, "a string", isA<StringAttr>},
    {kRingStepAttr, OnOperation, "a non-negative i64", isNumber},
    {kScatterGatherAttr, OnFunction, "no value", isA<UnitAttr>},
    {kStackAttr, OnTree, "a string", isA<StringAttr>},
    {kStageAttr, OnOperation | OnArgument, "a non-negative i64", isNumber},
    {kStateAttr, OnArgument,
     "an array of axis names per dimension and a flat cut", isStorage},
    {kStepAttr, OnFunction, "a #dist.step", isA<dist::StepAttr>},
    {kTiedAttr, OnArgument, "an array of stages", isStages},
    {kTreeAttr, OnFunction, "a symbol", isA<FlatSymbolRefAttr>},
    {kWeightAttr, OnArgument,
     "an array of axis names per dimension and a flat cut", isStorage},
};

/// Returns the words for a set of kinds of objects, such as "operations and
/// arguments".
static std::string placesInWords(unsigned places) {
  std::string words;
  for (auto [place, word] :
       {std::pair(OnOperation, "operations"),
        std::pair(OnFunction, "functions"), std::pair(OnArgument, "arguments"),
        std::pair(OnTree, "trees")})
    if (places & place)
      words += (words.empty() ? "" : " and ") + std::string(word);
  return words;
}

/// Fails with an error if the dialect has no attribute of this name, if objects
/// of the kind `place` may not carry it, or if its value is invalid. `where` is
/// the name of the object in error messages.
static LogicalResult verify(Operation *op, NamedAttribute attribute,
                            unsigned place, const Twine &where) {
  const Rule *rule = llvm::find_if(rules, [&](const Rule &known) {
    return known.name == attribute.getName();
  });
  if (rule == std::end(rules)) {
    std::vector<std::string> names;
    for (const Rule &known : rules)
      names.push_back(known.name.str());
    std::string near = nearest(attribute.getName(), names);
    InFlightDiagnostic diagnostic = op->emitError()
                                    << "the strategy dialect has no attribute '"
                                    << attribute.getName().getValue() << "'";
    if (!near.empty())
      diagnostic << "; did you mean '" << near << "'?";
    return diagnostic;
  }
  if (!(rule->places & place))
    return op->emitError() << "'" << rule->name << "' belongs to "
                           << placesInWords(rule->places) << ", not to "
                           << where;
  if (!rule->isValid(attribute.getValue()))
    return op->emitError() << "'" << rule->name << "' must have " << rule->value
                           << ", got " << attribute.getValue();
  return success();
}

LogicalResult
StrategyDialect::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  unsigned place = isa<TreeOp>(op)                ? OnTree
                   : isa<FunctionOpInterface>(op) ? OnFunction
                   : isa<ModuleOp>(op)            ? 0u
                                                  : OnOperation;
  return verify(op, attribute, place, "'" + op->getName().getStringRef() + "'");
}

LogicalResult StrategyDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verify(op, attribute, OnArgument,
                "argument " + Twine(argument) + " of '" +
                    op->getName().getStringRef() + "'");
}

LogicalResult StrategyDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verify(op, attribute, 0,
                "result " + Twine(result) + " of '" +
                    op->getName().getStringRef() + "'");
}
