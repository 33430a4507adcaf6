//===- PhysicsTest.cpp - invariants of all runs ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A listener that follows random runs. It computes the rates of all flows and
// the speeds of all kernels from the running tasks, and integrates them.
//
//===----------------------------------------------------------------------===//

#include "RandomWorkloads.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

__extension__ typedef __int128 Exact;
constexpr Exact second = 1000000000000;
constexpr int64_t unit = 65536;

class PhysicsWatch : public Listener {
public:
  explicit PhysicsWatch(const EngineOptions &options) : options(options) {}

  void onBegin(const Workload &w, ArrayRef<Time>) override {
    workload = &w;
    kernels.resize(w.classes.size());
    memory.resize(w.classes.size());
    moved.resize(w.links.size());
  }

  void onTaskStart(const TaskInstance &instance, Time now) override {
    integrate(now);
    const Task &task = instance.in(*workload);
    EXPECT_GE(now, instance.ready);
    EXPECT_GE(now, instance.launched);
    EXPECT_TRUE(running.insert({instance.classIndex, task.stream}).second)
        << "two tasks on one stream";
    for (uint32_t dependency : task.dependsOn)
      if (templateOf(instance).tasks[dependency].when == When::Always)
        EXPECT_TRUE(ended.count(keyOf(instance, dependency)))
            << "starts before its cause has ended";
    if (task.collective >= 0) {
      const Flow &flow = workload->collectives[task.collective].flow;
      communications.try_emplace(
          task.collective,
          Communication{now, now + flow.latency, flow.volume * second, 0});
    } else if (task.stream == Stream::Compute) {
      kernels[instance.classIndex] = {&task, Exact(task.duration) * unit, 0};
    }
    started[{instance.classIndex, task.stream}] = now;
  }

  void onTaskEnd(const TaskInstance &instance, Time now) override {
    integrate(now);
    const Task &task = instance.in(*workload);
    running.erase({instance.classIndex, task.stream});
    ended.insert(keyOf(instance, instance.task));
    if (task.collective >= 0) {
      auto found = communications.find(task.collective);
      if (found != communications.end()) {
        expectDone(found->second, now,
                   workload->collectives[task.collective].flow);
        communications.erase(found);
      }
    } else if (task.stream == Stream::Compute) {
      Kernel &kernel = kernels[instance.classIndex];
      // The kernel ends at this picosecond and no earlier.
      EXPECT_LE(kernel.remaining, 0);
      EXPECT_TRUE(task.duration == 0 || kernel.remaining > -kernel.speed);
      kernel.task = nullptr;
    } else {
      EXPECT_EQ(now,
                (started[{instance.classIndex, task.stream}] + task.duration));
    }
  }

  void onAllocate(const TaskInstance &task, uint32_t buffer, Time) override {
    memory[task.classIndex] += templateOf(task).buffers[buffer].bytes;
  }
  void onFree(const TaskInstance &task, uint32_t buffer, Time) override {
    memory[task.classIndex] -= templateOf(task).buffers[buffer].bytes;
    EXPECT_GE(memory[task.classIndex], 0);
  }
  void onFinish(Time iterationTime) override {
    for (int64_t bytes : memory)
      EXPECT_EQ(bytes, 0);
    for (size_t link = 0; options.share && link < moved.size(); ++link)
      EXPECT_LE(moved[link], Exact(iterationTime) *
                                 workload->links[link].capacity * loadUnit);
  }

private:
  struct Communication {
    Time start, moves; ///< `moves`: time from which bytes move
    Exact remaining;   ///< bytes x ps / s
    int64_t rate;      ///< latest rate
  };
  struct Kernel {
    const Task *task = nullptr;
    Exact remaining = 0;
    int64_t speed = 0; ///< latest speed
  };
  using Key = std::tuple<uint32_t, bool, uint32_t, uint32_t>;

  static Key keyOf(const TaskInstance &instance, uint32_t task) {
    return {instance.classIndex, instance.once, instance.microBatch, task};
  }
  const Template &templateOf(const TaskInstance &instance) const {
    const DeviceClass &device = workload->classes[instance.classIndex];
    return instance.once ? device.once : device.micro;
  }

  void expectDone(const Communication &communication, Time now,
                  const Flow &flow) {
    if (flow.volume == 0) {
      EXPECT_EQ(now, communication.moves);
      return;
    }
    EXPECT_LE(communication.remaining, 0);
    EXPECT_GT(communication.remaining, -Exact(communication.rate));
  }

  bool computes(uint32_t classIndex) const {
    return kernels[classIndex].task != nullptr;
  }
  static int64_t speedOf(double factor) { return std::llround(unit / factor); }

  int64_t ceilingOf(uint32_t index) const {
    const Collective &collective = workload->collectives[index];
    double factor = 1;
    bool slowed = false;
    for (uint32_t member : collective.members) {
      double own = workload->classes[member].interference.communication;
      factor = std::max(factor, own);
      slowed |= own > 1 && computes(member);
    }
    slowed &= options.overlap && collective.flow.channels > 0;
    return slowed ? std::max<int64_t>(int64_t(Exact(collective.flow.ceiling) *
                                              speedOf(factor) / unit),
                                      1)
                  : collective.flow.ceiling;
  }

  /// Returns the rates from `now` on. All rates rise together until a ceiling
  /// or a link stops them.
  std::map<uint32_t, int64_t> ratesAt(Time now) const {
    std::map<uint32_t, int64_t> rates, ceilings;
    for (const auto &[index, communication] : communications)
      if (communication.moves <= now && communication.remaining > 0)
        ceilings[index] = ceilingOf(index);
    auto loadsOf = [&](uint32_t index) -> const std::vector<LinkClassLoad> & {
      return workload->collectives[index].flow.loads;
    };
    auto capacityOf = [&](uint32_t link) {
      return Exact(workload->links[link].capacity) * loadUnit;
    };
    if (!options.share) {
      for (auto [index, ceiling] : ceilings)
        rates[index] = ceiling;
      return rates;
    }
    std::map<uint32_t, Exact> demand;
    for (auto [index, ceiling] : ceilings)
      for (const LinkClassLoad &load : loadsOf(index))
        demand[load.link] += Exact(load.load) * ceiling;
    while (rates.size() < ceilings.size()) {
      std::map<uint32_t, Exact> left, rising;
      for (auto [index, ceiling] : ceilings)
        for (const LinkClassLoad &load : loadsOf(index)) {
          left.try_emplace(load.link, capacityOf(load.link));
          if (rates.count(index))
            left[load.link] -= Exact(load.load) * rates[index];
          else
            rising[load.link] += load.load;
        }
      auto levelOf = [&](uint32_t link) { return left[link] / rising[link]; };
      auto binds = [&](uint32_t link) {
        return demand[link] > capacityOf(link);
      };
      Exact level = -1;
      for (auto [index, ceiling] : ceilings)
        if (!rates.count(index)) {
          if (level < 0 || ceiling < level)
            level = ceiling;
          for (const LinkClassLoad &load : loadsOf(index))
            if (binds(load.link))
              level = std::min(level, levelOf(load.link));
        }
      std::map<uint32_t, int64_t> stopped;
      for (auto [index, ceiling] : ceilings)
        if (!rates.count(index)) {
          bool stops = ceiling == level;
          for (const LinkClassLoad &load : loadsOf(index))
            stops |= binds(load.link) && levelOf(load.link) == level;
          if (stops)
            stopped[index] = int64_t(level);
        }
      rates.insert(stopped.begin(), stopped.end());
    }
    return rates;
  }

  void integrateSegment(Time begin, Time end) {
    std::map<uint32_t, Exact> used;
    for (auto [index, rate] : ratesAt(begin)) {
      Communication &communication = communications.at(index);
      communication.rate = rate;
      communication.remaining -= Exact(rate) * (end - begin);
      for (const LinkClassLoad &load :
           workload->collectives[index].flow.loads) {
        used[load.link] += Exact(load.load) * rate;
        moved[load.link] += Exact(load.load) * rate * (end - begin);
      }
    }
    for (auto [link, sum] : used)
      EXPECT_TRUE(!options.share ||
                  sum <= Exact(workload->links[link].capacity) * loadUnit);
    for (uint32_t c = 0; c < kernels.size(); ++c) {
      Kernel &kernel = kernels[c];
      if (!kernel.task)
        continue;
      bool disturbed = false;
      for (const auto &[index, communication] : communications) {
        const Collective &collective = workload->collectives[index];
        disturbed |= options.overlap && collective.flow.channels > 0 &&
                     llvm::is_contained(collective.members, c);
      }
      const machine::Interference &factors = workload->classes[c].interference;
      kernel.speed = !disturbed            ? unit
                     : kernel.task->matrix ? speedOf(factors.matrixKernel)
                                           : speedOf(factors.memoryKernel);
      kernel.remaining -= Exact(kernel.speed) * (end - begin);
    }
  }

  void integrate(Time now) {
    ASSERT_GE(now, last);
    while (last < now) {
      Time end = now;
      for (const auto &[index, communication] : communications)
        if (communication.moves > last)
          end = std::min(end, communication.moves);
      integrateSegment(last, end);
      last = end;
    }
  }

  EngineOptions options;
  const Workload *workload = nullptr;
  Time last = 0;
  std::map<uint32_t, Communication> communications; ///< running ones, by
                                                    ///< collective
  std::vector<Kernel> kernels;                      ///< per class
  std::set<std::pair<uint32_t, Stream>> running;
  std::map<std::pair<uint32_t, Stream>, Time> started;
  std::set<Key> ended;
  std::vector<int64_t> memory;
  std::vector<Exact> moved; ///< per link, in bytes x loadUnit x ps / s
};

/// Returns the longest possible time of a run without interference and sharing:
/// all tasks one after another.
Time serialTime(const Workload &w) {
  Time sum = 0, launches = 0;
  EngineOptions alone = {false, false, false};
  struct Times : Listener {
    void onBegin(const Workload &, ArrayRef<Time> collectiveTimes) override {
      times = collectiveTimes.vec();
    }
    std::vector<Time> times;
  } times;
  EXPECT_TRUE(bool(run(w, alone, {&times})));
  for (const DeviceClass &device : w.classes) {
    Time own = 0;
    for (bool once : {false, true})
      for (const Task &task : (once ? device.once : device.micro).tasks) {
        int64_t instances = once ? 1 : w.info.microBatches;
        own += instances * (device.launchLatency + task.launch);
        sum += instances * (task.collective < 0 ? task.duration
                                                : times.times[task.collective]);
      }
    launches = std::max(launches, own);
  }
  return sum + launches;
}

TEST(Physics, HoldsInRandomRuns) {
  for (unsigned seed = 0; seed < 400; ++seed)
    for (unsigned model = 0; model < 4; ++model) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " model " +
                   std::to_string(model));
      EngineOptions options = {(model & 1) != 0, (model & 2) != 0, true};
      Workload workload = Generator(seed).make();
      PhysicsWatch watch(options);
      SimulationResult result = simulateOrFail(workload, {&watch}, options);
      for (const ClassResult &device : result.classes) {
        EXPECT_LE(device.breakdown.busy(), result.run.iterationTime);
        EXPECT_EQ(device.breakdown.total(), result.run.iterationTime);
      }
      if (!options.share && !options.overlap)
        EXPECT_LE(result.run.iterationTime, serialTime(workload));
    }
}

} // namespace
