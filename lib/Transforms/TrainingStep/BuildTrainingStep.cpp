//===- BuildTrainingStep.cpp - gradients and parameter updates --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differentiation.h"
#include "GradientScaling.h"
#include "PerLayer.h"
#include "PruneStep.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/TrainingStep/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {
#define GEN_PASS_DEF_BUILDTRAININGSTEP
#include "Proteus/Transforms/TrainingStep/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

namespace {
class BuildTrainingStep
    : public proteus::impl::BuildTrainingStepBase<BuildTrainingStep> {
public:
  void runOnOperation() override;

private:
  LogicalResult checkModel(func::FuncOp function);
  LogicalResult checkRowUpdates(func::FuncOp function, TrainingAttr training);
  void applyComputeType(func::FuncOp function, Type compute);
  LogicalResult buildUpdates(func::FuncOp function, TrainingAttr training,
                             const DenseMap<Value, Value> &gradients);
};
} // namespace

/// Emits an error unless the model is a single block, all its arguments have
/// roles, and it returns one scalar.
LogicalResult BuildTrainingStep::checkModel(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("a model must be a single block");
  for (BlockArgument argument : function.getArguments())
    if (!getRole(argument))
      return function.emitOpError("argument ")
             << argument.getArgNumber() << " has no role; add nn.role = "
             << "\"input\", \"parameter\" or \"state\"";
  auto type = function.getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(function.getResultTypes()[0])
                  : RankedTensorType();
  if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
    return function.emitOpError(
        "a model to train must return one scalar: the loss");
  return success();
}

/// Returns true if `parameter` is an embedding table in which the update
/// changes only the rows that the step has looked up.
static bool isUpdatedByRows(Value parameter) {
  return llvm::any_of(parameter.getUsers(), [](Operation *user) {
    auto bag = dyn_cast<EmbeddingBagOp>(user);
    return bag && bag.getRowUpdates();
  });
}

/// Emits an error if a table should be updated by rows but cannot be. The
/// update of rows needs all lookups of the step at once, so there must be only
/// one micro-batch. The gradient of the whole table never exists, so nothing
/// else may need that gradient.
LogicalResult BuildTrainingStep::checkRowUpdates(func::FuncOp function,
                                                 TrainingAttr training) {
  auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
  WalkResult result = function.walk([&](EmbeddingBagOp bag) -> WalkResult {
    if (!bag.getRowUpdates())
      return WalkResult::advance();
    auto table = dyn_cast<BlockArgument>(bag.getTable());
    if (!table || table.getOwner() != &function.front() ||
        getRole(table) != Role::Parameter || !table.hasOneUse())
      return bag.emitOpError("row_updates needs a table that is a parameter of "
                             "the model and that nothing else reads; leave "
                             "row_updates out");
    if (training.getClip() || training.getLossScale())
      return bag.emitOpError("row_updates has no gradient of the whole table "
                             "that could be measured for clip or loss_scale; "
                             "leave row_updates or these out");
    if (mesh && mesh.getValue().micro > 1)
      return bag.emitOpError("row_updates needs all lookups of a step at once, "
                             "but there are ")
             << mesh.getValue().micro
             << " micro-batches; use one, or leave row_updates out";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Changes the element type of floating-point arguments and activations to
/// `compute`. Losses and log-sum-exps keep their element types. Tables that are
/// updated by rows also keep their element types, because they have no master
/// copy.
void BuildTrainingStep::applyComputeType(func::FuncOp function, Type compute) {
  auto convert = [&](Value value) {
    if (isFloatTensor(value))
      value.setType(withElementType(value.getType(), compute));
  };
  for (BlockArgument argument : function.getArguments())
    if (!isUpdatedByRows(argument))
      convert(argument);
  function.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      if (op != function)
        for (BlockArgument argument : region.getArguments())
          convert(argument);
    if (isa<CrossEntropyOp>(op))
      return;
    for (Value result : isa<AttentionOp>(op) ? op->getResults().take_front(1)
                                             : op->getResults())
      convert(result);
  });
  function.setFunctionType(
      FunctionType::get(&getContext(), function.front().getArgumentTypes(),
                        function.front().getTerminator()->getOperandTypes()));
}

namespace {
/// A kind of optimizer state. `name` is the last component of the path of the
/// state, for example `master` in `fc.weight.master`.
struct StateKind {
  StringRef name;
  Role role;
};
} // namespace

/// Returns the optimizer states of a parameter, in the order of the operands of
/// the update.
static SmallVector<StateKind> statesOf(TrainingAttr training) {
  SmallVector<StateKind> states;
  if (training.getOptimizer() == Optimizer::Momentum)
    states = {{"velocity", Role::State}};
  if (training.getOptimizer() == Optimizer::Adam)
    states = {{"first_moment", Role::State}, {"second_moment", Role::State}};
  if (training.getMaster())
    states.push_back({"master", Role::Master});
  return states;
}

static Operation *createUpdate(OpBuilder &builder, Location loc, StringRef path,
                               TrainingAttr training, Value parameter,
                               Value gradient, ValueRange states,
                               Value factor) {
  SmallVector<Type> types = {parameter.getType()};
  llvm::append_range(types, states.getTypes());
  bool master = static_cast<bool>(training.getMaster());
  bool scaled = static_cast<bool>(factor);
  SmallVector<Value> others(states);
  if (scaled)
    others.push_back(factor);
  if (training.getOptimizer() == Optimizer::Adam)
    return AdamOp::create(builder, loc, types, path, parameter, gradient,
                          others, master, scaled, llvm::APFloat(0.001));
  return SGDOp::create(builder, loc, types, path, parameter, gradient, others,
                       training.getOptimizer() == Optimizer::Momentum, master,
                       scaled, llvm::APFloat(0.01));
}

/// Adds one argument per optimizer state of every parameter that is not updated
/// by rows. Returns the states of each parameter. All arguments are inserted at
/// once, because each insertion rebuilds the list of attributes of all
/// arguments.
static FailureOr<DenseMap<Value, SmallVector<BlockArgument>>>
addStateArguments(func::FuncOp function, TrainingAttr training) {
  Builder builder(function.getContext());
  SmallVector<unsigned> positions;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  SmallVector<BlockArgument> owners;
  unsigned numArguments = function.getNumArguments();
  for (BlockArgument argument : function.getArguments()) {
    if (getRole(argument) != Role::Parameter || isUpdatedByRows(argument))
      continue;
    Type element =
        training.getMaster()
            ? training.getMaster()
            : cast<RankedTensorType>(argument.getType()).getElementType();
    for (auto [name, role] : statesOf(training)) {
      // A state has the stage and the coordinates of its parameter.
      NamedAttrList list(function.getArgAttrDict(argument.getArgNumber()));
      list.set(kRoleAttr, builder.getStringAttr(stringify(role)));
      list.set(kPathAttr,
               builder.getStringAttr(getArgumentPath(argument) + "." + name));
      positions.push_back(numArguments);
      types.push_back(withElementType(argument.getType(), element));
      attributes.push_back(list.getDictionary(function.getContext()));
      locations.push_back(argument.getLoc());
      owners.push_back(argument);
    }
  }
  if (failed(function.insertArguments(positions, types, attributes, locations)))
    return failure();
  DenseMap<Value, SmallVector<BlockArgument>> states;
  for (auto [i, owner] : llvm::enumerate(owners))
    states[owner].push_back(function.getArgument(numArguments + i));
  return states;
}

/// Creates the update of the table rows that a lookup reads. The update reads
/// the gradient of the result of the lookup, so the gradient of the whole table
/// is not needed.
static Operation *createRowUpdate(OpBuilder &builder, BlockArgument table,
                                  EmbeddingBagGradOp gradient) {
  return EmbeddingBagUpdateOp::create(
      builder, table.getLoc(), table.getType(), getArgumentPath(table), table,
      gradient.getGradient(), gradient.getIndices(), llvm::APFloat(0.01));
}

LogicalResult
BuildTrainingStep::buildUpdates(func::FuncOp function, TrainingAttr training,
                                const DenseMap<Value, Value> &gradients) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  SmallVector<BlockArgument> parameters;
  for (BlockArgument argument : function.getArguments()) {
    if (getRole(argument) != Role::Parameter)
      continue;
    if (!gradients.contains(argument))
      return function.emitOpError("parameter '")
             << getArgumentPath(argument) << "' (argument "
             << argument.getArgNumber()
             << ") gets no gradient: the loss does not depend on it; remove it "
                "or give it the role \"input\"";
    parameters.push_back(argument);
  }
  auto states = addStateArguments(function, training);
  if (failed(states))
    return failure();

  SmallVector<Value> results(terminator->getOperands());
  SmallVector<DictionaryAttr> resultAttrs(results.size(),
                                          DictionaryAttr::get(&getContext()));
  Value factor = buildUpdateFactor(builder, training, parameters, gradients);
  for (BlockArgument parameter : parameters) {
    Value gradient = gradients.lookup(parameter);
    SmallVector<Value> own((*states)[parameter].begin(),
                           (*states)[parameter].end());
    SmallVector<Value> operands = {parameter, gradient};
    llvm::append_range(operands, own);
    Operation *update =
        isUpdatedByRows(parameter)
            ? createRowUpdate(builder, parameter,
                              gradient.getDefiningOp<EmbeddingBagGradOp>())
            : buildPerLayer(
                  builder, parameter, getArgumentPath(parameter), operands,
                  [&](OpBuilder &at, StringRef path, ValueRange layer) {
                    return createUpdate(at, parameter.getLoc(), path, training,
                                        layer[0], layer[1], layer.drop_front(2),
                                        factor);
                  });
    markAsUpdate(update, parameter);
    SmallVector<Value> replaced = {parameter};
    llvm::append_range(replaced, own);
    for (auto [result, argument] : llvm::zip(update->getResults(), replaced)) {
      results.push_back(result);
      resultAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          kUpdatesAttr, builder.getI64IntegerAttr(
                            cast<BlockArgument>(argument).getArgNumber()))));
    }
  }
  terminator->setOperands(results);
  function.setFunctionType(
      FunctionType::get(&getContext(), function.front().getArgumentTypes(),
                        ValueRange(results).getTypes()));
  function.setAllResultAttrs(resultAttrs);
  return success();
}

void BuildTrainingStep::runOnOperation() {
  func::FuncOp function = getOperation();
  auto training = function->getAttrOfType<TrainingAttr>(kTrainingAttr);
  if (!training || function.isDeclaration())
    return;
  if (hasLayouts(function)) {
    function.emitOpError("has layouts already; run build-training-step before "
                         "propagate-strategy");
    return signalPassFailure();
  }
  if (failed(checkModel(function)) ||
      failed(checkRowUpdates(function, training)))
    return signalPassFailure();
  function.walk([&](Operation *op) {
    if (op != function && !op->hasTrait<OpTrait::IsTerminator>())
      setPhase(op, Phase::Forward);
  });
  if (training.getCompute())
    applyComputeType(function, training.getCompute());

  auto gradients = differentiate(function, training);
  if (failed(gradients) || failed(buildUpdates(function, training, *gradients)))
    return signalPassFailure();
  prune(function.front());
}
