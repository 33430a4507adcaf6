//===- VerifyPhase.cpp - postconditions of the phases -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Partitioning.h"
#include "Proteus/Transforms/Verify/Passes.h"
#include "Proteus/Transforms/Verify/VerifyPrograms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <set>

namespace proteus {
#define GEN_PASS_DEF_VERIFYPHASE
#include "Proteus/Transforms/Verify/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Checks the postcondition of match-strategy. Returns true if every argument
/// has a role and, with a pipeline, every operation with an iteration space has
/// a stage.
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

/// Checks the postcondition of build-training-step. Returns true if every
/// parameter is updated and every operation with an iteration space has a
/// phase, or if the model is not trained.
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

/// Checks the postcondition of propagate-strategy. Returns true if every
/// argument has a layout and every operation with an iteration space has a
/// partition.
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

/// Returns the kind of reduction that may be pending in the operands of `op`
/// and stay pending in its results, or nullopt if none may. For a linear
/// operation, this is a sum. For an nn.total, it is the reduction that the
/// nn.total computes.
static std::optional<dist::ReductionKind>
passedReduction(IterationSpaceOpInterface op) {
  if (auto total = dyn_cast<nn::TotalOp>(op.getOperation()))
    return total.getMax() ? dist::ReductionKind::Max : dist::ReductionKind::Sum;
  return op.isLinear() ? std::optional(dist::ReductionKind::Sum) : std::nullopt;
}

/// Returns true if two layouts are equal, except for fixed coordinates and for
/// pending reductions of the kind `passed`.
static bool sameUpToPassed(dist::LayoutAttr actual, dist::LayoutAttr expected,
                           std::optional<dist::ReductionKind> passed) {
  dist::Layout a = actual.getValue(), b = expected.getValue();
  a.fixed.clear();
  b.fixed.clear();
  if (passed)
    for (dist::AxisList *axes :
         {&a.getPartial(*passed), &b.getPartial(*passed)})
      axes->clear();
  return a == b;
}

/// Checks the postcondition of insert-collectives. Returns true if every
/// operand has the layout that the partition of its operation requires, and
/// every result has the layout that the partition gives it.
static bool verifyCollectives(func::FuncOp function, dist::MeshAttr mesh) {
  bool valid = true;
  InitialValues initialValues(function);
  function.walk([&](IterationSpaceOpInterface op) {
    Partitioning part = Partitioning::fromAnnotation(op, mesh.getValue());
    auto check = [&](Value value, dist::LayoutAttr expected, StringRef what,
                     unsigned number) {
      dist::LayoutAttr layout = dist::getLayout(value.getType());
      if (layout && sameUpToPassed(layout, expected, passedReduction(op)))
        return;
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << what << " " << number;
      if (layout)
        diagnostic << " has layout " << layout << ", expected " << expected;
      else
        diagnostic << " has no layout";
      valid = false;
    };
    // Skip operations that produce initial values, because these can have any
    // layout. Skip destination operands, because the verifier of the operation
    // checks that a destination has the type of the result that is computed
    // into it.
    auto destinations =
        dyn_cast<DestinationStyleOpInterface>(op.getOperation());
    if (op->getNumResults() > 0 && initialValues.contains(op->getResult(0)))
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
        valid &= verifySchedule(schedule);
    return valid;
  }
};
} // namespace
