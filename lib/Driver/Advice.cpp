//===- Advice.cpp - costs of a step and remedies --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Advice.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

/// Returns a remedy for exposed communication of the given kind, for example
/// "all_reduce over tp". The axes after "over" determine the remedy.
static std::string remedyFor(StringRef kind, const Job &job) {
  StringRef axes = kind.split(" over ").second;
  if (axes.contains("tp"))
    return job.plan.sequenceParallel.value_or(false)
               ? "a smaller tp, kept within a node"
               : "a smaller tp, kept within a node; --sequence-parallel moves "
                 "the same bytes but saves memory for a smaller tp";
  if (axes.contains("ep"))
    return "a smaller ep, or ep within a node";
  if (axes.contains("cp"))
    return "a smaller cp, or --cp-kind ring";
  if (axes.contains("dp"))
    return job.plan.zero == plan::ZeroStage::Parameters
               ? "a larger micro-batch, --zero 1, or --prefetch"
               : "more micro-batches per step, or a larger global batch";
  return "a faster network, or fewer devices";
}

std::vector<Cost> proteus::driver::costsOf(const Job &job,
                                           const Outcome &outcome) {
  const sim::ClassResult &slowest =
      outcome.result.classes[outcome.result.slowestClass()];
  double total = cost::toSeconds(outcome.result.run.iterationTime);
  std::vector<Cost> costs;
  auto add = [&](StringRef what, sim::Time time, StringRef remedy) {
    double seconds = cost::toSeconds(time);
    if (seconds > 0 && total > 0)
      costs.push_back({what.str(), seconds, seconds / total, remedy.str()});
  };
  const sim::Breakdown &parts = slowest.breakdown;
  for (const sim::ExposedCommunication &row : slowest.exposedByKind)
    add(row.kind, row.time, remedyFor(row.kind, job));
  add("pipeline bubble", parts.bubble,
      job.plan.pp.value_or(1) == 1
          ? "equal work for all devices"
          : "more micro-batches (a smaller --micro-batch or a larger "
            "--global-batch), --vpp 2, or --schedule zero-bubble");
  add("pipeline transfers", parts.exposedPipeline,
      "fewer stages, or more micro-batches");
  add("recomputation", parts.recompute,
      "--recompute selective or none, as far as memory allows");
  add("optimizer", parts.optimizer,
      job.plan.zero.value_or(plan::ZeroStage::None) == plan::ZeroStage::None
          ? "--zero 1: every rank updates its share"
          : "a larger global batch: fewer updates");
  add("host launches", parts.host,
      "a larger --micro-batch: kernels are shorter than their launches");
  llvm::sort(costs, [](const Cost &a, const Cost &b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
  return costs;
}

std::vector<plan::ParallelPlan>
proteus::driver::smallerPlans(const Job &job, const Outcome &outcome) {
  std::vector<plan::ParallelPlan> result;
  auto propose = [&](auto change) {
    plan::ParallelPlan one = job.plan;
    change(one);
    result.push_back(one);
  };
  for (const sim::MemoryKnob &knob : outcome.figures.memory.knobs) {
    StringRef name = knob.name;
    if (name.consume_front("zero_")) {
      int64_t stage = 0;
      if (!name.getAsInteger(10, stage))
        propose([&](plan::ParallelPlan &p) {
          p.zero = static_cast<plan::ZeroStage>(stage);
        });
    } else if (name == "recompute") {
      propose(
          [](plan::ParallelPlan &p) { p.recompute = plan::Recompute::Full; });
    } else if (name == "tensor_parallel") {
      propose([](plan::ParallelPlan &p) {
        p.tp = p.tp.value_or(1) * 2;
        p.dp.reset();
      });
    } else if (name == "pipeline_parallel") {
      propose([](plan::ParallelPlan &p) {
        p.pp = p.pp.value_or(1) * 2;
        p.dp.reset();
      });
    } else if (name == "micro_batch" &&
               job.plan.microBatch.value_or(1) % 2 == 0) {
      propose([](plan::ParallelPlan &p) {
        p.microBatch = *p.microBatch / 2;
        p.accumulation.reset();
      });
    } else if (name == "offload_optimizer") {
      propose([](plan::ParallelPlan &p) { p.offloadState = true; });
    }
  }
  // Also combine ZeRO with full recomputation, because each of them alone may
  // not free enough memory.
  plan::ParallelPlan all = job.plan;
  if (all.zero.value_or(plan::ZeroStage::None) == plan::ZeroStage::None)
    all.zero = plan::ZeroStage::States;
  all.recompute = plan::Recompute::Full;
  result.push_back(all);
  all.zero = plan::ZeroStage::Parameters;
  if (all.pp.value_or(1) == 1)
    result.push_back(all);
  return result;
}
