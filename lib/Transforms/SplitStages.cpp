//===- SplitStages.cpp - one program per pipeline stage ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {
#define GEN_PASS_DEF_SPLITSTAGES
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {

/// Cuts one function into programs, one per stage, and each program into
/// sections, one per phase.
class Splitter {
public:
  Splitter(func::FuncOp function, dist::MeshAttr mesh)
      : function(function), mesh(mesh), context(function.getContext()) {
    if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr))
      pipelineAxis = *mesh.getAxisIndex(axis.getValue());
  }

  void run();

private:
  void buildProgram(int64_t stage);
  void buildSection(OpBuilder &builder, int64_t stage, Phase phase);
  void copy(OpBuilder &builder, Operation *op, int64_t stage);

  int64_t stageOf(Operation *op) const {
    return pipelineAxis ? getStage(op).value_or(0) : 0;
  }
  int64_t stageOf(BlockArgument argument) const {
    return pipelineAxis ? getStage(argument).value_or(0) : 0;
  }
  /// The stage a transfer leaves.
  int64_t sourceStage(dist::TransferOp transfer) const {
    return *dist::getLayout(transfer.getInput().getType())
                .getValue()
                .getFixedCoordinate(*pipelineAxis);
  }
  /// Whether `op` or a part of it belongs to the section.
  bool belongsTo(Operation *op, int64_t stage, Phase phase) const;
  /// Whether a later section of the stage, or the return, reads `value`.
  bool leavesSection(Value value, Phase phase);

  func::FuncOp function;
  dist::MeshAttr mesh;
  MLIRContext *context;
  std::optional<dist::Axis> pipelineAxis;
  /// Numbers the messages between stages.
  DenseMap<Operation *, int64_t> tags;
  IRMapping mapping;
};

} // namespace

bool Splitter::belongsTo(Operation *op, int64_t stage, Phase phase) const {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::ConstantLike>() || getPhase(op) != phase)
    return false;
  if (auto transfer = dyn_cast<dist::TransferOp>(op))
    return sourceStage(transfer) == stage || stageOf(op) == stage;
  return stageOf(op) == stage;
}

bool Splitter::leavesSection(Value value, Phase phase) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *top = function.front().findAncestorOpInBlock(*user);
    if (top->hasTrait<OpTrait::IsTerminator>())
      return true;
    return getPhase(top) != phase;
  });
}

void Splitter::copy(OpBuilder &builder, Operation *op, int64_t stage) {
  auto transfer = dyn_cast<dist::TransferOp>(op);
  if (!transfer) {
    // Annotations have served their purpose: types hold the layouts, sections
    // the phases, programs the stages.
    stripAnnotations(builder.clone(*op, mapping));
    return;
  }
  int64_t from = sourceStage(transfer), to = stageOf(op);
  int64_t tag = tags.try_emplace(op, tags.size()).first->second;
  auto purpose = dist::PurposeAttr::get(context, dist::Purpose::Activation);
  Builder attributes(context);
  Attribute path = op->getAttr(ProteusDialect::pathAttrName);
  auto keepPath = [&](Operation *message) {
    if (path)
      message->setDiscardableAttr(ProteusDialect::pathAttrName, path);
  };
  if (stage == from) {
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

static dist::SectionKind sectionKind(Phase phase) {
  switch (phase) {
  case Phase::Forward:
    return dist::SectionKind::Forward;
  case Phase::Backward:
    return dist::SectionKind::Backward;
  case Phase::Update:
    return dist::SectionKind::Update;
  }
  llvm_unreachable("unknown phase");
}

void Splitter::buildSection(OpBuilder &builder, int64_t stage, Phase phase) {
  SmallVector<Operation *> members;
  for (Operation &op : function.front())
    if (belongsTo(&op, stage, phase))
      members.push_back(&op);
  if (members.empty())
    return;
  SmallVector<Value> leaving;
  for (Operation *op : members) {
    // The result of an outgoing transfer lives on the other stage.
    if (stageOf(op) != stage)
      continue;
    for (Value result : op->getResults())
      if (leavesSection(result, phase))
        leaving.push_back(result);
  }
  auto section = dist::SectionOp::create(builder, function.getLoc(),
                                         ValueRange(leaving).getTypes(),
                                         sectionKind(phase));
  if (section.getBody().empty())
    section.getBody().emplaceBlock();
  Block &body = section.getBody().front();
  body.clear();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  // Every section has its own copy of the constants it reads.
  for (Operation &op : function.front())
    if (op.hasTrait<OpTrait::ConstantLike>() &&
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          return llvm::is_contained(
              members, function.front().findAncestorOpInBlock(*user));
        }))
      stripAnnotations(inside.clone(op, mapping));
  for (Operation *op : members)
    copy(inside, op, stage);
  SmallVector<Value> yielded;
  for (Value value : leaving)
    yielded.push_back(mapping.lookup(value));
  dist::YieldOp::create(inside, function.getLoc(), yielded);
  for (auto [value, result] : llvm::zip(leaving, section.getOutputs()))
    mapping.map(value, result);
}

void Splitter::buildProgram(int64_t stage) {
  mapping.clear();
  // Arguments and results that live on the stage.
  SmallVector<BlockArgument> arguments;
  DenseMap<unsigned, unsigned> newNumber;
  for (BlockArgument argument : function.getArguments())
    if (stageOf(argument) == stage) {
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
  for (StringRef attribute : {kScheduleAttr, kBucketAttr})
    if (Attribute value = function->getAttr(attribute))
      program->setAttr(attribute, value);
  if (Attribute training = function->getAttr(nn::kTrainingAttr))
    program->setAttr(nn::kTrainingAttr, training);
  if (program.getBody().empty())
    program.getBody().emplaceBlock();
  Block &body = program.getBody().front();
  body.clear();
  if (body.getNumArguments() == 0)
    for (BlockArgument argument : arguments)
      body.addArgument(argument.getType(), argument.getLoc());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    mapping.map(argument, body.getArgument(i));
    for (StringRef attribute : {nn::kRoleAttr, nn::kPathAttr})
      if (Attribute value = getArgumentAttr(argument, attribute))
        program.setArgAttr(i, attribute, value);
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  for (Phase phase : {Phase::Forward, Phase::Backward, Phase::Update})
    buildSection(inside, stage, phase);
  SmallVector<Value> returned;
  for (unsigned number : results)
    returned.push_back(mapping.lookup(terminator->getOperand(number)));
  dist::ReturnOp::create(inside, function.getLoc(), returned);
  for (auto [i, number] : llvm::enumerate(results))
    if (auto updates =
            function.getResultAttrOfType<IntegerAttr>(number, nn::kUpdatesAttr))
      program.setResultAttr(
          i, nn::kUpdatesAttr,
          Builder(context).getI64IntegerAttr(newNumber[updates.getInt()]));
}

void Splitter::run() {
  int64_t stages = pipelineAxis ? mesh.getValue().getSize(*pipelineAxis) : 1;
  for (int64_t stage = 0; stage < stages; ++stage)
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
    for (func::FuncOp function : functions) {
      auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
      for (Type type : function.getArgumentTypes())
        if (!dist::getLayout(type)) {
          function.emitOpError("has arguments without a layout; run "
                               "insert-collectives first");
          return signalPassFailure();
        }
      Splitter(function, mesh).run();
      // The trees of the model go with it.
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
