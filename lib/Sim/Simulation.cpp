//===- Simulation.cpp - a run and all its figures -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Simulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

/// Returns the index of the first class with the largest `key`.
template <typename Key>
static uint32_t firstLargest(const std::vector<ClassResult> &classes, Key key) {
  uint32_t best = 0;
  for (uint32_t c = 1; c < classes.size(); ++c)
    if (key(classes[c]) > key(classes[best]))
      best = c;
  return best;
}

uint32_t SimulationResult::slowestClass() const {
  return firstLargest(classes,
                      [](const ClassResult &c) { return c.breakdown.busy(); });
}

uint32_t SimulationResult::largestClass() const {
  return firstLargest(classes,
                      [](const ClassResult &c) { return c.memory.bytes; });
}

/// Returns the classes with their figures of memory: the peaks of the tensors,
/// the memory that the allocator reserves for them, and the budgets.
static std::vector<ClassResult> classesWithMemory(const Workload &workload,
                                                  const EngineOptions &options,
                                                  const MemoryTracker &memory) {
  std::vector<MemoryBudget> budgets = budgetsOf(workload);
  std::vector<int64_t> limits;
  for (const MemoryBudget &budget : budgets)
    limits.push_back(budget.forTensors());
  std::vector<AllocatorPeak> reserved(limits.size());
  if (options.followAllocator)
    reserved = reserveAll(workload, limits);
  std::vector<ClassResult> classes(workload.classes.size());
  for (uint32_t c = 0; c < workload.classes.size(); ++c) {
    AllocatorPeak allocator = std::move(reserved[c]);
    // If the peak of the tensors is larger than the reserved memory, raises the
    // reserved memory to this peak. The peak may be larger because the device
    // runs later than the host, so it may use memory for longer than the order
    // of issue shows. Without `followAllocator`, the reserved memory is still
    // 0.
    if (memory.peak(c).bytes > allocator.reserved) {
      allocator.reserved = memory.peak(c).bytes;
      allocator.label = memory.peak(c).label;
      if (allocator.reserved > budgets[c].forTensors() &&
          !std::exchange(allocator.exceeded, true))
        allocator.exceededLabel = memory.peak(c).label;
    }
    classes[c].memory = memory.peak(c);
    classes[c].allocator = std::move(allocator);
    classes[c].budget = budgets[c];
  }
  return classes;
}

Expected<SimulationResult> proteus::sim::simulate(const Workload &workload,
                                                  const EngineOptions &options,
                                                  ArrayRef<Listener *> extra,
                                                  bool followCriticalPath) {
  MemoryTracker memory;
  BreakdownTracker breakdown;
  CollectiveTable collectives;
  BucketTable buckets;
  LinkTable links;
  CriticalPath path;
  SmallVector<Listener *> listeners = {&memory, &breakdown, &collectives,
                                       &buckets, &links};
  if (followCriticalPath)
    listeners.push_back(&path);
  listeners.append(extra.begin(), extra.end());
  Expected<RunResult> run = sim::run(workload, options, listeners);
  if (!run)
    return run.takeError();

  SimulationResult result;
  result.run = *run;
  result.run.iterationTime += workload.stepGap;
  result.classes = classesWithMemory(workload, options, memory);
  for (uint32_t c = 0; c < workload.classes.size(); ++c) {
    ClassResult &own = result.classes[c];
    own.breakdown = breakdown.breakdown(c);
    own.breakdown.stepGap = workload.stepGap;
    own.streamBusy = breakdown.streamBusy(c);
    own.computeByOperation = breakdown.computeByOperation(c);
    own.exposedByKind = breakdown.exposedByKind(c);
    own.exposedReduction = buckets.exposed(c);
  }
  result.collectives = collectives.rows();
  result.buckets = buckets.rows();
  result.links = links.rows();
  if (followCriticalPath)
    result.criticalPath = path.shares(workload.stepGap);
  return result;
}

Expected<SimulationResult>
proteus::sim::simulateMemory(const Workload &workload,
                             const EngineOptions &options,
                             ArrayRef<Listener *> extra) {
  MemoryTracker memory;
  SmallVector<Listener *> listeners = {&memory};
  listeners.append(extra.begin(), extra.end());
  Expected<RunResult> run = sim::run(workload, options, listeners);
  if (!run)
    return run.takeError();
  SimulationResult result;
  result.run = *run;
  result.run.iterationTime += workload.stepGap;
  result.classes = classesWithMemory(workload, options, memory);
  return result;
}

std::optional<double> proteus::sim::utilization(const Workload &workload,
                                                const SimulationResult &result,
                                                const LinkRow &row) {
  if (result.run.iterationTime == 0)
    return std::nullopt;
  return static_cast<double>(row.bytes) /
         (static_cast<double>(workload.links[row.link].capacity) *
          cost::toSeconds(result.run.iterationTime));
}

machine::DType proteus::sim::utilizationType(const machine::Device &device) {
  for (machine::DType type : {machine::DType::BF16, machine::DType::F16})
    if (device.supports(type))
      return type;
  return machine::DType::F32;
}

Figures proteus::sim::figuresOf(const Workload &workload,
                                const SimulationResult &result) {
  const JobInfo &info = workload.info;
  Figures figures;
  figures.iterationSeconds = cost::toSeconds(result.run.iterationTime);
  figures.peakMemoryBytes = result.classes[result.largestClass()].memory.bytes;
  for (const ClassResult &stage : result.classes)
    figures.peakReservedBytes =
        std::max(figures.peakReservedBytes, stage.allocator.reserved);
  figures.memory = verdictOf(workload, result);
  if (result.run.iterationTime == 0)
    return figures;

  double seconds = figures.iterationSeconds;
  if (info.globalBatch > 0) {
    figures.samplesPerSecond = info.globalBatch / seconds;
    if (info.tokensPerSample > 0) {
      figures.tokensPerSecond =
          *figures.samplesPerSecond * static_cast<double>(info.tokensPerSample);
      figures.tokensPerSecondPerDevice =
          *figures.tokensPerSecond / static_cast<double>(info.devices);
    }
  }
  // Counts the ranks of each device type before multiplying by the peak rate,
  // so that rounding does not depend on how ranks are folded.
  std::vector<int64_t> ofType(workload.cluster.devices.size());
  for (const DeviceClass &device : workload.classes)
    ofType[device.deviceType] += device.ranks;
  double possible = 0, possibleInType = 0;
  for (auto [device, count] : llvm::zip(workload.cluster.devices, ofType)) {
    double deviceSeconds = static_cast<double>(count) * seconds;
    possible += device.peak(utilizationType(device)) * deviceSeconds;
    possibleInType += device.peak(info.computeType) * deviceSeconds;
  }
  auto ratio = [](double flops, double whole) -> std::optional<double> {
    if (flops <= 0 || whole <= 0)
      return std::nullopt;
    return flops / whole;
  };
  figures.modelFlopsPerSecondPerDevice =
      ratio(info.modelFlops, static_cast<double>(info.devices) * seconds);
  figures.mfu = ratio(info.modelFlops, possible);
  figures.mfuFullSquare = ratio(info.modelFlopsFullSquare, possible);
  figures.hfu = ratio(info.executedFlops, possible);
  figures.shareOfOwnPeak = ratio(info.modelFlops, possibleInType);
  if (info.computeType == machine::DType::F8)
    figures.mfuFp8 = figures.shareOfOwnPeak;
  return figures;
}
