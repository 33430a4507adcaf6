//===- PropertyTest.cpp - random workloads against an oracle --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the engine on random workloads with a short oracle that computes the
// same times by relaxation over all task instances.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Report.h"
#include "RandomWorkloads.h"

#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Flows share no links, and nothing slows kernels or flows.
constexpr EngineOptions undisturbed = {/*share=*/false, /*overlap=*/false,
                                       /*skipRecurrence=*/true};

Time durationAlone(const Workload &w, const Flow &flow) {
  if (flow.volume == 0)
    return flow.latency;
  int64_t rate = flow.ceiling;
  constexpr int64_t second = 1000000000000;
  return flow.latency + (flow.volume * second + rate - 1) / rate;
}

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
  for (size_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    std::map<std::array<uint32_t, 3>, size_t> known;
    std::map<Stream, size_t> tail;
    std::map<uint32_t, uint32_t> lastOf, firstOf;
    for (const WorkItem &item : device.order)
      if (!item.once) {
        lastOf[item.section] = item.microBatch;
        firstOf.try_emplace(item.section, item.microBatch);
      }
    Time launched = 0;
    for (const WorkItem &item : device.order) {
      const Template &tasks = item.once ? device.once : device.micro;
      bool last = item.once || lastOf[item.section] == item.microBatch;
      bool first = item.once || firstOf[item.section] == item.microBatch;
      for (uint32_t t = tasks.sectionBegin[item.section];
           t < tasks.sectionBegin[item.section + 1]; ++t) {
        const Task &task = tasks.tasks[t];
        if ((task.when == When::LastMicroBatch && !last) ||
            (task.when == When::FirstMicroBatch && !first))
          continue;
        launched += device.launchLatency + task.launch;
        Instance instance{
            launched,
            task.collective < 0
                ? task.duration
                : durationAlone(w, w.collectives[task.collective].flow),
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
                  .try_emplace({size_t(task.collective), item.once,
                                task.when == When::Always ? item.microBatch : 0,
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
      // The first member of a collective holds the common start.
      Instance &common = all[instance.meeting];
      start = std::max(start, common.start);
      changed |= start != instance.start || start != common.start;
      instance.start = common.start = start;
      end = std::max(end, start + instance.duration);
    }
  }
  return end;
}

/// Listener that checks that memory in use is never negative and is all freed
/// at the end.
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
    SimulationResult result = simulateOrFail(workload, {&watch}, undisturbed);
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
    Expected<RunResult> alone = run(workload, undisturbed);
    ASSERT_TRUE(bool(alone));
    EXPECT_EQ(alone->iterationTime, result.run.iterationTime);
    EXPECT_EQ(alone->tasks, result.run.tasks);
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

/// Checks T <= T' <= 2T after a rate was halved. Rounding may cost each task
/// half a picosecond.
void expectSlowerAtMostTwice(const RunResult &fast, const RunResult &slow) {
  EXPECT_GE(slow.iterationTime, fast.iterationTime);
  EXPECT_LE(slow.iterationTime,
            2 * fast.iterationTime + static_cast<Time>(fast.tasks));
}

TEST(RandomWorkloads, HalfTheBandwidthNeverHelpsAndAtMostDoubles) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = Generator(seed).make();
    Workload slower = workload;
    for (LinkClass &link : slower.links)
      link.capacity /= 2;
    for (Collective &collective : slower.collectives)
      collective.flow.ceiling /= 2;
    // This does not hold for shared links, where a flow that is late can help
    // others.
    auto fast = run(workload, undisturbed);
    auto slow = run(slower, undisturbed);
    ASSERT_TRUE(fast && slow);
    expectSlowerAtMostTwice(*fast, *slow);
  }
}

TEST(RandomWorkloads, HalfThePeakNeverHelpsAndAtMostDoubles) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = Generator(seed).make();
    machine::Device device = workload.cluster.devices[0];
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
      return run(timed, undisturbed);
    };
    auto fast = timesOn(2e12);
    auto slow = timesOn(1e12);
    ASSERT_TRUE(fast && slow);
    expectSlowerAtMostTwice(*fast, *slow);
  }
}

} // namespace
