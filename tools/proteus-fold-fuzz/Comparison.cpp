//===- Comparison.cpp - comparison of folded runs ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"

#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Simulate/BuildWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <vector>

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;
using llvm::formatv;

namespace {

/// Listener that counts the runs of every collective.
class CollectiveCounter : public sim::Listener {
public:
  bool canSkip() const override { return true; }
  void visitState(sim::StateVisitor &visitor) override {
    for (int64_t &count : counts)
      visitor.count(count);
  }
  void onBegin(const sim::Workload &w, ArrayRef<sim::Time>) override {
    workload = &w;
    counts.assign(w.collectives.size(), 0);
  }
  void onTaskStart(const sim::TaskInstance &task, sim::Time) override {
    int32_t index = task.in(*workload).collective;
    if (index >= 0 &&
        workload->collectives[index].members.front() == task.classIndex)
      ++counts[index];
  }
  void onStretchRuns(const sim::SectionTrace &trace, uint32_t stretch,
                     int64_t runs) override {
    for (const sim::SectionEvent &event : trace.eventsOf(stretch)) {
      if (event.kind != sim::SectionEvent::Kind::TaskStart)
        continue;
      int32_t index = workload->classes[trace.classIndex]
                          .micro.tasks[event.subject]
                          .collective;
      if (index >= 0)
        counts[index] += runs;
    }
  }

  std::vector<int64_t> counts;

private:
  const sim::Workload *workload = nullptr;
};

/// Figures of one rank with their names, in a fixed order.
using RankFigures = std::vector<std::pair<std::string, int64_t>>;

} // namespace

FailureOr<FoldedRun> proteus::fuzz::simulate(ModuleOp module,
                                             const MachineModel &machine,
                                             Fold fold) {
  WorkloadOptions options;
  options.foldRanks = fold != Fold::None;
  FailureOr<machine::Stack> stack = resolveStack(module);
  if (failed(stack))
    return failure();
  options.stack = *stack;
  FailureOr<sim::Workload> workload = buildWorkload(module, machine, options);
  if (failed(workload))
    return failure();
  FoldedRun run;
  run.workload = std::move(*workload);
  // Arbitrary sizes, all of which have an effect.
  run.workload.memory = {1 << 20, 2, 3, 5};
  sim::EngineOptions engine;
  engine.skipRecurrence = engine.replaySections = fold == Fold::All;
  CollectiveCounter counter;
  auto result = sim::simulate(run.workload, engine, {&counter});
  if (!result)
    return emitError(module.getLoc(), llvm::toString(result.takeError()));
  run.result = std::move(*result);
  for (auto [collective, count] :
       llvm::zip(run.workload.collectives, counter.counts))
    for (const sim::LinkClassLoad &load : collective.flow.loads) {
      const sim::LinkClass &link = run.workload.links[load.link];
      run.linkBytes[link.capacity] += static_cast<__int128>(count) *
                                      collective.flow.volume * load.load *
                                      link.count;
    }
  return run;
}

static RankFigures figuresOf(const FoldedRun &run, uint32_t number) {
  const sim::DeviceClass &device = run.workload.classes[number];
  const sim::ClassResult &result = run.result.classes[number];
  RankFigures figures = {{"stage", device.stage},
                         {"device type", device.deviceType}};
  auto add = [&](const llvm::Twine &name, int64_t value) {
    figures.push_back({name.str(), value});
  };
  auto addText = [&](const llvm::Twine &name, StringRef text) {
    add(name, static_cast<int64_t>(llvm::xxh3_64bits(text)));
  };
  const sim::Breakdown &parts = result.breakdown;
  add("compute", parts.compute);
  add("recompute", parts.recompute);
  add("optimizer", parts.optimizer);
  add("exposed communication", parts.exposedCommunication);
  add("exposed pipeline", parts.exposedPipeline);
  add("host", parts.host);
  add("bubble", parts.bubble);
  add("exposed reduction", result.exposedReduction);
  for (auto [stream, busy] : llvm::enumerate(result.streamBusy))
    add("busy " + sim::stringify(static_cast<sim::Stream>(stream)), busy);
  std::map<StringRef, sim::Time> byOperation;
  for (auto [label, time] : result.computeByOperation)
    byOperation[run.workload.labels[label]] += time;
  for (auto [name, time] : byOperation)
    add(name, time);
  add("peak memory", result.memory.bytes);
  for (unsigned owner = 0; owner < sim::numMemoryOwners; ++owner) {
    StringRef name = sim::stringify(static_cast<sim::MemoryOwner>(owner));
    add("peak memory of " + name, result.memory.byOwner[owner]);
    add("split peak memory of " + name, result.memory.tensorSplit[owner]);
  }
  add("time of the peak", result.memory.time);
  addText("label of the peak", result.memory.label);
  add("host memory", result.memory.hostBytes);
  const sim::AllocatorPeak &allocator = result.allocator;
  add("reserved", allocator.reserved);
  add("allocated", allocator.allocated);
  add("in flight", allocator.inFlight);
  add("fragmentation", allocator.fragmentation);
  addText("label of the reservation", allocator.label);
  add("releases", static_cast<int64_t>(allocator.releases));
  add("exceeded", allocator.exceeded);
  addText("label of the excess", allocator.exceededLabel);
  add("communication library", result.budget.communicationLibrary);
  for (const sim::BucketRow &row : run.result.buckets) {
    if (row.classIndex != number)
      continue;
    add("readiness of a bucket", row.ready);
    add("start of a bucket", row.start);
    add("end of a bucket", row.end);
  }
  return figures;
}

static std::string firstDifference(const RankFigures &whole,
                                   const RankFigures &folded) {
  for (auto [a, b] : llvm::zip(whole, folded))
    if (a != b)
      return formatv("{0} is {1}, folded {2} {3}", a.first, a.second, b.first,
                     b.second);
  return formatv("{0} figures, folded {1}", whole.size(), folded.size());
}

/// Returns the first difference between ranks: the figures of the
/// representative of a class, or the number of ranks with the same figures.
static std::string compareRanks(const FoldedRun &whole,
                                const FoldedRun &folded) {
  std::map<int64_t, RankFigures> byDevice;
  std::map<RankFigures, int64_t> surplus;
  for (uint32_t c = 0; c < whole.workload.classes.size(); ++c) {
    const sim::DeviceClass &device = whole.workload.classes[c];
    RankFigures figures = figuresOf(whole, c);
    surplus[figures] += device.ranks;
    byDevice[device.representative] = std::move(figures);
  }
  std::string different;
  for (uint32_t c = 0; c < folded.workload.classes.size(); ++c) {
    const sim::DeviceClass &device = folded.workload.classes[c];
    RankFigures figures = figuresOf(folded, c);
    if (different.empty() && byDevice[device.representative] != figures)
      different =
          formatv("device {0}: {1}", device.representative,
                  firstDifference(byDevice[device.representative], figures));
    surplus[figures] -= device.ranks;
  }
  if (!different.empty())
    return different;
  for (const auto &[figures, ranks] : surplus) {
    if (ranks <= 0)
      continue;
    // The ranks are in another class of the same stage.
    for (const auto &[others, more] : surplus)
      if (more < 0 && others.front() == figures.front())
        return formatv("{0} ranks of stage {1} are in a wrong class: {2}",
                       ranks, figures.front().second,
                       firstDifference(figures, others));
    return formatv("{0} ranks of stage {1} are in no class", ranks,
                   figures.front().second);
  }
  return "";
}

static std::string compareCollectives(const FoldedRun &whole,
                                      const FoldedRun &folded) {
  auto describe = [](const sim::CollectiveRow &row) -> std::string {
    return formatv("{0} over {1} of {2} ranks, {3} bytes: {4} times, {5} per "
                   "device in {6} ps",
                   cost::stringify(row.kind), row.axes, row.groupSize,
                   row.bytes, row.count, row.countPerDevice, row.time);
  };
  const auto &a = whole.result.collectives, &b = folded.result.collectives;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::string left = i < a.size() ? describe(a[i]) : "nothing";
    std::string right = i < b.size() ? describe(b[i]) : "nothing";
    if (left != right)
      return left + ", folded " + right;
  }
  return "";
}

std::string proteus::fuzz::compare(const FoldedRun &whole,
                                   const FoldedRun &folded) {
  if (whole.result.run.iterationTime != folded.result.run.iterationTime)
    return formatv("the step takes {0} ps, folded {1} ps ({2})",
                   whole.result.run.iterationTime,
                   folded.result.run.iterationTime,
                   compareRanks(whole, folded));
  std::string ranks = compareRanks(whole, folded);
  if (!ranks.empty())
    return ranks;
  std::string collectives = compareCollectives(whole, folded);
  if (!collectives.empty())
    return collectives;
  if (whole.linkBytes != folded.linkBytes)
    return "links carry another number of bytes";
  return "";
}
