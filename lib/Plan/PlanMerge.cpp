//===- PlanMerge.cpp - fill a plan from a stack ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanMerge.h"

#include "Proteus/Plan/PlanFields.h"

using namespace proteus::plan;

std::string StackPlan::label() const {
  std::string text = plan == ParallelPlan() ? "" : plan.label();
  if (zeroPerParameter)
    text += std::string(text.empty() ? "" : " ") + "zero_one_by_one=true";
  return text;
}

/// Returns the decisions of `stack` that have an effect on a job with the plan
/// `stated`. Adds a remark for each decision that is not modelled.
static ParallelPlan applicable(const ParallelPlan &stated,
                               const StackPlan &stack, llvm::StringRef name,
                               std::vector<std::string> &remarks) {
  ResolvedPlan job = resolve(stated);
  ParallelPlan overlay = stack.plan;
  // Only ZeRO 1 and 2 gather all parameters after the update.
  if (job.zero != ZeroStage::States && job.zero != ZeroStage::Gradients)
    overlay.overlapParameters.reset();
  // Gradients can be all-reduced as a whole only with ZeRO 1, and only after
  // the backward pass.
  if (job.zero != ZeroStage::States ||
      stated.gradientReduction == GradientReduction::Overlapped)
    overlay.allReduceGradients.reset();
  bool reducesWhole =
      stated.allReduceGradients.value_or(overlay.allReduceGradients == true);
  if (reducesWhole)
    overlay.gradientReduction = GradientReduction::AfterBackward;
  if (stack.zeroPerParameter && job.zero != ZeroStage::None) {
    bool hasSizes = stated.bucketSize || stated.firstBucketSize;
    if (reducesWhole)
      overlay.gatherPerParameter = !stated.gatherBucketSize;
    else if (!overlay.gradientReduction && !hasSizes)
      overlay.gradientReduction = GradientReduction::PerParameter;
  }
  if (overlay.stagePartition == StagePartition::Work && job.virtualStages > 1 &&
      !stated.stagePartition) {
    overlay.stagePartition.reset();
    remarks.push_back("stack '" + name.str() +
                      "' balances stages by work, which is not modelled for "
                      "chunks of stages: they have equally many layers here");
  }
  // Only sequence parallelism gathers activations.
  if (!job.sequenceParallel || job.tp == 1)
    overlay.keepGathered.reset();
  return overlay;
}

CompletedPlan proteus::plan::complete(const ParallelPlan &stated,
                                      const StackPlan &stack,
                                      llvm::StringRef stackName) {
  CompletedPlan completed;
  completed.plan = stated;
  ParallelPlan overlay =
      applicable(stated, stack, stackName, completed.remarks);
  for (const Field &field : fields()) {
    std::optional<std::string> value = field.get(overlay);
    if (!value || field.get(stated))
      continue;
    llvm::cantFail(field.set(completed.plan, *value));
    completed.fromStack.push_back(&field);
  }
  return completed;
}
