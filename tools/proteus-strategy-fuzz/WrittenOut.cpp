//===- WrittenOut.cpp - comparison with layers written out ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrittenOut.h"

#include "Proteus/Dialect/Dist/Dist.h"
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
/// Work of one task, without its name. The last number is the entry of
/// `lengthsOf`.
using Work =
    std::tuple<std::string, sim::Stream, sim::Phase, cost::Time, cost::Time,
               std::string, int64_t, cost::Time, int64_t, size_t>;

/// A kernel of a program: its path, its name, and the types of its operands and
/// results, which contain their layouts.
using Kernel = std::tuple<std::string, std::string, std::vector<const void *>>;

/// A simulated step: the kernels of every section of every program and the work
/// of every section of every class, both sorted, and the time of the step.
struct Step {
  std::vector<std::vector<Kernel>> kernels;
  std::vector<std::vector<Work>> sections;
  int64_t time;
};
} // namespace

/// Adds the kernels of `block` to `kernels`, those of a repeat once per
/// iteration. `prefix` is the path of the iteration that contains the block.
static void addKernels(Block &block, const std::string &prefix,
                       std::vector<Kernel> &kernels) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      for (uint64_t i = 0; i < repeat.getCount(); ++i)
        addKernels(repeat.getBody().front(),
                   prefix + repeat.getPath().str() + "[" +
                       std::to_string(repeat.getFirst() + i) + "].",
                   kernels);
      continue;
    }
    if (auto recompute = dyn_cast<nn::RecomputeOp>(op)) {
      addKernels(recompute.getBody().front(), prefix, kernels);
      continue;
    }
    // A fill with zero may only start a sum over iterations. A total reads the
    // numbers of all iterations as one stack.
    if (!isa<nn::IterationSpaceOpInterface>(op) ||
        isa<nn::FillOp, nn::TotalOp>(op))
      continue;
    std::vector<const void *> types;
    for (Type type : op.getOperandTypes())
      types.push_back(type.getAsOpaquePointer());
    for (Type type : op.getResultTypes())
      types.push_back(type.getAsOpaquePointer());
    kernels.push_back({prefix + nn::getOwnPath(&op),
                       op.getName().getStringRef().str(), std::move(types)});
  }
}

/// Returns the length of the communication of the same section that each task
/// reads: of a communication, the number of communications from the last kernel
/// to it; of a kernel, the sum over its operands. A written-out layer that
/// reads a value before it is gathered, or that saves a gathered value, reads
/// less than a repeat, which carries and saves a value in one layout.
static std::vector<size_t> lengthsOf(const sim::Template &part) {
  std::vector<size_t> lengths(part.tasks.size(), 0);
  auto isKernel = [](const sim::Task &task) {
    return task.stream == sim::Stream::Compute;
  };
  for (size_t s = 0; s + 1 < part.sectionBegin.size(); ++s)
    for (size_t i = part.sectionBegin[s]; i < part.sectionBegin[s + 1]; ++i) {
      const sim::Task &task = part.tasks[i];
      if (!isKernel(task))
        lengths[i] = 1;
      for (uint32_t dependency : task.dependsOn) {
        if (dependency < part.sectionBegin[s] ||
            isKernel(part.tasks[dependency]))
          continue;
        lengths[i] = isKernel(task)
                         ? lengths[i] + lengths[dependency]
                         : std::max(lengths[i], lengths[dependency] + 1);
      }
    }
  return lengths;
}

static Work workOf(const sim::Workload &workload, const sim::Task &task,
                   size_t length) {
  Work work(workload.labels[task.opKind], task.stream, task.phase,
            task.duration, task.launch, "", 0, 0, 0, length);
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
  std::vector<size_t> lengths = lengthsOf(part);
  for (size_t s = 0; s + 1 < part.sectionBegin.size(); ++s) {
    std::vector<Work> section;
    for (size_t i = part.sectionBegin[s]; i < part.sectionBegin[s + 1]; ++i)
      section.push_back(workOf(workload, part.tasks[i], lengths[i]));
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
  for (auto program : module.getOps<dist::ProgramOp>())
    for (dist::SectionOp section : program.getSections()) {
      std::vector<Kernel> kernels;
      addKernels(section.getBody().front(), "", kernels);
      std::sort(kernels.begin(), kernels.end());
      step.kernels.push_back(std::move(kernels));
    }
  return step;
}

std::optional<Forms> proteus::fuzz::simulateForms(MLIRContext &context,
                                                  const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module->walk([](nn::RepeatOp) { return WalkResult::interrupt(); })
           .wasInterrupted())
    return std::nullopt;
  OwningOpRef<ModuleOp> copy = module->clone();
  std::optional<Step> repeated = simulate(*module, /*writeOut=*/false);
  std::optional<Step> writtenOut = simulate(*copy, /*writeOut=*/true);
  if (!repeated || !writtenOut)
    return std::nullopt;
  return Forms{repeated->kernels == writtenOut->kernels &&
                   repeated->sections == writtenOut->sections,
               repeated->time, writtenOut->time};
}
