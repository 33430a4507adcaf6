//===- Check.cpp - validation of workloads --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Engine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"

#include <utility>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

namespace {

// Upper bounds of values in a workload, far above real values. The bounds of
// rates and loads prevent overflows in FlowNetwork.cpp.
constexpr int64_t largestRate = int64_t(1) << 46; ///< bytes/s
constexpr int64_t largestLoad = int64_t(1) << 36;
constexpr int64_t largestFactor = 1000;

/// A task that takes part in a collective, and the class of the task.
struct Party {
  uint32_t classIndex;
  const Task *task;
  bool once;
};

/// Checks one workload and returns the first error.
class Checker {
public:
  explicit Checker(const Workload &workload) : workload(workload) {}
  Error run();

private:
  Error checkClass(const DeviceClass &device, uint32_t classIndex);
  Error checkTemplate(const DeviceClass &device, uint32_t classIndex,
                      bool once);
  Error checkTask(const DeviceClass &device, const Template &tasks,
                  const Task &task);
  Error checkBuffers(const DeviceClass &device, const Template &tasks);
  Error checkOrder(const DeviceClass &device);
  Error checkDependencyOrder(const DeviceClass &device);
  Error checkOnceDependencies(const DeviceClass &device);
  Error checkDevice(const DeviceClass &device) const;
  Error checkLinks() const;
  Error checkFlow(const Flow &flow);
  Error checkCollectives();
  Error checkParties(const Collective &collective, size_t index);

  Error inClass(const DeviceClass &device, const Twine &message) const {
    return createStringError("class '" + Twine(device.name) + "': " + message);
  }
  Error inTask(const DeviceClass &device, const Task &task,
               const Twine &message) const {
    return createStringError("class '" + Twine(device.name) + "', task '" +
                             name(task) + "': " + message);
  }
  StringRef name(const Task &task) const {
    return task.label < workload.labels.size()
               ? StringRef(workload.labels[task.label])
               : StringRef("?");
  }
  /// Returns a number that identifies (once, section, micro-batch).
  uint64_t key(bool once, uint32_t section, uint32_t microBatch) const {
    return once ? section
                : (uint64_t(section) + 1) << 32 | uint64_t(microBatch);
  }

  const Workload &workload;
  /// The tasks that take part in each collective.
  std::vector<SmallVector<Party, 2>> parties;
  /// For each link, the number of the last checked flow that loads the link, or
  /// 0 if no flow does. Flows are counted from 1. Used to find flows that name
  /// a link twice.
  std::vector<size_t> lastFlow;
  size_t numFlows = 0;
  /// Index in DeviceClass::order of every work item of the class that is being
  /// checked, by `key`.
  DenseMap<uint64_t, uint32_t> position;
  /// For each section of the micro-template, the index in DeviceClass::order of
  /// the last work item that runs the section.
  std::vector<uint32_t> lastPosition;
};

} // namespace

static size_t numSections(const Template &tasks) {
  return tasks.sectionBegin.empty() ? 0 : tasks.sectionBegin.size() - 1;
}

/// Returns the section of every task.
static std::vector<uint32_t> sectionOfTasks(const Template &tasks) {
  std::vector<uint32_t> result(tasks.tasks.size());
  for (size_t s = 0; s < numSections(tasks); ++s)
    for (uint32_t t = tasks.sectionBegin[s]; t < tasks.sectionBegin[s + 1]; ++t)
      result[t] = s;
  return result;
}

Error Checker::checkTask(const DeviceClass &device, const Template &tasks,
                         const Task &task) {
  auto outOfRange = [&](StringRef what, int64_t index, size_t size) {
    return inTask(device, task,
                  Twine(what) + " " + Twine(index) +
                      " is out of range (there are " + Twine(size) + ")");
  };
  if (task.label >= workload.labels.size())
    return outOfRange("label", task.label, workload.labels.size());
  if (task.opKind >= workload.labels.size())
    return outOfRange("operation kind", task.opKind, workload.labels.size());
  if (static_cast<unsigned>(task.stream) >= numStreams)
    return outOfRange("stream", static_cast<unsigned>(task.stream), numStreams);
  if (task.duration < 0)
    return inTask(device, task,
                  "expected a duration that is not negative, got " +
                      Twine(task.duration) + " ps");
  if (task.launch < 0)
    return inTask(device, task,
                  "expected a launch that takes no negative time, got " +
                      Twine(task.launch) + " ps");
  if (task.collective < -1 ||
      task.collective >= static_cast<int64_t>(workload.collectives.size()))
    return outOfRange("collective", task.collective,
                      workload.collectives.size());
  if (task.bucket < -1 ||
      task.bucket >= static_cast<int64_t>(workload.buckets.size()))
    return outOfRange("bucket", task.bucket, workload.buckets.size());
  for (uint32_t dependency : task.dependsOn) {
    if (dependency >= tasks.tasks.size())
      return outOfRange("dependency", dependency, tasks.tasks.size());
    if (&tasks.tasks[dependency] == &task)
      return inTask(device, task, "depends on itself");
  }
  for (uint32_t buffer : task.allocates)
    if (buffer >= tasks.buffers.size())
      return outOfRange("allocated buffer", buffer, tasks.buffers.size());
  for (uint32_t buffer : task.reads)
    if (buffer >= tasks.buffers.size())
      return outOfRange("read buffer", buffer, tasks.buffers.size());
  return Error::success();
}

Error Checker::checkBuffers(const DeviceClass &device, const Template &tasks) {
  std::vector<const Task *> producer(tasks.buffers.size());
  std::vector<const Task *> lastReader(tasks.buffers.size());
  for (const Buffer &buffer : tasks.buffers)
    if (buffer.bytes < 0)
      return inClass(device, "buffer '" + Twine(buffer.name) +
                                 "' has a negative size of " +
                                 Twine(buffer.bytes) + " bytes");
  for (const Task &task : tasks.tasks)
    for (uint32_t buffer : task.allocates) {
      if (producer[buffer])
        return inTask(device, task,
                      "allocates the buffer '" + tasks.buffers[buffer].name +
                          "', which '" + name(*producer[buffer]) +
                          "' allocates too");
      producer[buffer] = &task;
    }
  for (const Task &task : tasks.tasks)
    for (uint32_t buffer : task.reads) {
      if (!producer[buffer])
        return inTask(device, task,
                      "reads the buffer '" + tasks.buffers[buffer].name +
                          "', which no task allocates");
      if (lastReader[buffer] == &task)
        return inTask(device, task,
                      "reads the buffer '" + tasks.buffers[buffer].name +
                          "' twice");
      lastReader[buffer] = &task;
    }
  return Error::success();
}

Error Checker::checkTemplate(const DeviceClass &device, uint32_t classIndex,
                             bool once) {
  const Template &tasks = once ? device.once : device.micro;
  ArrayRef<uint32_t> begin = tasks.sectionBegin;
  bool covers = begin.empty() ? tasks.tasks.empty()
                              : begin.front() == 0 &&
                                    begin.back() == tasks.tasks.size() &&
                                    llvm::is_sorted(begin);
  if (!covers)
    return inClass(
        device, "the sections of the " + Twine(once ? "once" : "micro-batch") +
                    "-template do not cover its " + Twine(tasks.tasks.size()) +
                    " tasks from first to last");
  for (const Task &task : tasks.tasks) {
    if (Error error = checkTask(device, tasks, task))
      return error;
    if (task.collective >= 0)
      parties[task.collective].push_back({classIndex, &task, once});
  }
  return checkBuffers(device, tasks);
}

Error Checker::checkOrder(const DeviceClass &device) {
  position.clear();
  lastPosition.assign(numSections(device.micro), 0);
  uint32_t microBatches = workload.info.microBatches;
  for (uint32_t i = 0; i < device.order.size(); ++i) {
    const WorkItem &item = device.order[i];
    auto refuse = [&](const Twine &message) {
      return inClass(device, "work item " + Twine(i) + " " + message);
    };
    size_t sections = numSections(item.once ? device.once : device.micro);
    if (item.section >= sections)
      return refuse("names section " + Twine(item.section) + " of " +
                    Twine(sections));
    if (item.once ? item.microBatch != 0 : item.microBatch >= microBatches)
      return refuse("names micro-batch " + Twine(item.microBatch) + " of " +
                    Twine(item.once ? 1 : microBatches));
    if (!position.try_emplace(key(item.once, item.section, item.microBatch), i)
             .second)
      return refuse("repeats section " + Twine(item.section) +
                    " of micro-batch " + Twine(item.microBatch));
    if (!item.once)
      lastPosition[item.section] = i;
  }
  for (uint32_t s = 0; s < numSections(device.micro); ++s)
    for (uint32_t m = 0; m < microBatches; ++m)
      if (!position.count(key(false, s, m)))
        return inClass(device, "the order lacks section " + Twine(s) +
                                   " of micro-batch " + Twine(m));
  for (uint32_t s = 0; s < numSections(device.once); ++s)
    if (!position.count(key(true, s, 0)))
      return inClass(device, "the order lacks section " + Twine(s) +
                                 " of the once-template");
  return Error::success();
}

/// Fails if a task depends on a later task of its own stream. A stream is a
/// queue, so neither task could ever start. Cycles of dependencies among
/// several streams or classes are not found here but during the run.
Error Checker::checkDependencyOrder(const DeviceClass &device) {
  for (bool once : {false, true}) {
    const Template &tasks = once ? device.once : device.micro;
    std::vector<uint32_t> section = sectionOfTasks(tasks);
    uint32_t instances = once ? 1 : workload.info.microBatches;
    // For each pair of sections (first, second): true if the first one is
    // issued before the second one for every micro-batch.
    DenseMap<std::pair<uint32_t, uint32_t>, bool> inOrder;
    auto issuedBefore = [&](uint32_t first, uint32_t second) {
      auto [entry, isNew] = inOrder.try_emplace({first, second}, true);
      for (uint32_t m = 0; isNew && m < instances; ++m)
        entry->second &= position.lookup(key(once, first, m)) <
                         position.lookup(key(once, second, m));
      return entry->second;
    };
    for (uint32_t t = 0; t < tasks.tasks.size(); ++t) {
      const Task &task = tasks.tasks[t];
      for (uint32_t dependency : task.dependsOn) {
        if (tasks.tasks[dependency].stream != task.stream)
          continue;
        if (section[dependency] == section[t]
                ? dependency < t
                : issuedBefore(section[dependency], section[t]))
          continue;
        return inTask(device, task,
                      "depends on '" + name(tasks.tasks[dependency]) +
                          "', which is issued later to the same stream");
      }
    }
  }
  return Error::success();
}

Error Checker::checkOnceDependencies(const DeviceClass &device) {
  std::vector<uint32_t> microSection = sectionOfTasks(device.micro);
  std::vector<uint32_t> onceSection = sectionOfTasks(device.once);
  for (auto [once, micro] : device.onceDependsOn) {
    if (once >= device.once.tasks.size() || micro >= device.micro.tasks.size())
      return inClass(device, "the dependency of once-task " + Twine(once) +
                                 " on micro-task " + Twine(micro) +
                                 " is out of range");
    const Task &user = device.once.tasks[once];
    const Task &dependency = device.micro.tasks[micro];
    // A once-task waits for the micro-task in the last work item that runs the
    // section of the micro-task. A micro-task that runs only with the first
    // micro-batch does not run in that item.
    if (dependency.when == When::FirstMicroBatch)
      return inTask(device, user,
                    "depends on '" + name(dependency) +
                        "', which runs with the first micro-batch only");
    if (user.stream == dependency.stream &&
        position.lookup(key(true, onceSection[once], 0)) <
            lastPosition[microSection[micro]])
      return inTask(device, user,
                    "depends on '" + name(dependency) +
                        "', which is issued later to the same stream");
  }
  return Error::success();
}

Error Checker::checkDevice(const DeviceClass &device) const {
  if (device.ranks < 1)
    return inClass(device, "stands for " + Twine(device.ranks) + " ranks");
  if (device.deviceType >= workload.cluster.devices.size())
    return inClass(device, "is of device type " + Twine(device.deviceType) +
                               ", but the cluster has " +
                               Twine(workload.cluster.devices.size()));
  if (device.launchLatency < 0)
    return inClass(device,
                   "expected a launch latency that is not negative, got " +
                       Twine(device.launchLatency) + " ps");
  const machine::Interference &factors = device.interference;
  for (double factor :
       {factors.matrixKernel, factors.memoryKernel, factors.communication})
    if (!(factor >= 1 && factor <= largestFactor))
      return inClass(device, "expected an interference factor from 1 to " +
                                 Twine(largestFactor) + ", got " +
                                 std::to_string(factor));
  for (const Buffer &buffer : device.resident)
    if (buffer.bytes < 0)
      return inClass(device, "resident buffer '" + Twine(buffer.name) +
                                 "' has a negative size of " +
                                 Twine(buffer.bytes) + " bytes");
  return Error::success();
}

Error Checker::checkClass(const DeviceClass &device, uint32_t classIndex) {
  if (Error error = checkDevice(device))
    return error;
  if (Error error = checkTemplate(device, classIndex, /*once=*/false))
    return error;
  if (Error error = checkTemplate(device, classIndex, /*once=*/true))
    return error;
  if (Error error = checkOrder(device))
    return error;
  if (Error error = checkDependencyOrder(device))
    return error;
  return checkOnceDependencies(device);
}

/// Fails unless every member class has exactly one task for the collective, all
/// in the same kind of template (micro or once) and with the same `when`. This
/// ensures that all members take part equally often.
Error Checker::checkParties(const Collective &collective, size_t index) {
  ArrayRef<Party> found = parties[index];
  StringRef kind = cost::stringify(collective.kind);
  for (const Party &party : found) {
    const DeviceClass &device = workload.classes[party.classIndex];
    if (!llvm::binary_search(collective.members, party.classIndex))
      return inTask(device, *party.task,
                    "takes part in " + Twine(kind) + " " + Twine(index) +
                        ", of which the class is not a member");
    const Party &first = found.front();
    if (&party != &first && party.classIndex == (&party - 1)->classIndex)
      return inTask(device, *party.task,
                    "takes part in " + Twine(kind) + " " + Twine(index) +
                        ", as another task of the class does");
    if (party.once != first.once || party.task->when != first.task->when)
      return inTask(device, *party.task,
                    "does not run " + Twine(kind) + " " + Twine(index) +
                        " as often as class '" +
                        workload.classes[first.classIndex].name + "' does");
  }
  // At this point no class has two tasks for the collective. If there are as
  // many tasks as members, every member has one.
  if (found.size() == collective.members.size())
    return Error::success();
  for (uint32_t member : collective.members)
    if (llvm::none_of(found, [&](const Party &party) {
          return party.classIndex == member;
        }))
      return inClass(workload.classes[member], "is a member of " + Twine(kind) +
                                                   " " + Twine(index) +
                                                   " but has no task for it");
  return Error::success();
}

Error Checker::checkLinks() const {
  for (const LinkClass &link : workload.links) {
    if (link.capacity < 1 || link.capacity > largestRate)
      return createStringError(
          "link '" + Twine(link.name) + "': expected a capacity from 1 to " +
          Twine(largestRate) + " bytes/s, got " + Twine(link.capacity));
    if (link.count < 1)
      return createStringError("link '" + Twine(link.name) + "': stands for " +
                               Twine(link.count) + " links");
  }
  return Error::success();
}

Error Checker::checkFlow(const Flow &flow) {
  auto outside = [](StringRef what, int64_t least, int64_t most, StringRef unit,
                    int64_t value) {
    return createStringError("expected a " + Twine(what) + " from " +
                             Twine(least) + " to " + Twine(most) + unit +
                             ", got " + Twine(value));
  };
  if (flow.latency < 0)
    return createStringError("negative latency of " + Twine(flow.latency) +
                             " ps");
  if (flow.volume < 0)
    return createStringError("negative volume of " + Twine(flow.volume) +
                             " bytes");
  if (flow.volume > 0 && (flow.ceiling < 1 || flow.ceiling > largestRate))
    return outside("ceiling", 1, largestRate, " bytes/s", flow.ceiling);
  ++numFlows;
  for (const LinkClassLoad &load : flow.loads) {
    if (load.link >= workload.links.size())
      return createStringError("link " + Twine(load.link) +
                               " is out of range (there are " +
                               Twine(workload.links.size()) + ")");
    const std::string &name = workload.links[load.link].name;
    if (load.load < 1 || load.load > largestLoad)
      return outside("load of link '" + name + "'", 1, largestLoad, "",
                     load.load);
    if (std::exchange(lastFlow[load.link], numFlows) == numFlows)
      return createStringError("loads the link '" + Twine(name) + "' twice");
  }
  return Error::success();
}

Error Checker::checkCollectives() {
  lastFlow.assign(workload.links.size(), 0);
  for (size_t c = 0; c < workload.collectives.size(); ++c) {
    const Collective &collective = workload.collectives[c];
    auto refuse = [&](const Twine &message) {
      return createStringError(Twine(cost::stringify(collective.kind)) + " " +
                               Twine(c) + " (" + collective.axes +
                               "): " + message);
    };
    if (collective.bytes < 0)
      return refuse("negative size of " + Twine(collective.bytes) + " bytes");
    if (collective.groups < 1)
      return refuse("stands for " + Twine(collective.groups) + " groups");
    if (collective.groupSize < 1)
      return refuse("has " + Twine(collective.groupSize) + " ranks");
    if (collective.members.empty())
      return refuse("has no member");
    for (size_t m = 0; m < collective.members.size(); ++m) {
      if (collective.members[m] >= workload.classes.size())
        return refuse("member class " + Twine(collective.members[m]) +
                      " is out of range (there are " +
                      Twine(workload.classes.size()) + ")");
      if (m > 0 && collective.members[m] <= collective.members[m - 1])
        return refuse("the member classes are not ascending");
    }
    if (collective.kind == cost::CollectiveKind::SendRecv &&
        collective.members.size() > 2)
      return refuse("has more than a sender and a receiver");
    if (Error error = checkFlow(collective.flow))
      return refuse(toString(std::move(error)));
    if (Error error = checkParties(collective, c))
      return error;
  }
  return Error::success();
}

Error Checker::run() {
  if (workload.classes.empty())
    return createStringError("the workload has no device class");
  if (workload.info.microBatches < 1 || workload.info.microBatches > INT32_MAX)
    return createStringError("expected a positive number of micro-batches, "
                             "got " +
                             Twine(workload.info.microBatches));
  for (const Bucket &bucket : workload.buckets)
    if (bucket.bytes < 0)
      return createStringError("bucket '" + Twine(bucket.name) +
                               "' has a negative size of " +
                               Twine(bucket.bytes) + " bytes");
  if (Error error = checkLinks())
    return error;
  parties.resize(workload.collectives.size());
  for (uint32_t c = 0; c < workload.classes.size(); ++c)
    if (Error error = checkClass(workload.classes[c], c))
      return error;
  return checkCollectives();
}

Error proteus::sim::check(const Workload &workload) {
  return Checker(workload).run();
}
