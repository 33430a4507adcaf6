//===- Confidence.cpp - the uncertainty of a prediction -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Confidence.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

/// Half width of the 80 % interval of a normal distribution, in multiples of
/// the mean absolute error: 1.28 standard deviations, each sqrt(pi / 2) times
/// the mean error.
static constexpr double intervalOfMeanError = 1.6;

/// Calls `visit` for every kernel of the slowest class. Passes the sum of the
/// kernel's durations in the whole step, without slowdown by communication.
/// Times are integers, so their sums do not depend on the order of the tasks.
static void
forEachKernel(const Workload &workload, const SimulationResult &result,
              function_ref<void(const KernelOrigin &, Time)> visit) {
  const DeviceClass &device = workload.classes[result.slowestClass()];
  auto visitAll = [&](const Template &tasks, int64_t microBatches) {
    for (const Task &task : tasks.tasks)
      if (task.stream == Stream::Compute && task.collective < 0)
        visit(task.origin,
              task.duration * (task.when == When::Always ? microBatches : 1));
  };
  visitAll(device.micro, workload.info.microBatches);
  visitAll(device.once, 1);
}

std::array<double, cost::numSources>
proteus::sim::sharesBySource(const Workload &workload,
                             const SimulationResult &result) {
  std::array<Time, cost::numSources> times = {};
  Time all = 0;
  forEachKernel(workload, result, [&](const KernelOrigin &origin, Time time) {
    times[static_cast<unsigned>(origin.source)] += time;
    all += time;
  });
  std::array<double, cost::numSources> shares = {};
  for (unsigned s = 0; s < cost::numSources && all > 0; ++s)
    shares[s] = static_cast<double>(times[s]) / static_cast<double>(all);
  return shares;
}

/// Returns the contribution of each family of kernels to the relative error of
/// all kernel time. It is the sum over the kernels of the family of (error of
/// the kernel x share of the kernel in all kernel time).
static std::array<double, cost::numFamilies>
errorsOf(const Workload &workload, const SimulationResult &result) {
  std::map<std::pair<cost::Family, double>, Time> times;
  Time all = 0;
  forEachKernel(workload, result, [&](const KernelOrigin &origin, Time time) {
    times[{origin.family, origin.uncertainty}] += time;
    all += time;
  });
  std::array<double, cost::numFamilies> errors = {};
  for (const auto &[key, time] : times)
    if (all > 0)
      errors[static_cast<unsigned>(key.first)] +=
          key.second * static_cast<double>(time) / static_cast<double>(all);
  return errors;
}

std::optional<Interval>
proteus::sim::intervalOf(const Workload &workload,
                         const SimulationResult &result) {
  if (!workload.errors)
    return std::nullopt;
  double step = cost::toSeconds(result.run.iterationTime);
  const Breakdown &parts = result.classes[result.slowestClass()].breakdown;
  double exposed =
      cost::toSeconds(parts.exposedCommunication + parts.exposedPipeline);
  double communicating = step > 0 ? exposed / step : 0;
  double squares = std::pow(workload.errors->stack, 2) +
                   std::pow(communicating * workload.errors->collectives, 2);
  for (double error : errorsOf(workload, result))
    squares += std::pow((1 - communicating) * error, 2);
  double factor = 1 + intervalOfMeanError * std::sqrt(squares);
  return Interval{step / factor, step * factor};
}

std::optional<MemoryInterval>
proteus::sim::memoryIntervalOf(const Workload &workload,
                               const MemoryVerdict &verdict) {
  if (!workload.errors)
    return std::nullopt;
  double factor = 1 + intervalOfMeanError * workload.errors->memory;
  double needed = static_cast<double>(verdict.needed);
  return MemoryInterval{static_cast<int64_t>(needed / factor),
                        static_cast<int64_t>(needed * factor)};
}
