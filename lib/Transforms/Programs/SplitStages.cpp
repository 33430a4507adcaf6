//===- SplitStages.cpp - one program per pipeline stage ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderTransfers.h"
#include "SplitGradients.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Schedules.h"
#include "Proteus/Transforms/Programs/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <set>

namespace proteus {
#define GEN_PASS_DEF_SPLITSTAGES
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {

/// Identifies a section by its phase and its virtual stage. The update is one
/// section for all chunks, and is identified by the stage instead of a virtual
/// stage.
struct SectionPlace {
  int64_t stage;
  Phase phase;

  bool operator==(const SectionPlace &other) const {
    return key() == other.key();
  }
  std::pair<int64_t, int64_t> key() const {
    return {stage, static_cast<int64_t>(phase)};
  }
};

/// Divides one function into programs, one per stage. Divides each program into
/// sections: one per phase and chunk, and one for the update.
class Splitter {
public:
  Splitter(func::FuncOp function, dist::MeshAttr mesh)
      : function(function), mesh(mesh), context(function.getContext()) {
    if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr)) {
      pipelineAxis = *mesh.getAxisIndex(axis.getValue());
      numStages = mesh.getValue().getSize(*pipelineAxis);
    }
    step = function->getAttrOfType<dist::StepAttr>(kStepAttr);
    if (!step)
      step = dist::StepAttr::get(context);
    numChunks = step.getSchedule().getVirtualStages();
  }

  void run();

private:
  void splitGradients();
  void buildProgram(int64_t stage);
  void buildSection(OpBuilder &builder, SectionPlace place);
  void copy(OpBuilder &builder, Operation *op, SectionPlace place);
  dist::SectionKind kindOf(SectionPlace place) const;

  int64_t stageOf(Operation *op) const {
    return pipelineAxis ? getStage(op).value_or(0) : 0;
  }
  /// Returns the virtual stage that computes `value` or, for an argument, holds
  /// it.
  int64_t stageOf(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return pipelineAxis ? getStage(argument).value_or(0) : 0;
    return stageOf(value.getDefiningOp());
  }
  SectionPlace placeOf(int64_t stage, Phase phase) const {
    return {phase == Phase::Update ? stage % numStages : stage, phase};
  }
  /// Returns the section in which `op` runs. For a transfer, this is the
  /// section that receives the value.
  SectionPlace placeOf(Operation *op) const {
    return placeOf(stageOf(op), getPhase(op));
  }
  /// Returns the section that sends the value of a transfer.
  SectionPlace sourceOf(dist::TransferOp transfer) const {
    auto sender = senders.find(transfer);
    return placeOf(sender == senders.end() ? stageOf(transfer.getInput())
                                           : sender->second,
                   getPhase(transfer));
  }
  /// Chooses the sections that send and receive the value of a transfer.
  void placeTransfer(dist::TransferOp transfer,
                     const std::set<std::pair<int64_t, int64_t>> &sections);
  /// Assigns every operation to its section. A transfer gets the sections of
  /// its send and of its receive. Constants get no section, because every
  /// section copies those that it reads.
  void collectMembers();
  /// Returns true if `value`, which the section `place` computes, must be a
  /// result of this section, because another section of the stage or the return
  /// reads `value`.
  bool leavesSection(Value value, SectionPlace place);

  func::FuncOp function;
  dist::MeshAttr mesh;
  MLIRContext *context;
  std::optional<dist::Axis> pipelineAxis;
  int64_t numStages = 1, numChunks = 1;
  dist::StepAttr step;
  /// Virtual stages with a backward pass that is split into two sections.
  DenseSet<int64_t> split;
  /// The operations of each section, in order.
  DenseMap<std::pair<int64_t, int64_t>, SmallVector<Operation *>> members;
  SmallVector<Operation *> constants;
  /// For each transfer with a value that is not sent by the virtual stage that
  /// computes it, the virtual stage that sends it.
  DenseMap<Operation *, int64_t> senders;
  /// The tag of the message of each transfer.
  DenseMap<Operation *, int64_t> tags;
  IRMapping mapping;
};

} // namespace

/// Changes the sections that exchange a value which skips chunks. For example,
/// chunk 1 of stage s reads a value that chunk 0 of another stage computes.
/// Stage s then receives the value in its first forward section after the one
/// that computes it, and holds it until chunk 1. In the backward pass, stage s
/// computes the gradient of the value in chunk 1, holds it, and sends it in the
/// backward section of the virtual stage that received the value. Messages
/// between two stages then have the same order at both ends. Without this rule
/// the receiver could wait for the second value of micro-batch 0 while the
/// sender, which runs chunk 0 of all micro-batches first, offers the first
/// value of micro-batch 1.
void Splitter::placeTransfer(
    dist::TransferOp transfer,
    const std::set<std::pair<int64_t, int64_t>> &sections) {
  Phase phase = getPhase(transfer);
  if (phase == Phase::Update)
    return;
  int64_t from = stageOf(transfer.getInput());
  int64_t to = stageOf(transfer.getOperation());
  auto [early, late] = std::minmax(from, to);
  // The first virtual stage after `early` on the stage of `late`.
  int64_t meeting = late - (late - early - 1) / numStages * numStages;
  while (meeting < late && !sections.count(placeOf(meeting, phase).key()))
    meeting += numStages;
  if (meeting >= late)
    return;
  if (to == late)
    setStage(transfer, meeting);
  else
    senders[transfer] = meeting;
}

void Splitter::collectMembers() {
  std::set<std::pair<int64_t, int64_t>> sections;
  for (Operation &op : function.front().without_terminator())
    if (!isa<dist::TransferOp>(op) && !op.hasTrait<OpTrait::ConstantLike>())
      sections.insert(placeOf(&op).key());
  for (auto transfer : function.front().getOps<dist::TransferOp>())
    placeTransfer(transfer, sections);
  for (Operation &op : function.front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      constants.push_back(&op);
      continue;
    }
    SectionPlace place = placeOf(&op);
    members[place.key()].push_back(&op);
    // A transfer belongs to two sections: that of its send and that of its
    // receive.
    if (auto transfer = dyn_cast<dist::TransferOp>(op);
        transfer && !(sourceOf(transfer) == place))
      members[sourceOf(transfer).key()].push_back(&op);
  }
}

bool Splitter::leavesSection(Value value, SectionPlace place) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *top = function.front().findAncestorOpInBlock(*user);
    if (top->hasTrait<OpTrait::IsTerminator>())
      return true;
    // If the section contains the send of the value, the value need not be a
    // result of the section.
    if (auto transfer = dyn_cast<dist::TransferOp>(top))
      return !(sourceOf(transfer) == place);
    return !(placeOf(top) == place);
  });
}

void Splitter::copy(OpBuilder &builder, Operation *op, SectionPlace place) {
  auto transfer = dyn_cast<dist::TransferOp>(op);
  if (!transfer) {
    // Annotations are no longer needed: layouts are in types, phases in
    // sections, and stages in programs.
    stripAnnotations(builder.clone(*op, mapping));
    return;
  }
  int64_t from = sourceOf(transfer).stage % numStages;
  int64_t to = stageOf(op) % numStages;
  int64_t tag = tags.try_emplace(op, tags.size()).first->second;
  auto purpose = dist::PurposeAttr::get(context, dist::Purpose::Activation);
  Attribute path = op->getAttr(ProteusDialect::pathAttrName);
  auto keepPath = [&](Operation *message) {
    if (path)
      message->setDiscardableAttr(ProteusDialect::pathAttrName, path);
  };
  if (sourceOf(transfer) == place) {
    keepPath(dist::SendOp::create(builder, op->getLoc(),
                                  mapping.lookup(transfer.getInput()), to, tag,
                                  purpose));
    return;
  }
  auto recv =
      dist::RecvOp::create(builder, op->getLoc(),
                           transfer.getResult().getType(), from, tag, purpose);
  keepPath(recv);
  mapping.map(transfer.getResult(), recv.getValue());
}

dist::SectionKind Splitter::kindOf(SectionPlace place) const {
  switch (place.phase) {
  case Phase::Forward:
    return dist::SectionKind::Forward;
  case Phase::Backward:
    return split.contains(place.stage) ? dist::SectionKind::InputGradient
                                       : dist::SectionKind::Backward;
  case Phase::WeightGradient:
    return dist::SectionKind::WeightGradient;
  case Phase::Update:
    return dist::SectionKind::Update;
  }
  llvm_unreachable("unknown phase");
}

void Splitter::buildSection(OpBuilder &builder, SectionPlace place) {
  ArrayRef<Operation *> own = members[place.key()];
  if (own.empty())
    return;
  SmallVector<Value> leaving;
  for (Operation *op : own) {
    // A transfer to another stage has no result in this section.
    if (!(placeOf(op) == place))
      continue;
    for (Value result : op->getResults())
      if (leavesSection(result, place))
        leaving.push_back(result);
  }
  auto section = dist::SectionOp::create(
      builder, function.getLoc(), ValueRange(leaving).getTypes(), kindOf(place),
      place.stage / numStages);
  if (section.getBody().empty())
    section.getBody().emplaceBlock();
  Block &body = section.getBody().front();
  body.clear();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  // Every section has its own copy of the constants it reads.
  DenseSet<Operation *> isMember(own.begin(), own.end());
  for (Operation *op : constants)
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          return isMember.contains(
              function.front().findAncestorOpInBlock(*user));
        }))
      stripAnnotations(inside.clone(*op, mapping));
  for (Operation *op : own)
    copy(inside, op, place);
  SmallVector<Value> yielded;
  for (Value value : leaving)
    yielded.push_back(mapping.lookup(value));
  dist::YieldOp::create(inside, function.getLoc(), yielded);
  for (auto [value, result] : llvm::zip(leaving, section.getOutputs()))
    mapping.map(value, result);
}

void Splitter::buildProgram(int64_t stage) {
  mapping.clear();
  // Find the arguments and results that are on the devices of the stage.
  SmallVector<BlockArgument> arguments;
  DenseMap<unsigned, unsigned> newNumber;
  for (BlockArgument argument : function.getArguments())
    if (stageOf(argument) % numStages == stage) {
      newNumber[argument.getArgNumber()] = arguments.size();
      arguments.push_back(argument);
    }
  Operation *terminator = function.front().getTerminator();
  SmallVector<unsigned> results;
  for (OpOperand &operand : terminator->getOpOperands()) {
    dist::LayoutAttr layout = dist::getLayout(operand.get().getType());
    int64_t home =
        pipelineAxis ? *layout.getValue().getFixedCoordinate(*pipelineAxis) : 0;
    if (home == stage)
      results.push_back(operand.getOperandNumber());
  }
  SmallVector<Type> argumentTypes, resultTypes;
  for (BlockArgument argument : arguments)
    argumentTypes.push_back(argument.getType());
  for (unsigned number : results)
    resultTypes.push_back(terminator->getOperand(number).getType());

  OpBuilder builder(function);
  std::string name = function.getName().str();
  SmallVector<std::pair<dist::Axis, int64_t>> fixed;
  if (pipelineAxis) {
    name += "_stage" + std::to_string(stage);
    fixed.push_back({*pipelineAxis, stage});
  }
  auto program = dist::ProgramOp::create(
      builder, function.getLoc(), name,
      FunctionType::get(context, argumentTypes, resultTypes), mesh, fixed);
  program.setStepSettings(step);
  if (Attribute training = function->getAttr(nn::kTrainingAttr))
    program->setAttr(nn::kTrainingAttr, training);
  if (program.getBody().empty())
    program.getBody().emplaceBlock();
  Block &body = program.getBody().front();
  body.clear();
  if (body.getNumArguments() == 0)
    for (BlockArgument argument : arguments)
      body.addArgument(argument.getType(), argument.getLoc());
  // The attributes of all arguments are set at once, because each change
  // rebuilds the whole list.
  SmallVector<DictionaryAttr> argumentAttrs;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    mapping.map(argument, body.getArgument(i));
    NamedAttrList list;
    for (StringRef attribute : {nn::kRoleAttr, nn::kPathAttr})
      if (Attribute value = getArgumentAttr(argument, attribute))
        list.set(attribute, value);
    argumentAttrs.push_back(list.getDictionary(context));
  }
  program.setAllArgAttrs(argumentAttrs);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  for (int64_t chunk = 0; chunk < numChunks; ++chunk)
    buildSection(inside, {chunk * numStages + stage, Phase::Forward});
  for (int64_t chunk = numChunks - 1; chunk >= 0; --chunk)
    for (Phase phase : {Phase::Backward, Phase::WeightGradient})
      buildSection(inside, {chunk * numStages + stage, phase});
  buildSection(inside, {stage, Phase::Update});
  SmallVector<Value> returned;
  for (unsigned number : results)
    returned.push_back(mapping.lookup(terminator->getOperand(number)));
  dist::ReturnOp::create(inside, function.getLoc(), returned);
  Builder attributes(context);
  SmallVector<DictionaryAttr> resultAttrs;
  for (unsigned number : results) {
    auto updates =
        function.getResultAttrOfType<IntegerAttr>(number, nn::kUpdatesAttr);
    NamedAttrList list;
    if (updates)
      list.set(nn::kUpdatesAttr,
               attributes.getI64IntegerAttr(newNumber[updates.getInt()]));
    else if (pipelineAxis)
      list.set(nn::kResultAttr, attributes.getI64IntegerAttr(number));
    resultAttrs.push_back(list.getDictionary(context));
  }
  program.setAllResultAttrs(resultAttrs);
}

void Splitter::splitGradients() {
  for (int64_t stage = 0; stage < numStages * numChunks; ++stage)
    if (proteus::splitsGradients(step.getSchedule(), stage % numStages,
                                 stage / numStages) &&
        splitBackward(function, stage))
      split.insert(stage);
}

void Splitter::run() {
  if (pipelineAxis) {
    splitGradients();
    orderTransfers(function);
  }
  collectMembers();
  for (int64_t stage = 0; stage < numStages; ++stage)
    buildProgram(stage);
}

namespace {
class SplitStages : public proteus::impl::SplitStagesBase<SplitStages> {
public:
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kMeshAttr))
        functions.push_back(function);
    // A module that has programs and no matched function has been split before,
    // so there is nothing to do.
    if (functions.empty() && getOperation().getOps<dist::ProgramOp>().empty()) {
      getOperation().emitError("no function was matched with a strategy tree; "
                               "run match-strategy first");
      return signalPassFailure();
    }
    for (func::FuncOp function : functions) {
      auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
      for (Type type : function.getArgumentTypes())
        if (!dist::getLayout(type)) {
          function.emitOpError("has arguments without a layout; run "
                               "insert-collectives first");
          return signalPassFailure();
        }
      for (Operation &op : function.front().without_terminator())
        for (Value result : op.getResults())
          if (isa<RankedTensorType>(result.getType()) &&
              !dist::getLayout(result.getType())) {
            op.emitOpError("has a result without a layout; run "
                           "insert-collectives first");
            return signalPassFailure();
          }
      Splitter(function, mesh).run();
      // Erase the trees of the model together with the model.
      SmallVector<strategy::TreeOp> trees(
          getOperation().getOps<strategy::TreeOp>());
      for (strategy::TreeOp tree : trees)
        if (tree.getModel() == function.getName())
          tree.erase();
      function.erase();
    }
  }
};
} // namespace
