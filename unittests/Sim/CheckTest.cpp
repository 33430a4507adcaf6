//===- CheckTest.cpp - messages of the check ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestWorkloads.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Returns the error of a valid pipeline of two stages with an update after
/// `change` has modified it.
std::string errorAfter(function_ref<void(Workload &)> change) {
  PipelineOptions options;
  options.stages = 2;
  options.microBatches = 2;
  options.update = ms;
  Builder b = pipeline(options);
  change(b.workload);
  return toString(check(b.workload));
}

/// Returns the error after `change` has modified the first class.
std::string errorInClass(function_ref<void(DeviceClass &)> change) {
  return errorAfter([&](Workload &w) { change(w.classes[0]); });
}

// Stage 0: forward, send activation | receive gradient, backward | update.
// Stage 1: receive activation, forward | backward, send gradient | update.

TEST(Check, AcceptsAPipeline) {
  EXPECT_EQ(errorAfter([](Workload &) {}), "");
}

TEST(Check, WorkloadAsAWhole) {
  EXPECT_EQ(errorAfter([](Workload &w) { w.classes.clear(); }),
            "the workload has no device class");
  EXPECT_EQ(errorAfter([](Workload &w) { w.info.microBatches = 0; }),
            "expected a positive number of micro-batches, got 0");
  EXPECT_EQ(errorAfter([](Workload &w) { w.buckets = {{"b0", -4}}; }),
            "bucket 'b0' has a negative size of -4 bytes");
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.ranks = 0; }),
            "class 'stage 0': stands for 0 ranks");
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.deviceType = 1; }),
            "class 'stage 0': is of device type 1, but the cluster has 1");
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.launchLatency = -1; }),
            "class 'stage 0': expected a launch latency that is not negative, "
            "got -1 ps");
  for (double factor : {0.5, 1001., std::nan("")}) {
    std::string message = "class 'stage 0': expected an interference factor "
                          "from 1 to 1000, got " +
                          std::to_string(factor);
    EXPECT_EQ(errorInClass([&](DeviceClass &c) {
                c.interference.matrixKernel = factor;
              }),
              message);
    EXPECT_EQ(errorInClass([&](DeviceClass &c) {
                c.interference.memoryKernel = factor;
              }),
              message);
    EXPECT_EQ(errorInClass([&](DeviceClass &c) {
                c.interference.communication = factor;
              }),
              message);
  }
  EXPECT_EQ(errorInClass([](DeviceClass &c) {
              c.resident = {{"weights", -1, MemoryOwner::Parameters}};
            }),
            "class 'stage 0': resident buffer 'weights' has a negative size of "
            "-1 bytes");
}

TEST(Check, Sections) {
  const char *message = "class 'stage 0': the sections of the "
                        "micro-batch-template do not cover its 4 tasks from "
                        "first to last";
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.micro.sectionBegin.clear(); }),
            message);
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.micro.sectionBegin[0] = 1; }),
            message);
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.micro.sectionBegin[1] = 9; }),
            message);
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.micro.sectionBegin[2] = 3; }),
            message);
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.once.sectionBegin = {0, 0}; }),
            "class 'stage 0': the sections of the once-template do not cover "
            "its 1 tasks from first to last");
}

TEST(Check, Tasks) {
  auto error = [](function_ref<void(Task &)> change) {
    return errorInClass([&](DeviceClass &c) { change(c.micro.tasks[0]); });
  };
  std::string prefix = "class 'stage 0', task 'forward': ";
  EXPECT_EQ(error([](Task &t) { t.label = 99; }),
            "class 'stage 0', task '?': label 99 is out of range (there are "
            "8)");
  EXPECT_EQ(error([](Task &t) { t.opKind = 99; }),
            prefix + "operation kind 99 is out of range (there are 8)");
  EXPECT_EQ(error([](Task &t) { t.stream = static_cast<Stream>(numStreams); }),
            prefix + "stream 10 is out of range (there are 10)");
  EXPECT_EQ(error([](Task &t) { t.duration = -5; }),
            prefix + "expected a duration that is not negative, got -5 ps");
  EXPECT_EQ(error([](Task &t) { t.collective = 2; }),
            prefix + "collective 2 is out of range (there are 2)");
  EXPECT_EQ(error([](Task &t) { t.collective = -2; }),
            prefix + "collective -2 is out of range (there are 2)");
  EXPECT_EQ(error([](Task &t) { t.bucket = 0; }),
            prefix + "bucket 0 is out of range (there are 0)");
  EXPECT_EQ(error([](Task &t) { t.dependsOn = {4}; }),
            prefix + "dependency 4 is out of range (there are 4)");
  EXPECT_EQ(error([](Task &t) { t.dependsOn = {0}; }),
            prefix + "depends on itself");
  EXPECT_EQ(error([](Task &t) { t.allocates = {1}; }),
            prefix + "allocated buffer 1 is out of range (there are 1)");
  EXPECT_EQ(error([](Task &t) { t.reads = {1}; }),
            prefix + "read buffer 1 is out of range (there are 1)");
}

TEST(Check, Buffers) {
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.micro.buffers[0].bytes = -8; }),
            "class 'stage 0': buffer 'activation' has a negative size of -8 "
            "bytes");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { c.micro.tasks[1].allocates = {0}; }),
      "class 'stage 0', task 'send activation': allocates the buffer "
      "'activation', which 'forward' allocates too");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { c.micro.tasks[0].allocates.clear(); }),
      "class 'stage 0', task 'backward': reads the buffer 'activation', which "
      "no task allocates");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { c.micro.tasks[3].reads = {0, 0}; }),
      "class 'stage 0', task 'backward': reads the buffer 'activation' twice");
}

TEST(Check, Order) {
  auto error = [](function_ref<void(std::vector<WorkItem> &)> change) {
    return errorInClass([&](DeviceClass &c) { change(c.order); });
  };
  using Order = std::vector<WorkItem>;
  EXPECT_EQ(error([](Order &o) { o[1].section = 2; }),
            "class 'stage 0': work item 1 names section 2 of 2");
  EXPECT_EQ(error([](Order &o) { o[1].microBatch = 2; }),
            "class 'stage 0': work item 1 names micro-batch 2 of 2");
  EXPECT_EQ(error([](Order &o) { o.back().microBatch = 1; }),
            "class 'stage 0': work item 4 names micro-batch 1 of 1");
  EXPECT_EQ(error([](Order &o) { o[1] = o[0]; }),
            "class 'stage 0': work item 1 repeats section 0 of micro-batch 0");
  EXPECT_EQ(error([](Order &o) { o.erase(o.begin() + 1); }),
            "class 'stage 0': the order lacks section 0 of micro-batch 1");
  EXPECT_EQ(error([](Order &o) { o.pop_back(); }),
            "class 'stage 0': the order lacks section 0 of the once-template");
}

TEST(Check, DependenciesThatCanNeverBeMet) {
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { c.micro.tasks[0].dependsOn = {3}; }),
      "class 'stage 0', task 'forward': depends on 'backward', which is "
      "issued later to the same stream");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { std::swap(c.order[1], c.order[3]); }),
      "class 'stage 0', task 'backward': depends on 'forward', which is "
      "issued later to the same stream");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { std::swap(c.order[3], c.order[4]); }),
      "class 'stage 0', task 'update': depends on 'backward', which is "
      "issued later to the same stream");
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.onceDependsOn = {{0, 4}}; }),
            "class 'stage 0': the dependency of once-task 0 on micro-task 4 is "
            "out of range");
  EXPECT_EQ(errorInClass([](DeviceClass &c) { c.onceDependsOn = {{1, 0}}; }),
            "class 'stage 0': the dependency of once-task 1 on micro-task 0 is "
            "out of range");
  EXPECT_EQ(errorInClass([](DeviceClass &c) {
              c.micro.tasks[0].when = When::FirstMicroBatch;
              c.onceDependsOn = {{0, 0}};
            }),
            "class 'stage 0', task 'update': depends on 'forward', which runs "
            "with the first micro-batch only");
}

TEST(Check, CollectivesThemselves) {
  auto error = [](function_ref<void(Collective &)> change) {
    return errorAfter([&](Workload &w) {
      w.collectives[0].axes = "stage 0 -> 1";
      change(w.collectives[0]);
    });
  };
  std::string prefix = "send_recv 0 (stage 0 -> 1): ";
  EXPECT_EQ(error([](Collective &c) { c.bytes = -1; }),
            prefix + "negative size of -1 bytes");
  EXPECT_EQ(error([](Collective &c) { c.groups = 0; }),
            prefix + "stands for 0 groups");
  EXPECT_EQ(error([](Collective &c) { c.groupSize = 0; }),
            prefix + "has 0 ranks");
  EXPECT_EQ(error([](Collective &c) { c.members.clear(); }),
            prefix + "has no member");
  EXPECT_EQ(error([](Collective &c) { c.members = {0, 2}; }),
            prefix + "member class 2 is out of range (there are 2)");
  EXPECT_EQ(error([](Collective &c) { c.members = {1, 0}; }),
            prefix + "the member classes are not ascending");
  EXPECT_EQ(errorAfter([](Workload &w) {
              w.classes.push_back(w.classes[1]);
              w.collectives[0].members = {0, 1, 2};
            }),
            "send_recv 0 (dp): has more than a sender and a receiver");
}

TEST(Check, Links) {
  auto error = [](LinkClass link) {
    return errorAfter([&](Workload &w) { w.links = {link}; });
  };
  EXPECT_EQ(error({"nic", 0}),
            "link 'nic': expected a capacity from 1 to 70368744177664 bytes/s, "
            "got 0");
  EXPECT_EQ(error({"nic", int64_t(1) << 47}),
            "link 'nic': expected a capacity from 1 to 70368744177664 bytes/s, "
            "got 140737488355328");
  EXPECT_EQ(error({"nic", 1, 0}), "link 'nic': stands for 0 links");
}

TEST(Check, Flows) {
  auto error = [](Flow flow) {
    return errorAfter([&](Workload &w) {
      w.links = {{"nic", 100}};
      w.collectives[1].flow = flow;
    });
  };
  std::string prefix = "send_recv 1 (dp): ";
  EXPECT_EQ(error({0, 10, 10, 1, {{0, loadUnit}}}), "");
  EXPECT_EQ(error({-1, 0, 0, 0, {}}), prefix + "negative latency of -1 ps");
  EXPECT_EQ(error({0, -1, 0, 0, {}}), prefix + "negative volume of -1 bytes");
  EXPECT_EQ(error({0, 10, 0, 0, {}}),
            prefix + "expected a ceiling from 1 to 70368744177664 bytes/s, "
                     "got 0");
  EXPECT_EQ(error({0, 10, 10, 1, {{1, loadUnit}}}),
            prefix + "link 1 is out of range (there are 1)");
  EXPECT_EQ(error({0, 10, 10, 1, {{0, 0}}}),
            prefix + "expected a load of link 'nic' from 1 to 68719476736, "
                     "got 0");
  EXPECT_EQ(error({0, 10, 10, 1, {{0, 1}, {0, 1}}}),
            prefix + "loads the link 'nic' twice");
}

TEST(Check, CollectivesAndTheirTasks) {
  EXPECT_EQ(errorAfter([](Workload &w) { w.collectives[0].members = {1}; }),
            "class 'stage 0', task 'send activation': takes part in send_recv "
            "0, of which the class is not a member");
  EXPECT_EQ(
      errorInClass([](DeviceClass &c) { c.micro.tasks[2].collective = 0; }),
      "class 'stage 0', task 'receive gradient': takes part in send_recv "
      "0, as another task of the class does");
  EXPECT_EQ(errorAfter([](Workload &w) {
              w.classes[1].micro.tasks[0].when = When::LastMicroBatch;
            }),
            "class 'stage 1', task 'receive activation': does not run "
            "send_recv 0 as often as class 'stage 0' does");
  EXPECT_EQ(errorAfter([](Workload &w) {
              w.classes[1].micro.tasks[0].collective = -1;
              w.classes[1].once.tasks[0].collective = 0;
            }),
            "class 'stage 1', task 'update': does not run send_recv 0 as often "
            "as class 'stage 0' does");
  EXPECT_EQ(errorAfter([](Workload &w) {
              w.classes[1].micro.tasks[0].collective = -1;
            }),
            "class 'stage 1': is a member of send_recv 0 but has no task for "
            "it");
}

TEST(Check, RunningChecksFirst) {
  Workload empty;
  EXPECT_EQ(simulationError(empty), "the workload has no device class");
}

} // namespace
