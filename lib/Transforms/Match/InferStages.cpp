//===- InferStages.cpp - stages that follow from the data flow --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferStages.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace proteus;

/// Returns the virtual stage of the operation that computes `value`, if known.
static std::optional<int64_t> stageOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? getStage(op) : std::nullopt;
}

/// Copies the attribute with the name `attribute`, which holds a stage, from
/// the operations in the bodies of repeats to the repeats. Emits an error if
/// the operations of one iteration have different stages.
static LogicalResult liftToRepeats(func::FuncOp function, StringRef attribute) {
  WalkResult placed =
      function.walk<WalkOrder::PostOrder>([&](nn::RepeatOp repeat) {
        for (Operation &op : repeat.getBody().front()) {
          auto stage = op.getAttrOfType<IntegerAttr>(attribute);
          auto other = repeat->getAttrOfType<IntegerAttr>(attribute);
          if (stage && other && stage != other) {
            op.emitOpError("is placed in stage ")
                << stage.getInt()
                << ", but another operation of the same iteration of '"
                << repeat.getPath() << "' in stage " << other.getInt()
                << "; stages may begin between iterations only (or write the "
                   "layers out with --unroll-repeats)";
            return WalkResult::interrupt();
          }
          if (stage)
            repeat->setDiscardableAttr(attribute, stage);
        }
        return WalkResult::advance();
      });
  return failure(placed.wasInterrupted());
}

/// Returns the latest virtual stage that computes a value read by `op` or its
/// body, or nullopt.
static std::optional<int64_t> latestProducer(Operation &op) {
  std::optional<int64_t> latest;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto stage = stageOf(operand))
        latest = std::max(latest.value_or(0), *stage);
  });
  return latest;
}

/// Sets the virtual stage of every operation of the block that does not have
/// one yet. Emits an error if an operation reads a value of a later stage.
static LogicalResult completeStages(Block &block, int64_t numStages,
                                    int64_t numChunks) {
  for (Operation &op : block.without_terminator()) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> latest = latestProducer(op);
    if (auto position = op.getAttrOfType<IntegerAttr>(kPositionAttr)) {
      int64_t behind = latest.value_or(0);
      int64_t chunk = (behind + numStages - 1 - position.getInt()) / numStages;
      if (chunk >= numChunks)
        return op.emitOpError("is placed in stage ")
               << position.getInt() << " after work of stage "
               << behind % numStages << " in the last of " << numChunks
               << " chunks; place it in that stage or a later one, or use more "
                  "virtual_stages";
      latest = chunk * numStages + position.getInt();
    }
    if (latest)
      setStage(&op, *latest);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (getStage(&op))
      continue;
    std::optional<int64_t> stage;
    for (Operation *user : op.getUsers())
      if (auto other = getStage(user))
        stage = std::min(stage.value_or(*other), *other);
    setStage(&op, stage.value_or(0));
  }
  for (Operation &op : block.without_terminator()) {
    int64_t stage = *getStage(&op);
    op.walk([&](Operation *inner) {
      inner->removeDiscardableAttr(kPositionAttr);
      if (!inner->hasTrait<OpTrait::IsTerminator>())
        setStage(inner, stage);
    });
    if (auto producer = latestProducer(op); producer && *producer > stage)
      return op.emitOpError("runs in stage ")
             << stage << " but reads a result of stage " << *producer
             << "; stages must follow the order of the model";
  }
  return success();
}

/// Sorts the operations by virtual stage. Gradients are later built in the
/// reverse order of the operations, and thus in the reverse order of the
/// stages.
static void sortByStage(Block &block) {
  std::map<int64_t, SmallVector<Operation *>> stages;
  for (Operation &op : block.without_terminator())
    stages[*getStage(&op)].push_back(&op);
  for (auto &[stage, operations] : stages)
    for (Operation *op : operations)
      op->moveBefore(block.getTerminator());
}

/// Gives each stage an argument of its own if several stages read an input or a
/// parameter. Each stage then loads the inputs that it needs. The copies of a
/// parameter are annotated as tied.
static void duplicateArguments(func::FuncOp function, int64_t numStages) {
  Block &block = function.front();
  auto isReturn = [](OpOperand &use) {
    return use.getOwner()->hasTrait<OpTrait::ReturnLike>();
  };
  auto stageOfUse = [&](OpOperand &use) {
    return getStage(block.findAncestorOpInBlock(*use.getOwner())).value_or(0) %
           numStages;
  };
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    bool isInput = getRole(argument) == nn::Role::Input;
    if (!isInput && getRole(argument) != nn::Role::Parameter)
      continue;
    // A stage that only returns a parameter unchanged needs no copy of it.
    llvm::SmallSetVector<int64_t, 2> stages;
    for (OpOperand &use : argument.getUses())
      if (isInput || !isReturn(use))
        stages.insert(stageOfUse(use));
    if (stages.size() <= 1)
      continue;
    SmallVector<int64_t> sorted = stages.takeVector();
    llvm::sort(sorted);
    // All copies have the path of the original argument. A default path
    // contains the number of the argument, which differs between copies, so the
    // path is written as an attribute.
    NamedAttrList attributes(function.getArgAttrDict(i));
    attributes.set(nn::kPathAttr,
                   builder.getStringAttr(getArgumentPath(argument)));
    if (!isInput && !attributes.get(kTiedAttr))
      attributes.set(kTiedAttr, builder.getDenseI64ArrayAttr(sorted));
    DictionaryAttr shared = attributes.getDictionary(function.getContext());
    function.setArgAttrs(i, shared);
    // The copy takes over the readers in later stages and is processed next.
    LogicalResult inserted = function.insertArgument(i + 1, argument.getType(),
                                                     shared, argument.getLoc());
    assert(succeeded(inserted) && "a function takes any argument");
    (void)inserted;
    argument = function.getArgument(i);
    argument.replaceUsesWithIf(function.getArgument(i + 1),
                               [&](OpOperand &use) {
                                 return stageOfUse(use) != sorted.front() &&
                                        (isInput || !isReturn(use));
                               });
  }
}

/// Sets the virtual stage of each argument to the earliest one that reads it.
/// Emits an error if operations of different stages read the same argument.
/// Inputs and parameters cannot cause this error, because each stage that reads
/// one has an argument of its own (`duplicateArguments`).
static LogicalResult placeArguments(func::FuncOp function, int64_t numStages) {
  Builder builder(function.getContext());
  ArgumentAttrChanges stages;
  for (BlockArgument argument : function.getArguments()) {
    std::optional<int64_t> stage;
    Operation *first = nullptr;
    for (Operation *user : argument.getUsers()) {
      Operation *top = function.front().findAncestorOpInBlock(*user);
      if (top->hasTrait<OpTrait::IsTerminator>())
        continue;
      int64_t other = *getStage(top);
      if (stage && *stage % numStages != other % numStages) {
        InFlightDiagnostic diagnostic =
            user->emitOpError("reads the state '")
            << getArgumentPath(argument) << "' in stage " << other % numStages
            << ", but it is also read in stage " << *stage % numStages
            << "; give every stage its own state";
        diagnostic.attachNote(first->getLoc()) << "read here as well";
        return diagnostic;
      }
      first = user;
      stage = std::min(stage.value_or(other), other);
    }
    if (stage)
      stages.set(argument, kStageAttr, builder.getI64IntegerAttr(*stage));
  }
  stages.apply(function);
  return success();
}

LogicalResult proteus::inferStages(func::FuncOp function, int64_t numStages,
                                   int64_t numChunks) {
  if (failed(liftToRepeats(function, kStageAttr)) ||
      failed(liftToRepeats(function, kPositionAttr)) ||
      failed(completeStages(function.front(), numStages, numChunks)))
    return failure();
  sortByStage(function.front());
  duplicateArguments(function, numStages);
  return placeArguments(function, numStages);
}
