//===- ReservedMemoryTest.cpp - reserved memory in order of issue ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/ReservedMemory.h"
#include "Proteus/Sim/Allocator.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace proteus::sim;

namespace {

/// Issues every item of every micro-batch without skipping.
AllocatorPeak reserveWithoutSkipping(const Workload &workload, int64_t limit) {
  const DeviceClass &device = workload.classes[0];
  const Template &micro = device.micro;
  CachingAllocator allocator(limit);
  AllocatorPeak peak;
  auto update = [&](const std::string &label) {
    peak.allocated = std::max(peak.allocated, allocator.allocated());
    if (allocator.exceeds() && !peak.exceeded) {
      peak.exceeded = true;
      peak.exceededLabel = label;
    }
    int64_t unused = allocator.reserved() - allocator.allocated();
    if (allocator.reserved() > peak.reserved) {
      peak.reserved = allocator.reserved();
      peak.fragmentation = unused;
      peak.label = label;
    } else if (allocator.reserved() == peak.reserved) {
      peak.fragmentation = std::min(peak.fragmentation, unused);
    }
  };
  for (const Buffer &buffer : device.resident)
    allocator.allocate(buffer.bytes);
  update("");

  std::map<uint32_t, size_t> lastItem, firstItem;
  for (size_t i = 0; i < device.order.size(); ++i) {
    lastItem[device.order[i].section] = i;
    firstItem.try_emplace(device.order[i].section, i);
  }
  // Index in `order` of the item that issues a task, by (micro-batch, task).
  std::map<std::pair<uint32_t, uint32_t>, size_t> itemOf;
  for (size_t i = 0; i < device.order.size(); ++i)
    for (uint32_t t = micro.sectionBegin[device.order[i].section];
         t < micro.sectionBegin[device.order[i].section + 1]; ++t)
      if (micro.tasks[t].when == When::Always ||
          (micro.tasks[t].when == When::LastMicroBatch
               ? lastItem
               : firstItem)[device.order[i].section] == i)
        itemOf[{device.order[i].microBatch, t}] = i;

  using Key = std::pair<uint32_t, uint32_t>; // micro-batch, buffer
  std::map<Key, CachingAllocator::Handle> blocks;
  std::map<Key, size_t> users;
  for (auto [place, item] : itemOf) {
    const Task &task = micro.tasks[place.second];
    for (uint32_t buffer : task.allocates)
      ++users[{place.first, buffer}];
    for (uint32_t buffer : task.reads)
      ++users[{place.first, buffer}];
  }
  for (size_t i = 0; i < device.order.size(); ++i) {
    uint32_t m = device.order[i].microBatch;
    for (uint32_t t = micro.sectionBegin[device.order[i].section];
         t < micro.sectionBegin[device.order[i].section + 1]; ++t) {
      if (itemOf.count({m, t}) == 0)
        continue;
      const Task &task = micro.tasks[t];
      for (uint32_t buffer : task.allocates) {
        blocks[{m, buffer}] = allocator.allocate(micro.buffers[buffer].bytes);
        update(workload.labels[task.label]);
      }
      auto release = [&](uint32_t buffer) {
        if (--users[{m, buffer}] > 0 || blocks.count({m, buffer}) == 0)
          return;
        allocator.free(blocks[{m, buffer}]);
        blocks.erase({m, buffer});
      };
      for (uint32_t buffer : task.allocates)
        release(buffer);
      for (uint32_t buffer : task.reads)
        release(buffer);
    }
  }
  peak.releases = allocator.releases();
  return peak;
}

/// Returns a stage in 1F1B order. Its backward section reads some buffers of
/// the forward section.
Workload randomStage(std::mt19937 &random) {
  auto below = [&](uint32_t n) { return random() % n; };
  Workload workload;
  workload.labels = {"a", "b", "c", "d"};
  workload.info.microBatches = 1 + below(40);
  DeviceClass device;
  device.resident.push_back({"weights", int64_t(below(64)) << 20});
  device.micro.sectionBegin = {0};
  for (uint32_t section = 0; section < 2; ++section) {
    uint32_t count = 1 + below(12);
    for (uint32_t t = 0; t < count; ++t) {
      Task task;
      task.label = below(4);
      if (below(5) == 0)
        task.when = below(2) ? When::LastMicroBatch : When::FirstMicroBatch;
      for (uint32_t buffer = 0; buffer < device.micro.buffers.size(); ++buffer)
        if (below(4) == 0)
          task.reads.push_back(buffer);
      for (uint32_t n = below(3); n > 0; --n) {
        task.allocates.push_back(device.micro.buffers.size());
        device.micro.buffers.push_back(
            {"x", static_cast<int64_t>(below(1 << (10 + below(16))))});
      }
      device.micro.tasks.push_back(task);
    }
    device.micro.sectionBegin.push_back(device.micro.tasks.size());
  }
  uint32_t microBatches = workload.info.microBatches;
  uint32_t ahead = std::min<uint32_t>(below(6), microBatches);
  uint32_t forward = 0, backward = 0;
  while (forward < ahead)
    device.order.push_back({0, forward++, false});
  while (backward < microBatches) {
    if (forward < microBatches)
      device.order.push_back({0, forward++, false});
    device.order.push_back({1, backward++, false});
  }
  workload.classes.push_back(std::move(device));
  return workload;
}

TEST(ReservedMemory, SkippingPeriodsChangesNothing) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 400; ++round) {
    Workload workload = randomStage(random);
    int64_t unlimited = std::numeric_limits<int64_t>::max();
    AllocatorPeak expected = reserveWithoutSkipping(workload, unlimited);
    // The second limit makes the allocator return memory to the device.
    for (int64_t limit : {unlimited, expected.reserved - (1 << 20)}) {
      expected = reserveWithoutSkipping(workload, limit);
      AllocatorPeak peak = reserve(workload, 0, limit);
      EXPECT_EQ(peak.reserved, expected.reserved) << "round " << round;
      EXPECT_EQ(peak.allocated, expected.allocated) << "round " << round;
      EXPECT_EQ(peak.fragmentation, expected.fragmentation)
          << "round " << round;
      EXPECT_EQ(peak.label, expected.label) << "round " << round;
      EXPECT_EQ(peak.releases, expected.releases) << "round " << round;
      EXPECT_EQ(peak.exceeded, expected.exceeded) << "round " << round;
      EXPECT_EQ(peak.exceededLabel, expected.exceededLabel)
          << "round " << round;
    }
  }
}

} // namespace
