//===- Simulate.cpp - the simulate pass -----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobInfo.h"
#include "Mechanisms/Mechanism.h"
#include "SimulateRemarks.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Sim/ChromeTrace.h"
#include "Proteus/Sim/Report.h"
#include "Proteus/Sim/Summary.h"
#include "Proteus/Sim/TaskCounter.h"
#include "Proteus/Support/File.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Simulate/BuildWorkload.h"
#include "Proteus/Transforms/Simulate/SimulateOn.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace proteus {
#define GEN_PASS_DEF_SIMULATE
#include "Proteus/Transforms/Simulate/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

/// Largest value of the option `overlap-factor`. A larger one is a mistake in
/// the input, and could make times overflow.
static constexpr double maxOverlapFactor = 100;

namespace {
class Simulate : public proteus::impl::SimulateBase<Simulate> {
public:
  using SimulateBase::SimulateBase;
  Simulate(SimulateOptions options, SimulationObserver observer,
           std::shared_ptr<const MachineModel> known, ProgressSink *progress)
      : SimulateBase(std::move(options)), observer(std::move(observer)),
        known(std::move(known)), progress(progress) {}

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  SimulationObserver observer;
  std::shared_ptr<const MachineModel> known;
  ProgressSink *progress = nullptr;

  LogicalResult run();
  void remarkLateStack(const machine::Stack &stack);
  FailureOr<std::shared_ptr<const MachineModel>>
  findMachine(const machine::Stack &stack, const machine::Site &site);
  LogicalResult setMemoryModel(sim::Workload &workload);
  LogicalResult setErrors(const machine::Stack &stack, sim::Workload &workload);
  FailureOr<cost::Measurements> readProfiles(const machine::Cluster &cluster);
  LogicalResult checkOutputs();
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
  // Limits of the options. A larger value is probably a mistake, such as a size
  // in the wrong unit.
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

LogicalResult Simulate::setErrors(const machine::Stack &stack,
                                  sim::Workload &workload) {
  // The error of the rules of the reference is not known, so the prediction has
  // no uncertainty.
  if (fidelity == Fidelity::Paper)
    return success();
  // -1 means that the option is not given.
  double software = stackError == -1 ? stack.uncertainty : double(stackError);
  for (auto [name, value] :
       {std::pair("collective-error", double(collectiveError)),
        std::pair("stack-error", software),
        std::pair("memory-error", double(memoryError))})
    if (!(value >= 0 && value <= 1))
      return emitError(getOperation().getLoc(), name)
             << " must be from 0 to 1, got " << value;
  workload.errors = sim::ErrorModel{collectiveError, software, memoryError};
  return success();
}

/// Reads all profiles and returns the measurements of those that contain a
/// kernel of a device of the cluster, or a kernel that names no device. Emits
/// an error if profiles are given but none of them contains such a kernel.
FailureOr<cost::Measurements>
Simulate::readProfiles(const machine::Cluster &cluster) {
  Location loc = getOperation().getLoc();
  cost::Measurements all;
  if (!profiles.empty() && fidelity == Fidelity::Paper)
    return emitError(loc, "fidelity=paper takes no profile");
  for (const std::string &file : profiles) {
    llvm::Expected<cost::Measurements> rows = cost::readProfile(file);
    if (!rows)
      return emitError(loc, llvm::toString(rows.takeError()));
    bool isOfCluster = false;
    for (const machine::Device &device : cluster.devices) {
      cost::Measurements own = cost::measurementsOf(device, *rows);
      isOfCluster |= !own.empty();
      if (device.sustained < 1 &&
          llvm::any_of(own, [](const auto &row) { return !row.inStep; }))
        emitRemark(loc, file)
            << ": kernels were measured alone; those that the clock bounds run "
               "at the sustained share "
            << llvm::formatv("{0:f2}", device.sustained) << " of '"
            << device.name << "'";
    }
    if (isOfCluster)
      llvm::append_range(all, std::move(*rows));
    else if (profiles.size() > 1)
      emitRemark(loc, file) << ": no kernel of this profile was measured on '"
                            << cluster.devices.front().name << "'";
  }
  if (all.empty() && !profiles.empty())
    return emitError(loc, llvm::join(profiles, ", "))
           << ": no kernel of this profile was measured on '"
           << cluster.devices.front().name << "'";
  return all;
}

/// Returns the machine that the caller of the pass has given, if any. Otherwise
/// creates the machine from the cluster and the site of the module.
FailureOr<std::shared_ptr<const MachineModel>>
Simulate::findMachine(const machine::Stack &stack, const machine::Site &site) {
  if (known)
    return known;
  ModuleOp module = getOperation();
  FailureOr<machine::Cluster> cluster = resolveCluster(module);
  if (failed(cluster))
    return failure();
  for (const machine::NodeKind &kind : cluster->kinds)
    for (const std::string &remark : kind.graph.remarks)
      emitRemark(module.getLoc(), remark);
  if (tf32)
    for (machine::Device &device : cluster->devices)
      device.useTF32();
  if (llvm::Error error = machine::checkDevices(site, *cluster))
    return emitError(module.getLoc(), llvm::toString(std::move(error)));
  if (std::string cards = machine::remarkCards(site, *cluster); !cards.empty())
    emitRemark(module.getLoc(), cards);
  for (machine::NodeKind &kind : cluster->kinds)
    kind.collectives.synchronisation += site.collectiveGap;
  if (site.fabricEfficiency)
    cluster->fabric.efficiency = *site.fabricEfficiency;
  FailureOr<cost::Measurements> profile = readProfiles(*cluster);
  if (failed(profile))
    return failure();
  cost::KernelModelOptions kernelOptions;
  kernelOptions.roofline = kernels == KernelModel::Roofline;
  for (const auto &mechanism : createMechanisms(stack.parameters))
    mechanism->changeMachine(*cluster, kernelOptions);
  llvm::Expected<MachineModel> machine = createMachineModel(
      std::move(*cluster), fidelity, kernelOptions, *profile);
  if (!machine)
    return emitError(module.getLoc(), llvm::toString(machine.takeError()));
  return std::make_shared<const MachineModel>(std::move(*machine));
}

/// Emits a remark with the decisions of a stack that is given only after the
/// lowering. These decisions have no effect, because only the lowering could
/// have applied them.
void Simulate::remarkLateStack(const machine::Stack &stack) {
  std::vector<std::string> decisions = stack.modelDecisions();
  if (std::string step = stack.plan.label(); !step.empty())
    decisions.insert(decisions.begin(), step);
  if (!decisions.empty())
    emitRemark(getOperation().getLoc(), "stack '")
        << stack.name << "' is given after the lowering: its decisions ("
        << llvm::join(decisions, " ")
        << ") are not applied; give stack= to lower-strategy";
}

/// Fails if the report and the trace would overwrite each other or an input.
LogicalResult Simulate::checkOutputs() {
  ModuleOp module = getOperation();
  if (onlyMemory &&
      (!report.empty() || !trace.empty() || summary || criticalPath))
    return emitError(module.getLoc(),
                     "only-memory gives no report, trace, summary or critical "
                     "path; leave it out");
  SmallVector<StringRef> inputs(profiles.begin(), profiles.end());
  if (auto source = dyn_cast<FileLineColLoc>(module.getLoc()))
    inputs.push_back(source.getFilename().getValue());
  auto fail = [&](StringRef option, StringRef file, StringRef use) {
    return emitError(module.getLoc(), option)
           << "=" << file << ": the file is also " << use
           << "; choose another one";
  };
  if (!report.empty() && report != "-" && isSameFile(report, trace))
    return fail("report", report, "the trace");
  for (auto [option, file] :
       {std::pair<StringRef, StringRef>("report", report), {"trace", trace}})
    for (StringRef input : inputs)
      if (!file.empty() && isSameFile(file, input))
        return fail(option, file, "an input");
  return success();
}

LogicalResult Simulate::run() {
  ModuleOp module = getOperation();
  if (failed(checkOutputs()))
    return failure();
  Attribute lowered = module->getAttr(ProteusDialect::stackAttrName);
  // A machine from the caller replaces the cluster, so the option `cluster` has
  // no effect.
  writeMachineOptions(module, known ? StringRef() : StringRef(cluster),
                      this->stack, this->site);
  FailureOr<machine::Stack> stack = resolveStack(module);
  FailureOr<machine::Site> site = resolveSite(module);
  if (failed(stack) || failed(site))
    return failure();
  if (lowered != module->getAttr(ProteusDialect::stackAttrName))
    remarkLateStack(*stack);
  if (cudaGraphs)
    stack->parameters.captureGraphs();
  FailureOr<std::shared_ptr<const MachineModel>> machine =
      findMachine(*stack, *site);
  if (failed(machine))
    return failure();
  WorkloadOptions options;
  options.foldRanks = fold != Fold::None;
  // -1 means that the option is not given.
  if (overlapFactor != -1) {
    if (!(overlapFactor >= 0 && overlapFactor <= maxOverlapFactor))
      return emitError(module.getLoc(), "overlap-factor must be from 0 to ")
             << maxOverlapFactor << ", got " << double(overlapFactor);
    double slower = 1 + overlapFactor;
    options.interference = {slower, slower, slower};
  }
  options.stack = *stack;
  options.progress = progress;
  // The origins of tasks are collected only if remarks are enabled.
  SimulateRemarks remarks;
  bool wantsRemarks = getContext().getRemarkEngine() != nullptr;
  if (wantsRemarks)
    options.origins = &remarks.origins;
  FailureOr<sim::Workload> workload = buildWorkload(module, **machine, options);
  if (failed(workload) || failed(setMemoryModel(*workload)) ||
      failed(setErrors(*stack, *workload)))
    return failure();
  workload->info.statement = statementOf(*workload, *stack, *site);
  sim::EngineOptions engine;
  engine.share = share == Switch::On;
  engine.overlap = overlap == Switch::On;
  engine.skipRecurrence = engine.replaySections = fold == Fold::All;
  engine.followAllocator = !known;

  std::optional<sim::SimulationResult> result;
  auto simulate = [&](SmallVector<sim::Listener *> listeners) -> llvm::Error {
    if (wantsRemarks)
      listeners.push_back(&remarks);
    std::optional<sim::TaskCounter> counter;
    if (progress)
      listeners.push_back(&counter.emplace(*progress));
    auto simulated =
        onlyMemory ? sim::simulateMemory(*workload, engine, listeners)
                   : sim::simulate(*workload, engine, listeners, criticalPath);
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
  // The engine writes the trace while it runs. The file appears only if both
  // the simulation and the report succeed.
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
                                              SimulationObserver observer,
                                              ProgressSink *progress) {
  return std::make_unique<Simulate>(std::move(options), std::move(observer),
                                    nullptr, progress);
}

std::unique_ptr<Pass>
proteus::createSimulateOn(std::shared_ptr<const MachineModel> machine,
                          SimulateOptions options,
                          SimulationObserver observer) {
  return std::make_unique<Simulate>(std::move(options), std::move(observer),
                                    std::move(machine), nullptr);
}
