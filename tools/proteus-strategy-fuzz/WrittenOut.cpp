//===- WrittenOut.cpp - comparison with layers written out ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrittenOut.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Sim/Simulation.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <tuple>
#include <vector>

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;

namespace {
/// Work of one task, without its name.
using Work = std::tuple<std::string, sim::Stream, sim::Phase, cost::Time,
                        cost::Time, std::string, int64_t, cost::Time, int64_t>;

/// A simulated step: the work of every section of every class, sorted, and the
/// time of the step.
struct Step {
  std::vector<std::vector<Work>> sections;
  int64_t time;
};
} // namespace

static Work workOf(const sim::Workload &workload, const sim::Task &task) {
  Work work(workload.labels[task.opKind], task.stream, task.phase,
            task.duration, task.launch, "", 0, 0, 0);
  if (task.collective >= 0) {
    const sim::Collective &collective = workload.collectives[task.collective];
    std::get<5>(work) = collective.kindAndAxes();
    std::get<6>(work) = collective.bytes;
    std::get<7>(work) = collective.flow.latency;
    std::get<8>(work) = collective.flow.volume;
  }
  return work;
}

static void addSections(const sim::Workload &workload,
                        const sim::Template &part, Step &step) {
  for (size_t s = 0; s + 1 < part.sectionBegin.size(); ++s) {
    std::vector<Work> section;
    for (size_t i = part.sectionBegin[s]; i < part.sectionBegin[s + 1]; ++i)
      section.push_back(workOf(workload, part.tasks[i]));
    std::sort(section.begin(), section.end());
    step.sections.push_back(std::move(section));
  }
}

static std::optional<Step> simulate(ModuleOp module, bool writeOut) {
  Step step;
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (writeOut)
    manager.addNestedPass<func::FuncOp>(createUnrollRepeats());
  buildLowerStrategyPipeline(manager, LowerStrategyOptions());
  manager.addPass(createSimulate(
      {}, [&](const sim::Workload &workload, const sim::SimulationResult &run) {
        for (const sim::DeviceClass &device : workload.classes)
          for (const sim::Template *part : {&device.micro, &device.once})
            addSections(workload, *part, step);
        step.time = run.run.iterationTime;
      }));
  if (failed(manager.run(module)))
    return std::nullopt;
  return step;
}

std::optional<FormTimes> proteus::fuzz::compareForms(MLIRContext &context,
                                                     const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module->walk([](nn::RepeatOp) { return WalkResult::interrupt(); })
           .wasInterrupted())
    return std::nullopt;
  OwningOpRef<ModuleOp> copy = module->clone();
  std::optional<Step> repeated = simulate(*module, /*writeOut=*/false);
  std::optional<Step> writtenOut = simulate(*copy, /*writeOut=*/true);
  if (!repeated || !writtenOut || repeated->sections != writtenOut->sections)
    return std::nullopt;
  return FormTimes{repeated->time, writtenOut->time};
}
