//===- Explain.cpp - causes of a prediction error -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Driver/Explain.h"

#include "Output.h"

#include "Proteus/Support/Printable.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;
using namespace proteus::validation;

namespace {

/// A kind of simulated cost that may be wrong by a factor, and a function that
/// multiplies all costs of this kind by a factor.
struct Mechanism {
  StringRef name;
  void (*scale)(sim::Workload &workload, double factor);
};

} // namespace

static sim::Time scaled(sim::Time time, double factor) {
  return cost::fromSeconds(cost::toSeconds(time) * factor);
}

/// Applies `change` to every task of every device class.
static void
forTasks(sim::Workload &workload,
         function_ref<void(sim::DeviceClass &, sim::Task &)> change) {
  for (sim::DeviceClass &device : workload.classes)
    for (sim::Template *tasks : {&device.micro, &device.once})
      for (sim::Task &task : tasks->tasks)
        change(device, task);
}

static void scaleKernels(sim::Workload &workload, double factor, bool matrix) {
  forTasks(workload, [&](sim::DeviceClass &, sim::Task &task) {
    if (task.collective < 0 && task.matrix == matrix)
      task.duration = scaled(task.duration, factor);
  });
}

static void scaleMatrix(sim::Workload &workload, double factor) {
  scaleKernels(workload, factor, /*matrix=*/true);
}

static void scaleMemory(sim::Workload &workload, double factor) {
  scaleKernels(workload, factor, /*matrix=*/false);
}

static void scaleCommunication(sim::Workload &workload, double factor) {
  for (sim::Collective &collective : workload.collectives) {
    collective.flow.latency = scaled(collective.flow.latency, factor);
    if (collective.flow.ceiling)
      collective.flow.ceiling = std::max<int64_t>(
          1,
          std::llround(static_cast<double>(collective.flow.ceiling) / factor));
  }
  for (sim::LinkClass &link : workload.links)
    link.capacity = std::max<int64_t>(
        1, std::llround(static_cast<double>(link.capacity) / factor));
}

static void scaleHost(sim::Workload &workload, double factor) {
  forTasks(workload, [&](sim::DeviceClass &device, sim::Task &task) {
    task.launch = scaled(device.launchLatency + task.launch, factor);
  });
  for (sim::DeviceClass &device : workload.classes)
    device.launchLatency = 0;
}

static void scaleGap(sim::Workload &workload, double factor) {
  workload.stepGap = scaled(workload.stepGap, factor);
}

static constexpr Mechanism mechanisms[] = {
    {"matrix kernels", scaleMatrix},
    {"memory-bound kernels", scaleMemory},
    {"communication", scaleCommunication},
    {"host time per launch", scaleHost},
    {"time between steps", scaleGap},
};

/// Simulates the workload with all costs of `mechanism` multiplied by `factor`.
/// Returns the time of the step in seconds, or nullopt if the simulation fails.
static std::optional<double> timeWith(const sim::Workload &workload,
                                      const Mechanism &mechanism,
                                      double factor) {
  sim::Workload changed = workload;
  mechanism.scale(changed, factor);
  Expected<sim::SimulationResult> result = sim::simulate(changed);
  if (!result) {
    consumeError(result.takeError());
    return std::nullopt;
  }
  return cost::toSeconds(result->run.iterationTime);
}

/// Finds the factor on the costs of `mechanism` with which the step takes
/// `seconds`. Returns nullopt if there is no such factor from 1/20 to 20, or if
/// a simulation fails.
static std::optional<double> factorFor(const sim::Workload &workload,
                                       const Mechanism &mechanism,
                                       double seconds) {
  double low = std::log(0.05), high = std::log(20);
  auto excess = [&](double logarithm) -> std::optional<double> {
    if (auto time = timeWith(workload, mechanism, std::exp(logarithm)))
      return *time - seconds;
    return std::nullopt;
  };
  std::optional<double> below = excess(low), above = excess(high);
  if (!below || !above || *below > 0 || *above < 0)
    return std::nullopt;
  for (unsigned step = 0; step < 20; ++step) {
    double middle = (low + high) / 2;
    std::optional<double> there = excess(middle);
    if (!there)
      return std::nullopt;
    (*there < 0 ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

void proteus::driver::explainCase(raw_ostream &os, const Case &one,
                                  const Outcome &outcome) {
  double predicted = outcome.figures.iterationSeconds;
  os << printable(one.id) << "\n  predicted " << fixed(predicted, 4) << " s";
  if (one.iterationSeconds)
    os << ", measured " << fixed(*one.iterationSeconds, 4) << " s, error "
       << fixed(100 * (predicted / *one.iterationSeconds - 1), 1) << " %";
  os << "\n  strategy " << one.job.plan.label() << "; stack "
     << (one.job.stack.empty() ? "generic" : printable(one.job.stack))
     << (one.job.site.empty() ? "" : "; site ") << printable(one.job.site)
     << "\n";
  for (const std::string &assumption : one.assumed)
    os << "  assumed: " << printable(assumption) << "\n";
  os << "\n";

  const sim::Breakdown &parts =
      outcome.result.classes[outcome.result.slowestClass()].breakdown;
  Table composition({"the slowest device", "time (s)", "share (%)"});
  for (auto [name, time] :
       std::initializer_list<std::pair<const char *, sim::Time>>{
           {"forward and backward kernels", parts.compute},
           {"recomputation", parts.recompute},
           {"optimizer", parts.optimizer},
           {"exposed communication", parts.exposedCommunication},
           {"exposed pipeline transfer", parts.exposedPipeline},
           {"host launch", parts.host},
           {"bubble", parts.bubble},
           {"between steps", parts.stepGap}})
    composition.add({name, fixed(cost::toSeconds(time), 4),
                     fixed(100 * cost::toSeconds(time) / predicted, 1)});
  composition.print(os);
  if (!one.iterationSeconds)
    return;

  os << "\nfactor on the time of a single mechanism that would meet the "
        "measurement\n";
  Table table({"mechanism", "factor"});
  for (const Mechanism &mechanism : mechanisms) {
    auto factor = factorFor(outcome.workload, mechanism, *one.iterationSeconds);
    table.add({mechanism.name.str(),
               factor ? fixed(*factor, 3) : "no factor is enough"});
  }
  table.print(os);
}
