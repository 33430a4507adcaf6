//===- PropertyTest.cpp - random workloads against an oracle --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random workloads are run by the engine and by a few lines that compute the
// same times by relaxation over all task instances.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"
#include "TestWorkloads.h"

#include "llvm/Support/raw_ostream.h"

#include <map>
#include <random>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  /// Classes with the same structure, so that their collectives meet in the
  /// same order; durations differ.
  Workload make() {
    Builder b;
    b.workload.info.microBatches = 1 + pick(5);
    b.workload.cluster.device.launchLatency = pick(2) * 3e-12;
    b.workload.cluster.intraNode = {1e12, 0};
    b.workload.cluster.interNode = {2e11, 0};
    uint32_t classes = 1 + pick(4);
    for (uint32_t c = 0; c < classes; ++c)
      b.addClass("class " + std::to_string(c));
    makeTemplate(b, /*once=*/false, 1 + pick(3));
    makeTemplate(b, /*once=*/true, 1);
    makeOrder(b);
    for (DeviceClass &device : b.workload.classes) {
      device.resident = {{"weights", 1 + pick(50), MemoryOwner::Parameters}};
      device.onceDependsOn = onceEdges;
    }
    return b.workload;
  }

private:
  int64_t pick(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }

  void makeTemplate(Builder &b, bool once, uint32_t sections) {
    size_t classes = b.workload.classes.size();
    std::vector<Template *> templates;
    for (DeviceClass &device : b.workload.classes)
      templates.push_back(once ? &device.once : &device.micro);
    for (uint32_t s = 0; s < sections; ++s) {
      for (int64_t n = pick(7); n > 0; --n)
        makeTask(b, templates, once, classes);
      for (Template *tasks : templates)
        Builder::endSection(*tasks);
    }
  }

  void makeTask(Builder &b, ArrayRef<Template *> templates, bool once,
                size_t classes) {
    uint32_t index = templates[0]->tasks.size();
    Task task;
    task.label = b.label("task " + std::to_string(index));
    task.opKind = b.label("op " + std::to_string(index % 3));
    task.stream = static_cast<Stream>(pick(numStreams));
    task.phase = static_cast<Phase>(pick(4));
    task.when = pick(5) == 0 ? When::LastMicroBatch : When::Always;
    if (once)
      task.when = When::Always;
    std::vector<std::vector<uint32_t>> users(index + 1);
    for (uint32_t earlier = 0; earlier < index; ++earlier)
      if (pick(3) == 0)
        task.dependsOn.push_back(earlier);
    for (uint32_t dependency : task.dependsOn)
      for (uint32_t buffer : templates[0]->tasks[dependency].allocates)
        if (pick(2))
          task.reads.push_back(buffer);
    if (pick(2)) {
      task.allocates = {uint32_t(templates[0]->buffers.size())};
      for (Template *tasks : templates)
        tasks->buffers.push_back(
            {"buffer", 1 + pick(20), static_cast<MemoryOwner>(pick(6))});
    }
    bool isKernel = task.stream == Stream::Compute && pick(3);
    int32_t shared = -1;
    if (!isKernel && classes > 1 && pick(2)) {
      std::vector<uint32_t> members(classes);
      for (uint32_t c = 0; c < classes; ++c)
        members[c] = c;
      shared = b.collective(members, pick(60));
    }
    for (uint32_t c = 0; c < classes; ++c) {
      Task mine = task;
      mine.duration = pick(40);
      if (!isKernel)
        mine.collective = shared >= 0 ? shared : b.collective({c}, pick(60));
      templates[c]->tasks.push_back(mine);
    }
    if (once && templates[0] == &b.workload.classes[0].once)
      for (uint32_t micro = 0; micro < b.workload.classes[0].micro.tasks.size();
           ++micro)
        if (pick(4) == 0)
          onceEdges.emplace_back(index, micro);
  }

  /// Sections of a micro-batch in order; micro-batches interleaved at random,
  /// in the same way for all classes.
  void makeOrder(Builder &b) {
    uint32_t sections = b.workload.classes[0].micro.sectionBegin.size() - 1;
    std::vector<uint32_t> next(b.workload.info.microBatches);
    std::vector<WorkItem> order;
    while (order.size() < sections * next.size()) {
      uint32_t m = pick(next.size());
      if (next[m] < sections)
        order.push_back({next[m]++, m, false});
    }
    order.push_back({0, 0, true});
    for (DeviceClass &device : b.workload.classes)
      device.order = order;
  }

  std::mt19937 random;
  std::vector<std::pair<uint32_t, uint32_t>> onceEdges;
};

/// Relaxes start times over all instances until nothing changes.
Time oracle(const Workload &w) {
  struct Instance {
    Time launch, duration;
    std::vector<size_t> after;
    size_t meeting;
    Time start = 0;
  };
  std::vector<Instance> all;
  std::map<std::array<size_t, 4>, size_t> meetings;
  Time latency = cost::fromSeconds(w.cluster.device.launchLatency);
  for (size_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    std::map<std::array<uint32_t, 3>, size_t> known;
    std::map<Stream, size_t> tail;
    std::map<uint32_t, uint32_t> lastOf;
    for (const WorkItem &item : device.order)
      if (!item.once)
        lastOf[item.section] = item.microBatch;
    Time launched = 0;
    for (const WorkItem &item : device.order) {
      const Template &tasks = item.once ? device.once : device.micro;
      bool last = item.once || lastOf[item.section] == item.microBatch;
      for (uint32_t t = tasks.sectionBegin[item.section];
           t < tasks.sectionBegin[item.section + 1]; ++t) {
        const Task &task = tasks.tasks[t];
        if (task.when == When::LastMicroBatch && !last)
          continue;
        launched += latency;
        Instance instance{launched,
                          task.collective < 0
                              ? task.duration
                              : w.collectives[task.collective].cost.bytes,
                          {},
                          all.size()};
        if (auto found = tail.find(task.stream); found != tail.end())
          instance.after.push_back(found->second);
        for (uint32_t dependency : task.dependsOn)
          if (auto found = known.find({item.once, item.microBatch, dependency});
              found != known.end())
            instance.after.push_back(found->second);
        for (auto [onceTask, microTask] : device.onceDependsOn)
          if (item.once && onceTask == t) {
            const auto &begin = device.micro.sectionBegin;
            uint32_t section =
                std::upper_bound(begin.begin(), begin.end(), microTask) -
                begin.begin() - 1;
            instance.after.push_back(known.at({0, lastOf[section], microTask}));
          }
        if (task.collective >= 0)
          instance.meeting =
              meetings
                  .try_emplace(
                      {size_t(task.collective), item.once,
                       task.when == When::LastMicroBatch ? 0 : item.microBatch,
                       0},
                      all.size())
                  .first->second;
        tail[task.stream] = all.size();
        known[{item.once, item.microBatch, t}] = all.size();
        all.push_back(instance);
      }
    }
  }
  Time end = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (Instance &instance : all) {
      Time start = std::max(instance.launch, instance.start);
      for (size_t before : instance.after)
        start = std::max(start, all[before].start + all[before].duration);
      // The first member of a meeting holds its common start.
      Instance &common = all[instance.meeting];
      start = std::max(start, common.start);
      changed |= start != instance.start || start != common.start;
      instance.start = common.start = start;
      end = std::max(end, start + instance.duration);
    }
  }
  return end;
}

/// Sees that memory is never negative and all of it is returned.
class MemoryWatch : public Listener {
public:
  void onBegin(const Workload &workload, ArrayRef<Time> times) override {
    tracker.onBegin(workload, times);
    for (uint32_t c = 0; c < workload.classes.size(); ++c)
      resident.push_back(tracker.current(c));
  }
  void onAllocate(const TaskInstance &task, uint32_t buffer,
                  Time now) override {
    tracker.onAllocate(task, buffer, now);
  }
  void onFree(const TaskInstance &task, uint32_t buffer, Time now) override {
    tracker.onFree(task, buffer, now);
    EXPECT_GE(tracker.current(task.classIndex), resident[task.classIndex]);
  }
  void onTaskStart(const TaskInstance &task, Time now) override {
    EXPECT_GE(now, task.ready);
    EXPECT_GE(now, task.launched);
    EXPECT_GE(now, lastTime);
    lastTime = now;
  }
  void onFinish(Time) override {
    for (uint32_t c = 0; c < resident.size(); ++c)
      EXPECT_EQ(tracker.current(c), resident[c]);
  }

private:
  MemoryTracker tracker;
  std::vector<int64_t> resident;
  Time lastTime = 0;
};

TEST(RandomWorkloads, AgreeWithTheOracle) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = Generator(seed).make();
    MemoryWatch watch;
    SimulationResult result = simulateOrFail(workload, {&watch});
    EXPECT_EQ(result.run.iterationTime, oracle(workload));
    for (const ClassResult &device : result.classes) {
      EXPECT_EQ(device.breakdown.total(), result.run.iterationTime);
      int64_t byOwner = 0;
      for (int64_t bytes : device.memory.byOwner) {
        EXPECT_GE(bytes, 0);
        byOwner += bytes;
      }
      EXPECT_EQ(byOwner, device.memory.bytes);
    }
    // Listeners do not change the run.
    Expected<RunResult> alone = run(workload, TableNetwork());
    ASSERT_TRUE(bool(alone));
    EXPECT_EQ(alone->iterationTime, result.run.iterationTime);
    EXPECT_EQ(alone->tasks, result.run.tasks);
    EXPECT_EQ(alone->events, result.run.events);
  }
}

TEST(RandomWorkloads, TheSameInputGivesTheSameBytes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Workload workload = Generator(seed).make();
    std::string texts[2];
    for (std::string &text : texts) {
      raw_string_ostream os(text);
      writeReport(os, workload, simulateOrFail(workload));
    }
    EXPECT_EQ(texts[0], texts[1]);
  }
}

/// T <= T' <= 2T after something became half as fast; each task may have lost
/// half a picosecond to rounding.
void expectSlowerAtMostTwice(const RunResult &fast, const RunResult &slow) {
  EXPECT_GE(slow.iterationTime, fast.iterationTime);
  EXPECT_LE(slow.iterationTime,
            2 * fast.iterationTime + static_cast<Time>(fast.tasks));
}

TEST(RandomWorkloads, HalfTheBandwidthNeverHelpsAndAtMostDoubles) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = Generator(seed).make();
    for (Collective &collective : workload.collectives)
      collective.cost.bytes *= 97;
    machine::Cluster slower = workload.cluster;
    slower.intraNode.bandwidth /= 2;
    slower.interNode.bandwidth /= 2;
    auto fast = run(workload, *cost::createAlphaBetaModel(workload.cluster));
    auto slow = run(workload, *cost::createAlphaBetaModel(slower));
    ASSERT_TRUE(fast && slow);
    expectSlowerAtMostTwice(*fast, *slow);
  }
}

TEST(RandomWorkloads, HalfThePeakNeverHelpsAndAtMostDoubles) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = Generator(seed).make();
    machine::Device device = workload.cluster.device;
    device.memoryBandwidth = 1e12;
    auto timesOn = [&](double peak) {
      device.peakFlops = {{machine::DType::F32, peak}};
      auto model = cost::createRooflineModel(device);
      Workload timed = workload;
      for (DeviceClass &c : timed.classes)
        for (Template *tasks : {&c.micro, &c.once})
          for (Task &task : tasks->tasks)
            task.duration =
                model->cost({"op", double(task.duration) * 3, 50}).time;
      return run(timed, TableNetwork());
    };
    auto fast = timesOn(2e12);
    auto slow = timesOn(1e12);
    ASSERT_TRUE(fast && slow);
    expectSlowerAtMostTwice(*fast, *slow);
  }
}

} // namespace
