//===- ApplyStrategy.cpp - a strategy tree from degrees ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelShape.h"
#include "SplitPlan.h"
#include "StagePlan.h"
#include "WriteTree.h"

#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Transforms/Apply/Passes.h"
#include "Proteus/Transforms/Common/Schedules.h"

namespace proteus {
#define GEN_PASS_DEF_APPLYSTRATEGY
#include "Proteus/Transforms/Apply/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

/// Fails if the degrees need more devices than a mesh may have, or do not fit
/// each other. For example, `ep` must divide `dp`.
static LogicalResult checkDegrees(Location loc,
                                  const plan::ResolvedPlan &plan) {
  int64_t devices = dist::maxMeshDevices;
  for (int64_t degree : {plan.dp, plan.pp, plan.cp, plan.tp})
    devices /= degree;
  if (devices == 0)
    return emitError(loc) << "dp=" << plan.dp << ", pp=" << plan.pp
                          << ", cp=" << plan.cp << " and tp=" << plan.tp
                          << " need more than " << dist::maxMeshDevices
                          << " devices; use smaller degrees";
  if (plan.etp && *plan.etp != 1 && *plan.etp != plan.tp)
    return emitError(loc) << "etp=" << *plan.etp
                          << ": an expert is cut into tp=" << plan.tp
                          << " parts or left whole; use etp=1, or leave it out";
  if (plan.hasWholeExperts() && plan.ep % plan.tp != 0)
    return emitError(loc) << "ep=" << plan.ep
                          << " counts the devices of tp too where etp=1; use a "
                             "multiple of tp="
                          << plan.tp << ", or leave etp out";
  if (plan.dp % plan.expertRanks() != 0)
    return emitError(loc) << "ep=" << plan.ep << " needs " << plan.expertRanks()
                          << " data-parallel devices for experts, which does "
                             "not divide dp="
                          << plan.dp;
  if (plan.zeroGroup && plan.dataReplicas() % *plan.zeroGroup != 0)
    return emitError(loc) << "zero-group=" << *plan.zeroGroup
                          << " must divide dp=" << plan.dataReplicas()
                          << "; leave it out to shard over all of them";
  return success();
}

/// Fails if the schedule does not fit the number of stages or micro-batches.
static LogicalResult checkSchedule(Location loc,
                                   const plan::ResolvedPlan &plan) {
  if (plan.virtualStages > 1 && plan.pp == 1)
    return emitError(loc, "virtual-stages=")
           << plan.virtualStages << " needs stages; set pp";
  const PipelineSchedule &rule = getSchedule(plan.scheduleOrder());
  StageShape shape{0, plan.pp, plan.virtualStages, plan.accumulation};
  if (std::optional<std::string> reason = rule.whyNot(shape))
    return emitError(loc, "schedule=")
           << plan::stringifyScheduleOrder(plan.scheduleOrder())
           << " does not fit: " << *reason;
  return success();
}

/// Fails if a setting of storage or of sequence parallelism has no effect, or
/// contradicts another setting.
static LogicalResult checkStorage(Location loc,
                                  const plan::ResolvedPlan &plan) {
  if (plan.sequenceParallel && plan.tp == 1)
    return emitError(loc, "sp=true splits sequences over the devices of tp; "
                          "set tp, or use cp");
  if (plan.keepGathered && !plan.sequenceParallel)
    return emitError(loc, "keep-gathered applies to inputs of linears whose "
                          "sequences are split; set sp=true, or leave it out");
  bool isBetween = plan.zero == plan::ZeroStage::States ||
                   plan.zero == plan::ZeroStage::Gradients;
  if (plan.overlapParameters && !isBetween)
    return emitError(loc,
                     "overlap-parameters=true gathers parameters that were "
                     "updated in parts; set zero=1 or zero=2, or leave it "
                     "out");
  if (plan.overlapParameters &&
      (plan.offloadWeight || !plan.reshardAfterForward))
    return emitError(loc, "overlap-parameters=true keeps parameters on the "
                          "devices for the whole step; leave offload-weight "
                          "and reshard-after-forward out");
  if ((plan.prefetch || !plan.reshardAfterForward) &&
      plan.zero != plan::ZeroStage::Parameters && !plan.offloadWeight &&
      !plan.overlapParameters)
    return emitError(loc, "prefetch and reshard-after-forward apply to "
                          "parameters that are gathered before their use; set "
                          "zero=3 or offload-weight=true, or leave them out");
  return success();
}

/// Fails if settings of gradients or overlap contradict each other.
static LogicalResult checkSettings(Location loc, const plan::ParallelPlan &plan,
                                   const plan::ResolvedPlan &resolved) {
  if (resolved.overlapChunks &&
      resolved.tensorOverlap != plan::TensorOverlap::Chunked)
    return emitError(loc) << "chunks=" << *resolved.overlapChunks
                          << " needs tensor-overlap="
                          << plan::stringifyEnum(plan::TensorOverlap::Chunked);
  if (resolved.allReduceGradients && resolved.zero != plan::ZeroStage::States)
    return emitError(loc, "all-reduce-gradients applies to whole gradients and "
                          "split states; set zero=1, or leave it out");
  if (resolved.allReduceGradients && plan.gradientReduction &&
      *plan.gradientReduction != plan::GradientReduction::AfterBackward)
    return emitError(loc) << "all-reduce-gradients sums whole gradients after "
                             "the backward pass, but gradient-reduction="
                          << plan::stringifyEnum(*plan.gradientReduction)
                          << "; leave one of them out";
  if (resolved.gradientReduction == plan::GradientReduction::PerParameter &&
      (resolved.bucketSize || resolved.firstBucketSize || resolved.bucketRule))
    return emitError(loc) << "gradient-reduction="
                          << plan::stringifyEnum(resolved.gradientReduction)
                          << " has no buckets; leave bucket-rule, bucket-size "
                             "and first-bucket-size out";
  if (resolved.gatherPerParameter && resolved.gatherBucketSize)
    return emitError(loc, "gather-per-parameter has no buckets; leave "
                          "gather-bucket-size out");
  return success();
}

/// Fails if the name of the tree is empty or in use.
static LogicalResult checkName(ModuleOp module, StringRef name) {
  if (name.empty())
    return emitError(module.getLoc(), "the tree needs a name; set name=@s");
  if (Operation *other = module.lookupSymbol(name)) {
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "the name @")
        << name << " is taken; choose another one with name=";
    diagnostic.attachNote(other->getLoc()) << "it is taken here";
    return diagnostic;
  }
  return success();
}

static LogicalResult applyStrategy(ModuleOp module, StringRef modelName,
                                   StringRef treeName,
                                   const plan::ParallelPlan &plan) {
  Location loc = module.getLoc();
  plan::ResolvedPlan resolved = plan::resolve(plan);
  if (failed(checkDegrees(loc, resolved)) ||
      failed(checkStorage(loc, resolved)) ||
      failed(checkSettings(loc, plan, resolved)) ||
      failed(checkSchedule(loc, resolved)) ||
      failed(checkName(module, treeName)))
    return failure();
  FailureOr<func::FuncOp> function = findModel(module, modelName.ltrim('@'));
  if (failed(function))
    return failure();
  ModelShape model(*function);
  if (failed(model.examine(resolved)))
    return failure();
  SplitPlan splits(model, resolved);
  if (failed(splits.decide()))
    return failure();
  FailureOr<StagePlan> stages = planStages(model, resolved);
  if (failed(stages))
    return failure();
  writeTree(model, splits, *stages, plan, treeName);
  return success();
}

namespace {
class ApplyStrategy : public proteus::impl::ApplyStrategyBase<ApplyStrategy> {
public:
  explicit ApplyStrategy(const plan::ParallelPlan &plan = {}) {
    registerOptions();
    for (auto &[field, option] : planOptions)
      option->setValue(field->get(plan).value_or(""));
  }
  // A copy of a pass needs options of its own; MLIR copies their values.
  ApplyStrategy(const ApplyStrategy &other) : ApplyStrategyBase(other) {
    registerOptions();
  }

  void runOnOperation() override {
    plan::ParallelPlan plan;
    for (auto &[field, option] : planOptions) {
      if (option->getValue().empty())
        continue;
      if (llvm::Error error = field->set(plan, option->getValue())) {
        emitError(getOperation().getLoc(), field->option)
            << "=" << option->getValue() << ": "
            << llvm::toString(std::move(error));
        return signalPassFailure();
      }
    }
    if (failed(applyStrategy(getOperation(), model, StringRef(name).ltrim('@'),
                             plan)))
      signalPassFailure();
  }

private:
  /// Adds an option to the pass for every field of a plan that has an option
  /// name.
  void registerOptions() {
    for (const plan::Field &field : plan::fields())
      if (!field.option.empty())
        planOptions.emplace_back(
            &field, std::make_unique<Option<std::string>>(
                        *this, field.option, llvm::cl::desc(field.help)));
  }

  std::vector<
      std::pair<const plan::Field *, std::unique_ptr<Option<std::string>>>>
      planOptions;
};
} // namespace

std::unique_ptr<Pass>
proteus::createApplyStrategy(const plan::ParallelPlan &plan) {
  return std::make_unique<ApplyStrategy>(plan);
}
