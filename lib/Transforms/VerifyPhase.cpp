//===- VerifyPhase.cpp - what each phase promises to the next ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Partitioning.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <map>
#include <set>

namespace proteus {
#define GEN_PASS_DEF_VERIFYPHASE
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// After match-strategy: roles everywhere, and with a pipeline a stage.
static bool verifyMatched(func::FuncOp function) {
  bool valid = true;
  bool pipeline = function->hasAttr(kPipelineAxisAttr);
  for (BlockArgument argument : function.getArguments())
    if (!getRole(argument)) {
      function.emitOpError("argument ")
          << argument.getArgNumber()
          << " has no role; add nn.role = \"input\", "
          << "\"parameter\" or \"state\"";
      valid = false;
    }
  if (pipeline)
    function.walk([&](IterationSpaceOpInterface op) {
      if (!getStage(op)) {
        op->emitOpError("has no pipeline stage");
        valid = false;
      }
    });
  return valid;
}

/// After build-training-step: every parameter and state is updated, every
/// operation belongs to a phase.
static bool verifyStep(func::FuncOp function) {
  if (!function->hasAttr(nn::kTrainingAttr))
    return true;
  bool valid = true;
  std::set<int64_t> updated;
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (auto argument =
            function.getResultAttrOfType<IntegerAttr>(i, nn::kUpdatesAttr))
      updated.insert(argument.getInt());
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) == nn::Role::Parameter &&
        !updated.count(argument.getArgNumber())) {
      function.emitOpError("parameter '")
          << getArgumentPath(argument) << "' is not updated";
      valid = false;
    }
  function.walk([&](IterationSpaceOpInterface op) {
    if (!op->hasAttr(kPhaseAttr)) {
      op->emitOpError("belongs to no phase of the step");
      valid = false;
    }
  });
  return valid;
}

/// After propagate-strategy: nothing is left open.
static bool verifyPropagated(func::FuncOp function) {
  bool valid = true;
  for (BlockArgument argument : function.getArguments())
    if (!isa_and_present<dist::LayoutAttr>(
            getArgumentAttr(argument, kLayoutAttr))) {
      function.emitOpError("argument '")
          << getArgumentPath(argument) << "' has no layout";
      valid = false;
    }
  function.walk([&](IterationSpaceOpInterface op) {
    if (!op->hasAttr(kOpAttr)) {
      op->emitOpError("has no partition");
      valid = false;
    }
  });
  return valid;
}

/// Whether `actual` is `expected` but for reductions that a linear operation
/// lets pass.
static bool sameUpToPassedSums(dist::LayoutAttr actual,
                               dist::LayoutAttr expected, bool linear) {
  dist::Layout a = actual.getValue(), b = expected.getValue();
  a.fixed.clear();
  b.fixed.clear();
  if (linear)
    for (dist::AxisList *axes : {&a.getPartial(dist::ReductionKind::Sum),
                                 &b.getPartial(dist::ReductionKind::Sum)})
      axes->clear();
  return a == b;
}

/// Whether `op` makes its results from no tensor but other such results.
static bool isInitialValue(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return !isa<RankedTensorType>(operand.getType()) ||
           (producer && isInitialValue(producer));
  });
}

/// After insert-collectives: every operand has the layout that the partition of
/// its operation asks for, every result the one it gives.
static bool verifyCollectives(func::FuncOp function, dist::MeshAttr mesh) {
  bool valid = true;
  function.walk([&](IterationSpaceOpInterface op) {
    Partitioning part = Partitioning::fromAnnotation(op, mesh.getValue());
    auto check = [&](Value value, dist::LayoutAttr expected, StringRef what,
                     unsigned number) {
      dist::LayoutAttr layout = dist::getLayout(value.getType());
      if (layout && sameUpToPassedSums(layout, expected, op.isLinear()))
        return;
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << what << " " << number;
      if (layout)
        diagnostic << " has layout " << layout << ", expected " << expected;
      else
        diagnostic << " has no layout";
      valid = false;
    };
    // An initial value has the layout of what is computed into it, which the
    // operation's own verifier compares.
    auto destinations =
        dyn_cast<DestinationStyleOpInterface>(op.getOperation());
    if (isInitialValue(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !(destinations && destinations.isDpsInit(&operand)))
        check(operand.get(),
              part.getOperandLayout(operand.getOperandNumber(), mesh),
              "operand", operand.getOperandNumber());
    for (OpResult result : op->getResults())
      check(result, part.getResultLayout(result.getResultNumber(), mesh),
            "result", result.getResultNumber());
  });
  return valid;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
/// The two ends of a message between programs.
struct Message {
  dist::SendOp send;
  dist::RecvOp recv;
  unsigned sender = 0, receiver = 0;
};
} // namespace

static std::map<int64_t, Message>
collectMessages(ArrayRef<dist::ProgramOp> programs) {
  std::map<int64_t, Message> messages;
  for (unsigned stage = 0; stage < programs.size(); ++stage) {
    dist::ProgramOp program = programs[stage];
    program.walk([&](Operation *op) {
      if (auto send = dyn_cast<dist::SendOp>(op)) {
        messages[send.getTag()].send = send;
        messages[send.getTag()].sender = stage;
      } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
        messages[recv.getTag()].recv = recv;
        messages[recv.getTag()].receiver = stage;
      }
    });
  }
  return messages;
}

/// After split-stages: every message has two ends that agree.
static bool verifyPrograms(ArrayRef<dist::ProgramOp> programs) {
  bool valid = true;
  for (auto &[tag, message] : collectMessages(programs)) {
    if (!message.send || !message.recv) {
      Operation *end = message.send ? message.send.getOperation()
                                    : message.recv.getOperation();
      end->emitOpError("the message with tag ") << tag << " has no other end";
      valid = false;
      continue;
    }
    if (message.send.getStage() != message.receiver ||
        message.recv.getStage() != message.sender) {
      message.send.emitOpError("the message with tag ")
          << tag << " goes to stage " << message.send.getStage()
          << " but is received by stage " << message.receiver << " from stage "
          << message.recv.getStage();
      valid = false;
    }
    auto strip = [](Value value) {
      dist::LayoutAttr layout = dist::getLayout(value.getType());
      return dist::withLayout(cast<RankedTensorType>(value.getType()),
                              layout.withFixed({}));
    };
    if (strip(message.send.getValue()) != strip(message.recv.getValue())) {
      message.send.emitOpError("the message with tag ")
          << tag << " is sent as " << message.send.getValue().getType()
          << " but received as " << message.recv.getValue().getType();
      valid = false;
    }
  }
  return valid;
}

/// After schedule-pipeline: the orders of the programs can run to their end.
/// Executes the schedule without time: an item runs when all sections it
/// receives from have run for its micro-batch.
static bool verifySchedule(dist::ScheduleOp schedule,
                           ArrayRef<dist::ProgramOp> programs) {
  using Key = std::pair<unsigned, dist::Work>;
  // Sections that must have run before a section, for the same micro-batch.
  std::map<std::pair<unsigned, dist::SectionKind>,
           std::set<std::pair<unsigned, dist::SectionKind>>>
      before;
  for (auto &[tag, message] : collectMessages(programs))
    before[{message.receiver,
            message.recv->getParentOfType<dist::SectionOp>().getKind()}]
        .insert({message.sender,
                 message.send->getParentOfType<dist::SectionOp>().getKind()});
  std::set<Key> done;
  std::vector<size_t> next(programs.size(), 0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (unsigned stage = 0; stage < programs.size(); ++stage) {
      ArrayRef<dist::Work> order = schedule.getWork(stage);
      while (next[stage] < order.size()) {
        dist::Work work = order[next[stage]];
        bool ready =
            llvm::all_of(before[{stage, work.kind}],
                         [&](std::pair<unsigned, dist::SectionKind> other) {
                           dist::Work needed = work;
                           needed.kind = other.second;
                           return done.count({other.first, needed}) > 0;
                         });
        if (!ready)
          break;
        done.insert({stage, work});
        ++next[stage];
        progress = true;
      }
    }
  }
  SmallVector<unsigned> stuck;
  for (unsigned stage = 0; stage < programs.size(); ++stage)
    if (next[stage] != schedule.getWork(stage).size())
      stuck.push_back(stage);
  if (stuck.empty())
    return true;
  InFlightDiagnostic diagnostic = schedule.emitOpError(
      "can't run to its end: the orders of the stages wait for each other");
  for (unsigned stage : stuck)
    diagnostic.attachNote(dist::ProgramOp(programs[stage]).getLoc())
        << "stage " << stage << " waits before "
        << dist::formatWork(schedule.getWork(stage)[next[stage]]);
  return false;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class VerifyPhase : public proteus::impl::VerifyPhaseBase<VerifyPhase> {
public:
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    if (!verify())
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  bool verify() {
    ModuleOp module = getOperation();
    bool valid = true;
    for (auto function : module.getOps<func::FuncOp>()) {
      auto mesh = function->getAttrOfType<dist::MeshAttr>(kMeshAttr);
      if (!mesh)
        continue;
      switch (after) {
      case LoweringPhase::Matched:
        valid &= verifyMatched(function);
        break;
      case LoweringPhase::Step:
        valid &= verifyStep(function);
        break;
      case LoweringPhase::Propagated:
        valid &= verifyPropagated(function);
        break;
      case LoweringPhase::Collectives:
        valid &= verifyCollectives(function, mesh);
        break;
      case LoweringPhase::Programs:
      case LoweringPhase::Schedule:
        function.emitOpError("is not split into programs");
        valid = false;
        break;
      }
    }
    SmallVector<dist::ProgramOp> programs(module.getOps<dist::ProgramOp>());
    if (after == LoweringPhase::Programs)
      valid &= verifyPrograms(programs);
    if (after == LoweringPhase::Schedule)
      for (auto schedule : module.getOps<dist::ScheduleOp>())
        valid &= verifySchedule(schedule, programs);
    return valid;
  }
};
} // namespace
