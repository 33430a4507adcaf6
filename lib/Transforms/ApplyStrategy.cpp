//===- ApplyStrategy.cpp - a strategy tree from degrees ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PresetModel.h"
#include "PresetSplits.h"
#include "PresetStages.h"
#include "PresetTree.h"

#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Schedules.h"

namespace proteus {
#define GEN_PASS_DEF_APPLYSTRATEGY
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

static StringRef getTreeName(const ApplyStrategyOptions &options) {
  return StringRef(options.name).ltrim('@');
}

/// What the order of the stages asks of their numbers.
static LogicalResult checkSchedule(ModuleOp module,
                                   const ApplyStrategyOptions &options) {
  Location loc = module.getLoc();
  if (options.virtualStages > 1 && options.pipelineParallel == 1)
    return emitError(loc, "virtual-stages=")
           << options.virtualStages << " needs stages; set pp";
  const PipelineSchedule *rule =
      findSchedule(strategy::stringifyScheduleOrder(getScheduleOrder(options)));
  StageShape shape{0, options.pipelineParallel, options.virtualStages,
                   options.microBatches};
  if (std::optional<std::string> reason = rule->whyNot(shape))
    return emitError(loc, "schedule=")
           << rule->getName() << " does not fit: " << *reason;
  return success();
}

static LogicalResult checkOptions(ModuleOp module,
                                  const ApplyStrategyOptions &options) {
  Location loc = module.getLoc();
  std::pair<StringRef, int64_t> degrees[] = {
      {"dp", options.dataParallel},
      {"pp", options.pipelineParallel},
      {"cp", options.contextParallel},
      {"ep", options.expertParallel},
      {"tp", options.tensorParallel},
      {"micro-batches", options.microBatches},
      {"virtual-stages", options.virtualStages}};
  for (auto [option, degree] : degrees)
    if (degree < 1 || degree > strategy::maxMeshDevices)
      return emitError(loc)
             << option << "=" << degree << " must be between 1 and "
             << strategy::maxMeshDevices;
  int64_t devices = strategy::maxMeshDevices;
  for (int64_t degree :
       {options.dataParallel, options.pipelineParallel, options.contextParallel,
        options.expertParallel, options.tensorParallel})
    devices /= degree;
  if (devices == 0)
    return emitError(loc) << "dp=" << options.dataParallel
                          << ", pp=" << options.pipelineParallel
                          << ", cp=" << options.contextParallel
                          << ", ep=" << options.expertParallel
                          << " and tp=" << options.tensorParallel
                          << " need more than " << strategy::maxMeshDevices
                          << " devices; use smaller degrees";
  if (options.sequenceParallel && options.tensorParallel == 1)
    return emitError(loc, "sp=true splits sequences over the devices of tp; "
                          "set tp, or use cp");
  if (options.wholeExperts && options.tensorParallel == 1)
    return emitError(loc, "whole-experts=true places experts on the devices of "
                          "tp; set tp, or leave it out");
  if (options.keepGathered && !options.sequenceParallel)
    return emitError(loc, "keep-gathered is about inputs of linears whose "
                          "sequences are split; set sp=true, or leave it out");
  if (options.zeroGroup < 0 ||
      (options.zeroGroup > 0 && options.dataParallel % options.zeroGroup != 0))
    return emitError(loc) << "zero-group=" << options.zeroGroup
                          << " must divide dp=" << options.dataParallel
                          << "; use 0 for all of them";
  if (options.prefetch < -1)
    return emitError(loc) << "prefetch=" << options.prefetch
                          << " must be a number of layers, or -1 for the "
                             "default";
  bool isBetween =
      options.zero == ZeroStage::States || options.zero == ZeroStage::Gradients;
  if (options.overlapParameters && !isBetween)
    return emitError(loc,
                     "overlap-parameters=true gathers parameters that were "
                     "updated in parts; set zero=1 or zero=2, or leave it "
                     "out");
  if (options.overlapParameters &&
      (options.offloadWeight || !options.reshardAfterForward))
    return emitError(loc, "overlap-parameters=true keeps parameters on the "
                          "devices for the whole step; leave offload-weight "
                          "and reshard-after-forward out");
  if ((options.prefetch >= 0 || !options.reshardAfterForward) &&
      options.zero != ZeroStage::Parameters && !options.offloadWeight &&
      !options.overlapParameters)
    return emitError(loc, "prefetch and reshard-after-forward are about "
                          "parameters that are gathered before their use; set "
                          "zero=3 or offload-weight=true, or leave them out");
  if (options.chunks < 0 || options.chunks == 1)
    return emitError(loc) << "chunks=" << options.chunks
                          << " must be at least 2, or 0 for the default";
  if (options.chunks > 0 && options.tensorOverlap != TensorOverlap::Chunked)
    return emitError(loc) << "chunks=" << options.chunks
                          << " needs tensor-overlap=chunked";
  if (options.bucketSize < 0 || options.firstBucketSize < 0 ||
      options.gatherBucketSize < 0)
    return emitError(loc) << "sizes of buckets must not be negative, got "
                          << options.bucketSize << ", "
                          << options.firstBucketSize << " and "
                          << options.gatherBucketSize;
  if (options.allReduceGradients && options.zero != ZeroStage::States)
    return emitError(loc, "all-reduce-gradients is about whole gradients and "
                          "split states; set zero=1, or leave it out");
  if ((options.allReduceGradients || options.gatherBucketSize > 0) &&
      options.bucketSize == 0 && options.firstBucketSize == 0 &&
      !options.bucketPerLayer)
    return emitError(loc, "all-reduce-gradients and gather-bucket-size go with "
                          "buckets of gradients; set bucket-size");
  if (getTreeName(options).empty())
    return emitError(loc, "the tree needs a name; set name=@s");
  return checkSchedule(module, options);
}

/// Whether the name of the tree is free.
static LogicalResult checkName(ModuleOp module, StringRef name) {
  if (Operation *other = module.lookupSymbol(name)) {
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "the name @")
        << name << " is taken; choose another one with name=";
    diagnostic.attachNote(other->getLoc()) << "it is taken here";
    return diagnostic;
  }
  return success();
}

static LogicalResult applyStrategy(ModuleOp module,
                                   const ApplyStrategyOptions &options) {
  StringRef name = getTreeName(options);
  if (failed(checkOptions(module, options)))
    return failure();
  FailureOr<func::FuncOp> function =
      findModel(module, StringRef(options.model).ltrim('@'));
  if (failed(function) || failed(checkName(module, name)))
    return failure();
  PresetModel model(*function);
  if (failed(model.examine(options)))
    return failure();
  PresetSplits splits(model, options);
  if (failed(splits.decide()))
    return failure();
  FailureOr<PresetStages> stages = planStages(model, options);
  if (failed(stages))
    return failure();
  writePresetTree(model, splits, *stages, options, name);
  return success();
}

namespace {
class ApplyStrategy : public proteus::impl::ApplyStrategyBase<ApplyStrategy> {
public:
  using ApplyStrategyBase::ApplyStrategyBase;
  void runOnOperation() override {
    ApplyStrategyOptions options{model,
                                 name,
                                 dataParallel,
                                 tensorParallel,
                                 sequenceParallel,
                                 contextParallel,
                                 contextKind,
                                 expertParallel,
                                 wholeExperts,
                                 pipelineParallel,
                                 stagesOutermost,
                                 microBatches,
                                 schedule,
                                 virtualStages,
                                 recompute,
                                 zero,
                                 zeroGroup,
                                 prefetch,
                                 reshardAfterForward,
                                 offloadWeight,
                                 offloadState,
                                 offloadActivation,
                                 bucketSize,
                                 firstBucketSize,
                                 placeTables,
                                 bucketPerLayer,
                                 gatherBucketSize,
                                 allReduceGradients,
                                 overlapParameters,
                                 tensorOverlap,
                                 chunks,
                                 overlapMessages,
                                 scatterMessages,
                                 stagePartition,
                                 keepGathered};
    if (failed(applyStrategy(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
