//===- NNDialect.cpp - registration, attributes, paths ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"

#include "Proteus/Dialect/NN/IterationSpace.h"
#include "Proteus/Dialect/NN/ProductAttributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

#include "Proteus/Dialect/NN/NNDialect.cpp.inc"
#include "Proteus/Dialect/NN/NNEnums.cpp.inc"
#include "Proteus/Dialect/NN/NNInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/NN/NNAttrs.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Proteus/Dialect/NN/NNAttrs.cpp.inc"
      >();
  registerNNDialectOperations(this);
  addInterfaces<ProductAttributes>();
}

bool ProductAttributes::mayCarry(Operation *op, StringRef name) const {
  if (name != ProteusDialect::computeAttrName &&
      name != ProteusDialect::piecesAttrName)
    return false;
  auto kernel = dyn_cast<IterationSpaceOpInterface>(op);
  return kernel && kernel.getKernelClass() == KernelClass::Matrix;
}

//===----------------------------------------------------------------------===//
// Verification of attributes
//===----------------------------------------------------------------------===//

LogicalResult TrainingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Optimizer, Type compute, Type gradient,
                                   Type reduction, Type master, FloatAttr clip,
                                   FloatAttr lossScale) {
  std::pair<StringRef, Type> types[] = {{"compute", compute},
                                        {"gradient", gradient},
                                        {"reduction", reduction},
                                        {"master", master}};
  for (auto [name, type] : types)
    if (type && !isa<FloatType>(type))
      return emitError() << "'" << name << "' must be a float type, got "
                         << type;
  std::pair<StringRef, FloatAttr> numbers[] = {{"clip", clip},
                                               {"loss_scale", lossScale}};
  for (auto [name, number] : numbers)
    if (number && !(number.getValueAsDouble() > 0))
      return emitError() << "'" << name << "' must be positive, got "
                         << number.getValueAsDouble();
  return success();
}

std::optional<Role> proteus::nn::parseRole(StringRef text) {
  return llvm::StringSwitch<std::optional<Role>>(text)
      .Case("input", Role::Input)
      .Case("parameter", Role::Parameter)
      .Case("state", Role::State)
      .Case("master", Role::Master)
      .Default(std::nullopt);
}

StringRef proteus::nn::stringify(Role role) {
  switch (role) {
  case Role::Input:
    return "input";
  case Role::Parameter:
    return "parameter";
  case Role::State:
    return "state";
  case Role::Master:
    return "master";
  }
  llvm_unreachable("unknown role");
}

LogicalResult NNDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if (attribute.getName() != kTrainingAttr)
    return op->emitOpError()
           << "has the unknown attribute '" << attribute.getName().getValue()
           << "'; operations may carry '" << kTrainingAttr << "'";
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "may not carry '" << kTrainingAttr << "', which belongs to the "
           << "function that holds the model";
  if (!isa<TrainingAttr>(attribute.getValue()))
    return op->emitOpError()
           << "'" << kTrainingAttr << "' must be a #nn.training attribute";
  return success();
}

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned argIndex,
                                                  NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (attribute.getName() == kRoleAttr) {
    if (!text || !parseRole(text.getValue()))
      return op->emitOpError() << "argument " << argIndex << ": '" << kRoleAttr
                               << "' must be \"input\", \"parameter\", "
                                  "\"state\" or \"master\", got "
                               << attribute.getValue();
    return success();
  }
  if (attribute.getName() == kPathAttr) {
    if (!text || text.empty())
      return op->emitOpError() << "argument " << argIndex << ": '" << kPathAttr
                               << "' must be a non-empty string";
    return success();
  }
  return op->emitOpError() << "argument " << argIndex
                           << " has the unknown attribute '"
                           << attribute.getName().getValue() << "'; known are '"
                           << kRoleAttr << "' and '" << kPathAttr << "'";
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned resultIndex,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kResultAttr) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!number || number.getInt() < 0)
      return op->emitOpError()
             << "result " << resultIndex << ": '" << kResultAttr
             << "' must be the number of a result of the model, got "
             << attribute.getValue();
    return success();
  }
  if (attribute.getName() != kUpdatesAttr)
    return op->emitOpError()
           << "result " << resultIndex << " has the unknown attribute '"
           << attribute.getName().getValue() << "'; known are '" << kUpdatesAttr
           << "' and '" << kResultAttr << "'";
  auto argument = dyn_cast<IntegerAttr>(attribute.getValue());
  auto function = cast<FunctionOpInterface>(op);
  if (!argument || argument.getInt() < 0 ||
      argument.getInt() >= function.getNumArguments())
    return op->emitOpError()
           << "result " << resultIndex << ": '" << kUpdatesAttr
           << "' must be the number of an argument below "
           << function.getNumArguments() << ", got " << attribute.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Paths of operations
//===----------------------------------------------------------------------===//

/// Returns the path of an operation that has no attribute `path`. The path is
/// relative to the innermost nn.repeat around the operation (see `getOwnPath`).
static std::string getForeignPath(Operation *op) {
  if (auto path = op->getAttrOfType<StringAttr>(ProteusDialect::pathAttrName))
    return path.str();
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    return name.getName().str();
  unsigned number = 0;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    number += other.getName() == op->getName();
  }
  auto function = op->getParentOfType<FunctionOpInterface>();
  StringRef prefix = function ? function.getName() : "module";
  return (prefix + "." + op->getName().getStringRef() + "#" + Twine(number))
      .str();
}

std::string proteus::nn::getOwnPath(Operation *op) {
  if (auto own = op->getAttrOfType<StringAttr>("path"))
    return own.str();
  return getForeignPath(op);
}

std::string proteus::nn::getPath(Operation *op) {
  std::string path = getOwnPath(op);
  for (auto repeat = op->getParentOfType<RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<RepeatOp>())
    path = (repeat.getPath() + "[*]." + path).str();
  return path;
}
