//===- Deadlock.cpp - diagnosis of deadlocks ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineState.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus::sim;

namespace {

/// The reason why the head of a blocked stream waits.
struct Wait {
  std::string text;
  uint32_t stream; ///< blocked stream that must proceed first
};

/// Explains why a run cannot proceed: describes the cycle of streams that wait
/// for each other.
class Diagnosis {
public:
  explicit Diagnosis(const EngineState &state) : state(state) {}
  std::string describe() const;

private:
  Wait waitOf(uint32_t stream) const;
  Wait waitAtMeeting(uint32_t stream) const;
  Wait waitForDependency(uint32_t stream) const;
  Wait waitForHost(uint32_t stream) const;
  Wait blockedBy(uint32_t stream, uint32_t blocker, const Task &awaited) const;
  bool isDone(uint32_t classIndex, bool once, uint32_t microBatch,
              uint32_t task) const;
  std::string nameOf(uint32_t stream) const;

  const DeviceClass &deviceOf(uint32_t stream) const {
    return state.workload.classes[stream / numStreams];
  }
  const Template &templateOf(uint32_t stream) const {
    return state.headOf(stream).once ? deviceOf(stream).once
                                     : deviceOf(stream).micro;
  }
  const Task &taskOf(uint32_t stream) const {
    return templateOf(stream).tasks[state.headOf(stream).task];
  }
  const std::string &label(const Task &task) const {
    return state.workload.labels[task.label];
  }

  const EngineState &state;
};

} // namespace

static uint32_t sectionOf(const Template &tasks, uint32_t task) {
  ArrayRef<uint32_t> begin = tasks.sectionBegin;
  return llvm::upper_bound(begin, task) - begin.begin() - 1;
}

static uint32_t streamOf(uint32_t classIndex, const Task &task) {
  return classIndex * numStreams + static_cast<unsigned>(task.stream);
}

std::string Diagnosis::nameOf(uint32_t stream) const {
  const Head &head = state.headOf(stream);
  std::string text = "'" + label(taskOf(stream)) + "' of class '" +
                     deviceOf(stream).name + "'";
  if (head.once)
    return text;
  uint32_t microBatch = state.stateOf(stream).flat.order[head.item].microBatch;
  return text + " (micro-batch " + std::to_string(microBatch) + ")";
}

/// Returns true if a task has ended or does not run with this micro-batch. A
/// task has ended if its stream has moved to a later task.
bool Diagnosis::isDone(uint32_t classIndex, bool once, uint32_t microBatch,
                       uint32_t task) const {
  const FlatClass &flat = state.classes[classIndex].flat;
  const DeviceClass &device = state.workload.classes[classIndex];
  const Template &tasks = once ? device.once : device.micro;
  const Head &head = state.headOf(streamOf(classIndex, tasks.tasks[task]));
  if (head.status == Head::Status::Exhausted)
    return true;
  uint32_t section = sectionOf(tasks, task);
  size_t i = llvm::find_if(flat.order,
                           [&](const FlatItem &item) {
                             return item.once == once &&
                                    item.section == section &&
                                    item.microBatch == microBatch;
                           }) -
             flat.order.begin();
  bool isSkipped =
      !runsIn(flat.templates[once].tasks[task].when, flat.order[i].variant());
  return isSkipped || i < head.item || (i == head.item && task < head.task);
}

/// Returns the reason why the head of `stream` waits for the task `awaited`.
/// That task is at the head of the stream `blocker`, or is queued after that
/// head.
Wait Diagnosis::blockedBy(uint32_t stream, uint32_t blocker,
                          const Task &awaited) const {
  std::string text = nameOf(stream) + " waits for ";
  if (&awaited != &taskOf(blocker))
    text += "'" + label(awaited) + "' of class '" + deviceOf(blocker).name +
            "', which is queued after ";
  return {text + nameOf(blocker), blocker};
}

Wait Diagnosis::waitAtMeeting(uint32_t stream) const {
  int32_t collective = taskOf(stream).collective;
  for (uint32_t member : state.parties[collective]) {
    const Head &head = state.headOf(member);
    if (head.status == Head::Status::Exhausted ||
        (head.status == Head::Status::Arrived &&
         state.meetingOf(member) == state.meetingOf(stream)))
      continue;
    // All tasks of a collective are in the same kind of template (micro or
    // once).
    const Template &tasks = state.headOf(stream).once ? deviceOf(member).once
                                                      : deviceOf(member).micro;
    return blockedBy(stream, member,
                     *llvm::find_if(tasks.tasks, [&](const Task &task) {
                       return task.collective == collective;
                     }));
  }
  return {nameOf(stream) + " waits for a party that has left", stream};
}

Wait Diagnosis::waitForDependency(uint32_t stream) const {
  const Head &head = state.headOf(stream);
  const DeviceClass &device = deviceOf(stream);
  uint32_t classIndex = stream / numStreams;
  const FlatClass &flat = state.classes[classIndex].flat;
  uint32_t microBatch = flat.order[head.item].microBatch;
  for (uint32_t dependency : taskOf(stream).dependsOn)
    if (!isDone(classIndex, head.once, microBatch, dependency)) {
      const Task &task = templateOf(stream).tasks[dependency];
      return blockedBy(stream, streamOf(classIndex, task), task);
    }
  for (auto [onceTask, microTask] : device.onceDependsOn) {
    uint32_t last = flat.lastMicroBatch[sectionOf(device.micro, microTask)];
    if (head.once && onceTask == head.task &&
        !isDone(classIndex, /*once=*/false, last, microTask)) {
      const Task &task = device.micro.tasks[microTask];
      return blockedBy(stream, streamOf(classIndex, task), task);
    }
  }
  return {nameOf(stream) + " waits for nothing", stream};
}

/// Returns the reason why the head of `stream` is not launched: the host waits
/// for a message.
Wait Diagnosis::waitForHost(uint32_t stream) const {
  uint32_t classIndex = stream / numStreams;
  const ClassState &c = state.classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s) {
    const Head &head = c.heads[s];
    uint32_t other = classIndex * numStreams + s;
    if (head.status != Head::Status::Exhausted && !head.once &&
        head.item == c.host.item() && state.taskOf(other).receives())
      return {nameOf(stream) + " waits for the host, which waits for " +
                  nameOf(other),
              other};
  }
  return {nameOf(stream) + " waits for the host", stream};
}

Wait Diagnosis::waitOf(uint32_t stream) const {
  const Head &head = state.headOf(stream);
  if (head.status == Head::Status::Arrived)
    return waitAtMeeting(stream);
  return head.launched == notLaunched ? waitForHost(stream)
                                      : waitForDependency(stream);
}

std::string Diagnosis::describe() const {
  std::vector<uint32_t> blocked;
  for (uint32_t s = 0; s < state.numAllStreams(); ++s)
    if (state.headOf(s).status != Head::Status::Exhausted)
      blocked.push_back(s);
  // Every blocked stream waits for a blocked stream. A walk that follows these
  // waits from any stream therefore enters a cycle.
  BitVector visited(state.numAllStreams());
  uint32_t stream = blocked.front();
  for (; !visited.test(stream); stream = waitOf(stream).stream)
    visited.set(stream);

  std::string message;
  raw_string_ostream os(message);
  os << "deadlock: no task can proceed after "
     << format("%.6f", static_cast<double>(state.now) / 1e9)
     << " ms; the waiting cycle is:";
  BitVector inCycle(state.numAllStreams());
  while (!inCycle.test(stream)) {
    inCycle.set(stream);
    Wait wait = waitOf(stream);
    os << "\n  " << wait.text;
    stream = wait.stream;
  }
  // All other blocked streams wait for a stream in a cycle, directly or through
  // other streams. Lists the first `limit` of these streams and counts the
  // rest.
  constexpr unsigned limit = 16;
  unsigned others = 0;
  for (uint32_t s : blocked)
    if (!inCycle.test(s) && ++others <= limit)
      os << (others == 1 ? "\nalso blocked:\n  " : "\n  ") << waitOf(s).text;
  if (others > limit)
    os << "\n  and " << others - limit << " more";
  return message;
}

Error proteus::sim::describeDeadlock(const EngineState &state) {
  return createStringError(Diagnosis(state).describe());
}
