//===- Annotations.cpp - annotations of ops and arguments -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/Annotations.h"

#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;

StringRef proteus::getStorageAttrName(strategy::ItemKind item) {
  switch (item) {
  case strategy::ItemKind::Weight:
    return kWeightAttr;
  case strategy::ItemKind::Gradient:
    return kGradientAttr;
  case strategy::ItemKind::State:
    return kStateAttr;
  default:
    llvm_unreachable("not an item of a parameter");
  }
}

StringRef proteus::getHostAttrName(strategy::ItemKind item) {
  switch (item) {
  case strategy::ItemKind::Weight:
    return kHostWeightAttr;
  case strategy::ItemKind::State:
    return kHostStateAttr;
  default:
    llvm_unreachable("not an item that lies in host memory");
  }
}

dist::MeshAttr proteus::getMatchedMesh(FunctionOpInterface function,
                                       StringRef pass) {
  auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
  bool isModel = llvm::any_of(function.getArguments(), getRole);
  if (!mesh && isModel)
    function->emitWarning() << pass << " leaves the model '"
                            << SymbolTable::getSymbolName(function).getValue()
                            << "' unchanged: it was not matched with a "
                               "strategy tree; run match-strategy first";
  return mesh;
}

bool proteus::hasLayouts(FunctionOpInterface function) {
  return llvm::any_of(function.getArguments(), [](BlockArgument argument) {
    return getArgumentAttr(argument, kLayoutAttr) ||
           dist::getLayout(argument.getType());
  });
}

LogicalResult proteus::checkPartitions(FunctionOpInterface function,
                                       const dist::Mesh &mesh) {
  WalkResult result = function.walk([&](nn::IterationSpaceOpInterface op) {
    auto partition = op->getAttrOfType<strategy::PartitionAttr>(kOpAttr);
    if (!partition)
      return WalkResult::advance();
    nn::IterationSpace space = op.getIterationSpace();
    for (strategy::PartAttr part : partition.getParts()) {
      if (!space.find(part.getIterator())) {
        op->emitOpError("has no iterator '")
            << part.getIterator() << "', which its strategy.op splits";
        return WalkResult::interrupt();
      }
      for (StringAttr axis : part.getAxes())
        if (!mesh.find(axis.getValue())) {
          op->emitOpError("is split over '")
              << axis.getValue() << "', which is no axis of the mesh";
          return WalkResult::interrupt();
        }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void proteus::setPhase(Operation *op, Phase phase) {
  op->setDiscardableAttr(kPhaseAttr,
                         strategy::PhaseAttr::get(op->getContext(), phase));
}

Phase proteus::getPhase(Operation *op) {
  auto phase = op->getAttrOfType<strategy::PhaseAttr>(kPhaseAttr);
  return phase ? phase.getValue() : Phase::Forward;
}

Attribute proteus::getArgumentAttr(BlockArgument argument, StringRef name) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function ? function.getArgAttr(argument.getArgNumber(), name)
                  : Attribute();
}

void ArgumentAttrChanges::set(BlockArgument argument, StringRef name,
                              Attribute attribute) {
  auto [entry, isNew] = changed.try_emplace(argument);
  if (isNew)
    entry->second =
        cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
            .getArgAttrDict(argument.getArgNumber());
  entry->second.set(name, attribute);
}

Attribute ArgumentAttrChanges::get(BlockArgument argument,
                                   StringRef name) const {
  auto found = changed.find(argument);
  return found == changed.end() ? getArgumentAttr(argument, name)
                                : found->second.get(name);
}

void ArgumentAttrChanges::apply(FunctionOpInterface function) {
  if (changed.empty())
    return;
  SmallVector<DictionaryAttr> attributes;
  for (BlockArgument argument : function.getArguments()) {
    auto found = changed.find(argument);
    attributes.push_back(
        found == changed.end()
            ? function.getArgAttrDict(argument.getArgNumber())
            : found->second.getDictionary(function.getContext()));
  }
  function.setAllArgAttrs(attributes);
  changed.clear();
}

std::optional<nn::Role> proteus::getRole(BlockArgument argument) {
  auto role =
      dyn_cast_if_present<StringAttr>(getArgumentAttr(argument, nn::kRoleAttr));
  return role ? nn::parseRole(role.getValue()) : std::nullopt;
}

std::string proteus::getArgumentPath(BlockArgument argument) {
  if (auto path = dyn_cast_if_present<StringAttr>(
          getArgumentAttr(argument, nn::kPathAttr)))
    return path.str();
  return "arg" + std::to_string(argument.getArgNumber());
}

std::pair<BlockArgument, unsigned> proteus::getParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned stacks = 0;
  while (argument) {
    auto repeat = dyn_cast<nn::RepeatOp>(argument.getOwner()->getParentOp());
    if (!repeat)
      break;
    if (argument.getArgNumber() < repeat.getNumCarried())
      return {};
    argument =
        dyn_cast<BlockArgument>(repeat.getOperand(argument.getArgNumber()));
    ++stacks;
  }
  if (!argument || getRole(argument) != nn::Role::Parameter)
    return {};
  return {argument, stacks};
}

StringAttr proteus::getRecomputeGroup(Operation *op) {
  return op->getAttrOfType<StringAttr>(kRecomputeAttr);
}

std::optional<int64_t> proteus::getStage(Operation *op) {
  if (auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr))
    return stage.getInt();
  return std::nullopt;
}

std::optional<int64_t> proteus::getStage(BlockArgument argument) {
  if (auto stage = dyn_cast_if_present<IntegerAttr>(
          getArgumentAttr(argument, kStageAttr)))
    return stage.getInt();
  return std::nullopt;
}

void proteus::setStage(Operation *op, int64_t stage) {
  op->setDiscardableAttr(
      kStageAttr,
      IntegerAttr::get(IntegerType::get(op->getContext(), 64), stage));
}

void proteus::inheritAnnotations(Operation *from, Operation *to) {
  if (auto stage = getStage(from))
    setStage(to, *stage);
  if (Attribute place = from->getAttr(kPlaceAttr))
    to->setDiscardableAttr(kPlaceAttr, place);
  if (Attribute depth = from->getAttr(kPrefetchAttr))
    to->setDiscardableAttr(kPrefetchAttr, depth);
  if (Attribute once = from->getAttr(kGatherOnceAttr))
    to->setDiscardableAttr(kGatherOnceAttr, once);
  auto partition = from->getAttrOfType<strategy::PartitionAttr>(kOpAttr);
  auto op = dyn_cast<nn::IterationSpaceOpInterface>(to);
  Attribute compute = from->getAttr(ProteusDialect::computeAttrName);
  if (compute && op && op.getKernelClass() == nn::KernelClass::Matrix)
    to->setDiscardableAttr(ProteusDialect::computeAttrName, compute);
  if (!partition || !op)
    return;
  nn::IterationSpace space = op.getIterationSpace();
  SmallVector<strategy::PartAttr> parts;
  for (strategy::PartAttr part : partition.getParts())
    if (space.find(part.getIterator()))
      parts.push_back(part);
  if (!parts.empty())
    to->setDiscardableAttr(
        kOpAttr, strategy::PartitionAttr::get(to->getContext(), parts));
}

void proteus::inheritPartition(
    Operation *from, Operation *to,
    ArrayRef<std::pair<StringRef, StringRef>> names) {
  to->removeDiscardableAttr(kOpAttr);
  auto partition = from->getAttrOfType<strategy::PartitionAttr>(kOpAttr);
  if (!partition)
    return;
  MLIRContext *context = to->getContext();
  SmallVector<strategy::PartAttr> parts;
  for (auto [ours, theirs] : names)
    if (strategy::PartAttr part = partition.lookup(ours))
      parts.push_back(strategy::PartAttr::get(
          context, StringAttr::get(context, theirs), part.getAxes(),
          part.getZigzag(), part.getRing()));
  if (!parts.empty())
    to->setDiscardableAttr(kOpAttr,
                           strategy::PartitionAttr::get(context, parts));
}

void proteus::stripAnnotations(Operation *root) {
  root->walk([](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isa_and_nonnull<strategy::StrategyDialect>(
              attribute.getNameDialect()))
        op->removeDiscardableAttr(attribute.getName());
  });
}

void proteus::inheritPlace(BlockArgument from, Operation *to) {
  auto stage = getStage(from);
  Attribute place = getArgumentAttr(from, kPlaceAttr);
  to->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (stage)
      setStage(op, *stage);
    if (place)
      op->setDiscardableAttr(kPlaceAttr, place);
  });
}
