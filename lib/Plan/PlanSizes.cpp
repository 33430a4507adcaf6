//===- PlanSizes.cpp - devices and batches of a plan ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanSizes.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace proteus::plan;

Expected<Sizes> proteus::plan::sizesOf(const ParallelPlan &plan,
                                       std::optional<int64_t> gpus,
                                       std::optional<int64_t> globalBatch,
                                       std::optional<int64_t> clusterGPUs) {
  ResolvedPlan s = resolve(plan);
  Sizes sizes;
  // Each degree is at most maxDegree, but the product may be larger.
  if (s.tp > maxDegree / s.pp || s.tp * s.pp > maxDegree / s.cp)
    return createStringError("tp * pp * cp is more than " + Twine(maxDegree) +
                             " devices; choose smaller degrees");
  int64_t inner = s.tp * s.pp * s.cp;
  if (gpus)
    sizes.gpus = *gpus;
  else if (plan.dp)
    sizes.gpus = s.dp > maxDegree / inner ? maxDegree + 1 : s.dp * inner;
  else
    sizes.gpus = clusterGPUs.value_or(inner);
  if (sizes.gpus > maxDegree)
    return createStringError("tp * pp * cp * dp is more than " +
                             Twine(maxDegree) +
                             " devices; choose smaller degrees");
  std::string degrees = "tp * pp * cp = " + std::to_string(s.tp) + " * " +
                        std::to_string(s.pp) + " * " + std::to_string(s.cp) +
                        " = " + std::to_string(inner);
  if (sizes.gpus % inner != 0) {
    int64_t below = sizes.gpus / inner * inner;
    return createStringError(degrees + " does not divide the " +
                             Twine(sizes.gpus) + " GPUs; use --gpus " +
                             (below ? Twine(below) + " or " : Twine("")) +
                             Twine(below + inner) + ", or other degrees");
  }
  sizes.dp = sizes.gpus / inner;
  if (plan.dp && s.dp != sizes.dp)
    return createStringError(degrees + " leaves dp = " + Twine(sizes.dp) +
                             " of the " + Twine(sizes.gpus) +
                             " GPUs, but --dp is " + Twine(s.dp) +
                             "; leave --dp or --gpus out");
  if (s.etp && *s.etp != 1 && *s.etp != s.tp)
    return createStringError("etp = " + Twine(*s.etp) +
                             ": an expert is cut into tp = " + Twine(s.tp) +
                             " parts or left whole; use --etp 1, or leave it "
                             "out");
  if (s.hasWholeExperts() && s.ep % s.tp != 0)
    return createStringError("ep = " + Twine(s.ep) +
                             " counts the devices of tp too where etp is 1; "
                             "use a multiple of tp = " +
                             Twine(s.tp) + ", or leave --etp out");
  if (sizes.dp % s.expertRanks() != 0)
    return createStringError(
        "ep = " + Twine(s.ep) +
        (s.hasWholeExperts() ? " / tp = " + std::to_string(s.expertRanks())
                             : "") +
        " does not divide the data parallel degree " + Twine(sizes.dp) + " (" +
        Twine(sizes.gpus) + " GPUs / " + Twine(inner) + ")" +
        (s.hasWholeExperts() || s.tp == 1 || s.ep % s.tp != 0 ||
                 sizes.dp % (s.ep / s.tp) != 0
             ? ""
             : "; use --etp 1 for whole experts on the devices of tp"));
  if (s.virtualStages > 1 && s.pp == 1)
    return createStringError("--vpp " + Twine(s.virtualStages) +
                             " needs a pipeline: set --pp");

  // Samples in one micro-batch of all data-parallel ranks together.
  int64_t perStep = s.microBatch * sizes.dp;
  if (!globalBatch) {
    sizes.microBatches = s.accumulation;
    if (perStep > maxBatch / sizes.microBatches)
      return createStringError("a step has more than " + Twine(maxBatch) +
                               " samples; choose a smaller micro-batch");
    sizes.globalBatch = perStep * sizes.microBatches;
    return sizes;
  }
  sizes.globalBatch = *globalBatch;
  if (sizes.globalBatch % perStep != 0) {
    int64_t below = sizes.globalBatch / perStep * perStep;
    return createStringError(
        "micro-batch * dp = " + Twine(s.microBatch) + " * " + Twine(sizes.dp) +
        " = " + Twine(perStep) + " does not divide the global batch of " +
        Twine(sizes.globalBatch) + "; use --global-batch " +
        (below ? Twine(below) + " or " : Twine("")) + Twine(below + perStep));
  }
  sizes.microBatches = sizes.globalBatch / perStep;
  if (plan.accumulation && s.accumulation != sizes.microBatches)
    return createStringError("a global batch of " + Twine(sizes.globalBatch) +
                             " makes " + Twine(sizes.microBatches) +
                             " micro-batches of " + Twine(s.microBatch) +
                             " samples on " + Twine(sizes.dp) +
                             " data parallel ranks, but --accumulation is " +
                             Twine(s.accumulation) + "; leave one of them out");
  return sizes;
}
