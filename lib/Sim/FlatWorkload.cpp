//===- FlatWorkload.cpp - a workload as flat arrays -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatWorkload.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace proteus::sim;

IndexLists IndexLists::of(size_t count,
                          ArrayRef<std::pair<uint32_t, uint32_t>> edges) {
  IndexLists lists;
  lists.begin.assign(count + 1, 0);
  lists.entries.resize(edges.size());
  for (auto [from, to] : edges)
    ++lists.begin[from + 1];
  for (size_t list = 0; list < count; ++list)
    lists.begin[list + 1] += lists.begin[list];
  std::vector<uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (auto [from, to] : edges)
    lists.entries[next[from]++] = to;
  return lists;
}

static void flattenTasks(const Template &from, FlatTemplate &flat) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  flat.initial.assign(from.tasks.size() + from.buffers.size(), 0);
  uint32_t *users = flat.initial.data() + from.tasks.size();
  for (uint32_t t = 0; t < from.tasks.size(); ++t) {
    const Task &task = from.tasks[t];
    flat.tasks.push_back(
        {task.duration, task.collective, task.stream, task.when, task.matrix});
    flat.initial[t] = task.dependsOn.size();
    for (uint32_t dependency : task.dependsOn)
      edges.emplace_back(dependency, t);
    flat.allocates.beginList();
    flat.uses.beginList();
    for (uint32_t buffer : task.allocates) {
      flat.allocates.add(buffer);
      flat.uses.add(buffer);
      ++users[buffer];
    }
    for (uint32_t buffer : task.reads) {
      flat.uses.add(buffer);
      ++users[buffer];
    }
  }
  flat.allocates.finish();
  flat.uses.finish();
  flat.successors = IndexLists::of(from.tasks.size(), edges);
}

/// Returns `time` + `by`, or `mostLaunchTime` if the sum is larger.
static Time later(Time time, Time by) {
  return by >= mostLaunchTime - time ? mostLaunchTime : time + by;
}

static void flattenSections(const Template &from, Time latency,
                            FlatTemplate &flat) {
  size_t sections =
      from.sectionBegin.empty() ? 0 : from.sectionBegin.size() - 1;
  for (unsigned variant = 0; variant < numVariants; ++variant)
    flat.launched[variant].assign(from.tasks.size(), 0);
  for (size_t s = 0; s < sections; ++s) {
    uint32_t begin = from.sectionBegin[s], end = from.sectionBegin[s + 1];
    for (unsigned variant = 0; variant < numVariants; ++variant) {
      auto runs = [&](uint32_t t) {
        return runsIn(flat.tasks[t].when, variant);
      };
      Time launched = 0;
      FlatTemplate::Receives receives;
      for (uint32_t t = begin; t < end; ++t) {
        if (runs(t))
          launched = later(later(launched, latency), from.tasks[t].launch);
        if (runs(t) && flat.tasks[t].receives())
          receives = {receives.count + 1, launched};
        flat.launched[variant][t] = launched;
      }
      flat.launches[variant].push_back(launched);
      flat.receives[variant].push_back(receives);
      for (unsigned stream = 0; stream < numStreams; ++stream) {
        flat.queues.beginList();
        for (uint32_t t = begin; t < end; ++t)
          if (runs(t) && static_cast<unsigned>(flat.tasks[t].stream) == stream)
            flat.queues.add(t);
      }
    }
    flat.notAlways.beginList();
    for (uint32_t t = begin; t < end; ++t)
      if (flat.tasks[t].when != When::Always)
        flat.notAlways.add(t);
  }
  flat.queues.finish();
  flat.notAlways.finish();
}

std::vector<uint32_t>
proteus::sim::firstMicroBatches(const DeviceClass &device) {
  const Template &micro = device.micro;
  size_t sections =
      micro.sectionBegin.empty() ? 0 : micro.sectionBegin.size() - 1;
  std::vector<uint32_t> first(sections, noMicroBatch);
  for (const WorkItem &item : llvm::reverse(device.order))
    if (!item.once)
      first[item.section] = item.microBatch;
  for (size_t s = 0; s < sections; ++s)
    if (std::none_of(micro.tasks.begin() + micro.sectionBegin[s],
                     micro.tasks.begin() + micro.sectionBegin[s + 1],
                     [](const Task &task) {
                       return task.when == When::FirstMicroBatch;
                     }))
      first[s] = noMicroBatch;
  return first;
}

static void flattenOrder(const DeviceClass &device, FlatClass &flat) {
  std::vector<size_t> lastItem(flat.templates[0].numSections());
  for (size_t i = 0; i < device.order.size(); ++i)
    if (!device.order[i].once)
      lastItem[device.order[i].section] = i;
  flat.lastMicroBatch.resize(lastItem.size());
  for (size_t s = 0; s < lastItem.size(); ++s)
    flat.lastMicroBatch[s] = device.order[lastItem[s]].microBatch;
  flat.firstMicroBatch = firstMicroBatches(device);

  for (size_t i = 0; i < device.order.size(); ++i) {
    const WorkItem &item = device.order[i];
    bool last = item.once || lastItem[item.section] == i;
    bool first =
        item.once || flat.firstMicroBatch[item.section] == item.microBatch;
    flat.order.push_back(
        {item.section, item.microBatch, item.once, last, first, flat.launches});
    unsigned variant = flat.order.back().variant();
    const FlatTemplate &tasks = flat.templates[item.once];
    flat.launches = later(flat.launches, tasks.launches[variant][item.section]);
    flat.hostWaits |= device.hostWaits && !item.once &&
                      tasks.receives[variant][item.section].count > 0;
  }
}

FlatClass proteus::sim::flatten(const DeviceClass &device) {
  FlatClass flat;
  for (bool once : {false, true}) {
    const Template &from = once ? device.once : device.micro;
    flattenTasks(from, flat.templates[once]);
    flattenSections(from, device.launchLatency, flat.templates[once]);
  }
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (auto [onceTask, microTask] : device.onceDependsOn) {
    edges.emplace_back(microTask, onceTask);
    ++flat.templates[1].initial[onceTask];
  }
  flat.templates[0].onceSuccessors =
      IndexLists::of(device.micro.tasks.size(), edges);
  flattenOrder(device, flat);
  return flat;
}
