//===- Simulate.cpp - run the engine and annotate the module ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulateRemarks.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Sim/ChromeTrace.h"
#include "Proteus/Sim/Report.h"
#include "Proteus/Sim/Summary.h"
#include "Proteus/Support/File.h"
#include "Proteus/Transforms/BuildWorkload.h"
#include "Proteus/Transforms/ClusterAttr.h"
#include "Proteus/Transforms/SimulateOn.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace proteus {
#define GEN_PASS_DEF_SIMULATE
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

/// More is a mistake, and times must stay countable.
static constexpr double maxOverlapFactor = 100;

namespace {
class Simulate : public proteus::impl::SimulateBase<Simulate> {
public:
  using SimulateBase::SimulateBase;
  Simulate(SimulateOptions options, SimulationObserver observer,
           std::shared_ptr<const Machine> known)
      : SimulateBase(std::move(options)), observer(std::move(observer)),
        known(std::move(known)) {}

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  SimulationObserver observer;
  std::shared_ptr<const Machine> known;

  LogicalResult run();
  FailureOr<std::shared_ptr<const Machine>> findMachine();
  LogicalResult setMemoryModel(sim::Workload &workload);
  void annotate(const sim::Figures &figures);
};
} // namespace

void Simulate::annotate(const sim::Figures &figures) {
  ModuleOp module = getOperation();
  Builder builder(&getContext());
  module->setAttr(ProteusDialect::iterationTimeAttrName,
                  builder.getF64FloatAttr(figures.iterationSeconds * 1e3));
  module->setAttr(
      ProteusDialect::samplesPerSecondAttrName,
      builder.getF64FloatAttr(figures.samplesPerSecond.value_or(0)));
  module->setAttr(ProteusDialect::peakMemoryAttrName,
                  builder.getF64FloatAttr(
                      static_cast<double>(figures.peakMemoryBytes) / 1e6));
  module->setAttr(ProteusDialect::fitsAttrName,
                  builder.getBoolAttr(figures.memory.fits()));
}

LogicalResult Simulate::setMemoryModel(sim::Workload &workload) {
  // Beyond these the figure is a slip of a unit.
  constexpr double maxChannelMiB = 1 << 20;
  constexpr int64_t maxChannels = 1 << 20;
  if (!(channelMiB >= 0 && channelMiB <= maxChannelMiB))
    return emitError(getOperation().getLoc(), "channel-mib must be from 0 to ")
           << maxChannelMiB << ", got " << channelMiB;
  sim::MemoryModel &memory = workload.memory;
  memory.channelBytes = static_cast<int64_t>(channelMiB * (1 << 20));
  struct Count {
    StringRef option;
    int64_t value;
    int64_t &target;
  };
  const Count counts[] = {
      {"channels", channels, memory.communicatorChannels},
      {"exchange-channels", exchangeChannels, memory.exchangeChannels},
      {"message-channels", messageChannels, memory.messageChannels}};
  for (const Count &count : counts) {
    if (count.value < 0 || count.value > maxChannels)
      return emitError(getOperation().getLoc(), count.option)
             << " must be from 0 to " << maxChannels << ", got " << count.value;
    count.target = count.value;
  }
  if (!bucketCopies)
    return success();
  for (sim::DeviceClass &device : workload.classes)
    for (const sim::Task &task : device.micro.tasks)
      if (task.bucket >= 0) {
        const sim::Bucket &bucket = workload.buckets[task.bucket];
        device.resident.push_back(
            {bucket.name, bucket.bytes, sim::MemoryOwner::GradientBuckets});
      }
  return success();
}

/// The machine that is known already, or that of the module's cluster.
FailureOr<std::shared_ptr<const Machine>> Simulate::findMachine() {
  if (known)
    return known;
  ModuleOp module = getOperation();
  FailureOr<machine::Cluster> cluster = resolveCluster(module, this->cluster);
  if (failed(cluster))
    return failure();
  for (const machine::NodeKind &kind : cluster->kinds)
    for (const std::string &remark : kind.graph.remarks)
      emitRemark(module.getLoc(), remark);
  if (tf32)
    for (machine::Device &device : cluster->devices)
      device.useTF32();
  llvm::Expected<Machine> machine =
      createMachine(std::move(*cluster), fidelity);
  if (!machine)
    return emitError(module.getLoc(), llvm::toString(machine.takeError()));
  return std::make_shared<const Machine>(std::move(*machine));
}

LogicalResult Simulate::run() {
  ModuleOp module = getOperation();
  FailureOr<std::shared_ptr<const Machine>> machine = findMachine();
  if (failed(machine))
    return failure();
  WorkloadOptions options;
  options.foldRanks = fold != Fold::None;
  // -1: not given.
  if (overlapFactor != -1) {
    if (!(overlapFactor >= 0 && overlapFactor <= maxOverlapFactor))
      return emitError(module.getLoc(), "overlap-factor must be from 0 to ")
             << maxOverlapFactor << ", got " << double(overlapFactor);
    double slower = 1 + overlapFactor;
    options.interference = {slower, slower, slower};
  }
  FailureOr<machine::Stack> stack = resolveStack(module, this->stack);
  FailureOr<machine::Site> site = resolveSite(module, this->site);
  if (failed(stack) || failed(site))
    return failure();
  options.stack = *stack;
  options.site = *site;
  // Nobody pays for remarks that nobody reads.
  SimulateRemarks remarks;
  bool wantsRemarks = getContext().getRemarkEngine() != nullptr;
  if (wantsRemarks)
    options.origins = &remarks.origins;
  FailureOr<sim::Workload> workload = buildWorkload(module, **machine, options);
  if (failed(workload) || failed(setMemoryModel(*workload)))
    return failure();
  sim::EngineOptions engine;
  engine.share = share == Switch::On;
  engine.overlap = overlap == Switch::On;
  engine.skipRecurrence = engine.replaySections = fold == Fold::All;
  engine.followAllocator = !known;

  std::optional<sim::SimulationResult> result;
  auto simulate = [&](SmallVector<sim::Listener *> listeners) -> llvm::Error {
    if (wantsRemarks)
      listeners.push_back(&remarks);
    auto simulated = sim::simulate(*workload, engine, listeners, criticalPath);
    if (!simulated)
      return simulated.takeError();
    result = std::move(*simulated);
    if (report.empty())
      return llvm::Error::success();
    return writeFileAtomically(report, [&](llvm::raw_ostream &os) {
      sim::writeReport(os, *workload, *result);
      return llvm::Error::success();
    });
  };
  // With a trace the engine writes while it runs; the file appears only when
  // all went well, the report included.
  llvm::Error error =
      trace.empty() ? simulate({})
                    : writeFileAtomically(trace, [&](llvm::raw_ostream &os) {
                        sim::ChromeTrace writer(os);
                        return simulate({&writer});
                      });
  if (error)
    return emitError(module.getLoc(), llvm::toString(std::move(error)));
  annotate(sim::figuresOf(*workload, *result));
  if (wantsRemarks)
    remarks.emit(*workload);
  if (summary)
    sim::printSummary(llvm::outs(), *workload, *result);
  if (observer)
    observer(*workload, *result);
  return success();
}

std::unique_ptr<Pass> proteus::createSimulate(SimulateOptions options,
                                              SimulationObserver observer) {
  return createSimulateOn(nullptr, std::move(options), std::move(observer));
}

std::unique_ptr<Pass>
proteus::createSimulateOn(std::shared_ptr<const Machine> machine,
                          SimulateOptions options,
                          SimulationObserver observer) {
  return std::make_unique<Simulate>(std::move(options), std::move(observer),
                                    std::move(machine));
}
