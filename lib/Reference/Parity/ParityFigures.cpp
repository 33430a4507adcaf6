//===- ParityFigures.cpp - workloads in the counts of the reference -------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/Parity.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::parity;
using cost::CollectiveKind;

/// Returns the name that the reference uses for a collective of `kind`.
/// `gradient` is true if the collective reduces gradients.
static std::string nameOf(CollectiveKind kind, bool gradient) {
  if (kind == CollectiveKind::SendRecv)
    return "p2p/xstage";
  std::string name =
      kind == CollectiveKind::Permute || kind == CollectiveKind::Shift
          ? "p2p"
          : cost::stringify(kind).str();
  return gradient ? name + "/grad" : name;
}

ParityFigures proteus::parity::figuresOf(const sim::Workload &workload,
                                         cost::Time launchGap) {
  ParityFigures figures;
  std::vector<bool> isGradient(workload.collectives.size());
  for (const sim::DeviceClass &device : workload.classes) {
    cost::Time kernels = 0;
    for (const sim::Template *part : {&device.micro, &device.once})
      for (const sim::Task &task : part->tasks) {
        if (task.collective >= 0)
          isGradient[task.collective] =
              task.stream == sim::Stream::DataParallel;
        else if (task.duration > 0)
          kernels += task.duration - launchGap;
      }
    figures.computeMilliseconds =
        std::max(figures.computeMilliseconds, cost::toSeconds(kernels) * 1e3);
  }
  for (auto [number, collective] : enumerate(workload.collectives)) {
    CollectiveSum &sum =
        figures.collectives[nameOf(collective.kind, isGradient[number])];
    sum.count += collective.groups;
    sum.megabytes += static_cast<double>(collective.flow.volume) *
                     static_cast<double>(collective.groups) * 1e-6;
  }
  return figures;
}

Timeline proteus::parity::timelineOf(const sim::Workload &workload,
                                     const sim::SimulationResult &result) {
  Timeline timeline;
  // Collectives with the same key either repeat each other in one group or run
  // in different groups. Repeats have equal ceilings. So if ceilings differ,
  // groups have unequal bandwidths.
  std::map<std::tuple<CollectiveKind, std::string, int64_t>, int64_t> ceilings;
  for (const sim::Collective &one : workload.collectives) {
    auto [entry, isNew] = ceilings.try_emplace(
        {one.kind, one.axes, one.flow.volume}, one.flow.ceiling);
    timeline.unequalGroups |= !isNew && entry->second != one.flow.ceiling;
  }
  cost::Time contended = 0, exposed = 0;
  for (const sim::LinkRow &link : result.links)
    contended = std::max(contended, link.contended);
  for (const sim::ClassResult &device : result.classes)
    exposed = std::max(exposed, device.exposedReduction);
  if (double step = static_cast<double>(result.run.iterationTime)) {
    timeline.contended = static_cast<double>(contended) / step;
    timeline.exposedReduction = static_cast<double>(exposed) / step;
  }
  return timeline;
}
