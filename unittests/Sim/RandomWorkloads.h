//===- RandomWorkloads.h - random workloads for tests -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_SIM_RANDOMWORKLOADS_H
#define PROTEUS_UNITTESTS_SIM_RANDOMWORKLOADS_H

#include "TestWorkloads.h"

#include <random>

namespace proteus::sim::test {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  /// Returns a workload of classes with the same structure, so that all have
  /// their collectives in the same order; durations differ.
  Workload make() {
    Builder b;
    b.workload.info.microBatches = 1 + pick(5);
    for (int64_t n = pick(5); n > 0; --n)
      b.link(200000000001 + pick(1000000000000));
    Time launchLatency = pick(2) * 3;
    uint32_t classes = 1 + pick(4);
    for (uint32_t c = 0; c < classes; ++c)
      b.addClass("class " + std::to_string(c));
    makeTemplate(b, /*once=*/false, 1 + pick(3));
    makeTemplate(b, /*once=*/true, 1);
    makeOrder(b);
    for (DeviceClass &device : b.workload.classes) {
      device.resident = {{"weights", 1 + pick(50), MemoryOwner::Parameters}};
      device.onceDependsOn = onceEdges;
      device.launchLatency = launchLatency;
      for (Template *tasks : {&device.micro, &device.once})
        for (Task &task : tasks->tasks)
          task.launch = launchLatency ? pick(4) : 0;
      device.interference = {factor(), factor(), factor()};
    }
    return b.workload;
  }

private:
  double factor() { return pick(2) ? 1 : 1 + pick(100) / 70.; }

  /// Adds a collective about as long as a kernel: about a byte per picosecond.
  int32_t makeCollective(Builder &b, std::vector<uint32_t> members) {
    if (pick(3) == 0)
      return b.collective(std::move(members), pick(60));
    Flow flow;
    flow.latency = pick(3) ? pick(10) : 0;
    flow.volume = pick(4) ? pick(60) : 0;
    flow.ceiling = 300000000007 + pick(2000000000000);
    flow.channels = pick(2);
    for (uint32_t link = 0; link < b.workload.links.size(); ++link)
      if (pick(2))
        flow.loads.push_back({link, 1 + pick(2 * loadUnit)});
    return b.flow(std::move(members), std::move(flow));
  }

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

  void makeTask(Builder &b, llvm::ArrayRef<Template *> templates, bool once,
                size_t classes) {
    uint32_t index = templates[0]->tasks.size();
    Task task;
    task.label = b.label("task " + std::to_string(index));
    task.opKind = b.label("op " + std::to_string(index % 3));
    task.stream = static_cast<Stream>(pick(numStreams));
    task.phase = static_cast<Phase>(pick(4));
    task.when = pick(5) == 0   ? When::LastMicroBatch
                : pick(5) == 0 ? When::FirstMicroBatch
                               : When::Always;
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
            {"buffer", 1 + pick(20),
             static_cast<MemoryOwner>(pick(numMemoryOwners))});
    }
    bool isKernel = task.stream == Stream::Compute && pick(3);
    int32_t shared = -1;
    if (!isKernel && classes > 1 && pick(2)) {
      std::vector<uint32_t> members(classes);
      for (uint32_t c = 0; c < classes; ++c)
        members[c] = c;
      shared = makeCollective(b, members);
    }
    for (uint32_t c = 0; c < classes; ++c) {
      Task mine = task;
      mine.duration = pick(40);
      mine.matrix = pick(2);
      if (!isKernel)
        mine.collective = shared >= 0 ? shared : makeCollective(b, {c});
      templates[c]->tasks.push_back(mine);
    }
    if (once && templates[0] == &b.workload.classes[0].once)
      for (uint32_t micro = 0; micro < b.workload.classes[0].micro.tasks.size();
           ++micro)
        if (pick(4) == 0 && b.workload.classes[0].micro.tasks[micro].when !=
                                When::FirstMicroBatch)
          onceEdges.emplace_back(index, micro);
  }

  /// Adds the order of work. Sections of a micro-batch keep their order;
  /// micro-batches are interleaved at random, in the same order for all
  /// classes.
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

} // namespace proteus::sim::test

#endif // PROTEUS_UNITTESTS_SIM_RANDOMWORKLOADS_H
