//===- ChromeTrace.cpp - a timeline for Perfetto --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/ChromeTrace.h"
#include "Proteus/Support/JSON.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

constexpr Time notStarted = -1;

/// Writes a time in microseconds with six decimals, so that it is exact.
static void writeMicroseconds(raw_ostream &os, Time time) {
  os << time / 1000000 << format(".%06lld", (long long)(time % 1000000));
}

void ChromeTrace::beginEvent() {
  os << (first ? "\n" : ",\n");
  first = false;
}

void ChromeTrace::nameThread(uint32_t process, unsigned thread, StringRef kind,
                             StringRef name) {
  beginEvent();
  os << "{\"ph\":\"M\",\"pid\":" << process << ",\"tid\":" << thread
     << ",\"name\":\"" << kind << "\",\"args\":{\"name\":" << json::quote(name)
     << "}}";
}

void ChromeTrace::onBegin(const Workload &w, ArrayRef<Time> collectiveTimes) {
  workload = &w;
  memory.onBegin(w, collectiveTimes);
  classes.assign(w.classes.size(), {});
  for (const std::string &label : w.labels)
    quotedLabels.push_back(json::quote(label));
  senders.assign(w.collectives.size(), {-1, 0});
  for (uint32_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    State &state = classes[c];
    state.starts[0].assign(device.micro.tasks.size() * w.info.microBatches,
                           notStarted);
    state.starts[1].assign(device.once.tasks.size(), notStarted);
    state.lastStarts.assign(device.micro.tasks.size(), notStarted);
    state.onceDepends.resize(device.once.tasks.size());
    for (auto [onceTask, microTask] : device.onceDependsOn)
      state.onceDepends[onceTask].push_back(microTask);
    for (const Template *tasks : {&device.micro, &device.once})
      for (const Task &task : tasks->tasks)
        if (task.collective >= 0 &&
            (task.stream == Stream::PipelineSend ||
             task.stream == Stream::PipelineSendGradient))
          senders[task.collective] = {c, static_cast<unsigned>(task.stream)};
  }
  os << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (uint32_t c = 0; c < w.classes.size(); ++c) {
    const DeviceClass &device = w.classes[c];
    nameThread(c, 0, "process_name",
               device.name + " (" + std::to_string(device.ranks) + " ranks)");
    bool used[numStreams] = {};
    for (const Template *tasks : {&device.micro, &device.once})
      for (const Task &task : tasks->tasks)
        used[static_cast<unsigned>(task.stream)] = true;
    for (unsigned s = 0; s < numStreams; ++s)
      if (used[s])
        nameThread(c, s, "thread_name", stringify(static_cast<Stream>(s)));
  }
}

void ChromeTrace::onTaskStart(const TaskInstance &instance, Time now) {
  unsigned stream = static_cast<unsigned>(instance.in(*workload).stream);
  State &state = classes[instance.classIndex];
  state.started[stream] = now;
  size_t tasks = workload->classes[instance.classIndex].micro.tasks.size();
  state.starts[instance.once][instance.microBatch * tasks + instance.task] =
      now;
  if (!instance.once)
    state.lastStarts[instance.task] = now;
}

void ChromeTrace::writeArrowEnd(char phase, StringRef name, Place place) {
  beginEvent();
  os << "{\"ph\":\"" << phase << "\",\"pid\":" << place.classIndex
     << ",\"tid\":" << place.stream << ",\"ts\":";
  writeMicroseconds(os, place.time);
  os << ",\"name\":\"" << name << "\",\"cat\":\"" << name
     << "\",\"id\":" << arrows << (phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

void ChromeTrace::writeArrow(StringRef name, Place from, Place to) {
  writeArrowEnd('s', name, from);
  writeArrowEnd('f', name, to);
  ++arrows;
}

/// Writes the arrows that lead to a task from the tasks on which it depends. An
/// arrow begins at the start of the other task, not at its end: in a trace, the
/// time at which a task ends is no longer part of the task.
void ChromeTrace::writeArrows(const TaskInstance &instance) {
  const Task &task = instance.in(*workload);
  const DeviceClass &device = workload->classes[instance.classIndex];
  const State &state = classes[instance.classIndex];
  unsigned stream = static_cast<unsigned>(task.stream);
  Place here = {instance.classIndex, stream, state.started[stream]};
  auto depends = [&](const Task &other, Time start) {
    // A task that does not run with this micro-batch has no start and gets no
    // arrow.
    if (start != notStarted && other.stream != task.stream)
      writeArrow(
          "dependency",
          {instance.classIndex, static_cast<unsigned>(other.stream), start},
          here);
  };
  const Template &tasks = instance.once ? device.once : device.micro;
  for (uint32_t other : task.dependsOn)
    depends(tasks.tasks[other],
            state.starts[instance.once]
                        [instance.microBatch * tasks.tasks.size() + other]);
  if (instance.once)
    for (uint32_t other : state.onceDepends[instance.task])
      depends(device.micro.tasks[other], state.lastStarts[other]);
  if (task.collective < 0)
    return;
  // The sender and the receiver of a message start at the same time.
  auto [sender, senderStream] = senders[task.collective];
  if (sender >= 0 && sender != instance.classIndex)
    writeArrow("message",
               {static_cast<uint32_t>(sender), senderStream, here.time}, here);
}

void ChromeTrace::onTaskEnd(const TaskInstance &instance, Time now) {
  const Task &task = instance.in(*workload);
  unsigned stream = static_cast<unsigned>(task.stream);
  Time start = classes[instance.classIndex].started[stream];
  beginEvent();
  os << "{\"ph\":\"X\",\"pid\":" << instance.classIndex << ",\"tid\":" << stream
     << ",\"ts\":";
  writeMicroseconds(os, start);
  os << ",\"dur\":";
  writeMicroseconds(os, now - start);
  os << ",\"name\":" << quotedLabels[task.label] << ",\"cat\":\""
     << stringify(task.phase)
     << "\",\"args\":{\"op\":" << quotedLabels[task.opKind];
  if (!instance.once)
    os << ",\"micro_batch\":" << instance.microBatch;
  if (task.collective >= 0) {
    const Collective &collective = workload->collectives[task.collective];
    os << ",\"collective\":\"" << cost::stringify(collective.kind)
       << "\",\"bytes\":" << collective.bytes
       << ",\"group_size\":" << collective.groupSize;
  }
  os << "}}";
  writeArrows(instance);
}

void ChromeTrace::writeCounter(uint32_t classIndex) {
  beginEvent();
  os << "{\"ph\":\"C\",\"pid\":" << classIndex << ",\"ts\":";
  writeMicroseconds(os, classes[classIndex].counterTime);
  os << ",\"name\":\"memory\",\"args\":{\"bytes\":"
     << memory.current(classIndex) << "}}";
}

/// Prepares a change of the memory of a class at `now`. If the last change was
/// at an earlier time, writes the value that the counter has had since that
/// time.
void ChromeTrace::changeMemory(uint32_t classIndex, Time now) {
  State &state = classes[classIndex];
  if (state.counterTime != now)
    writeCounter(classIndex);
  state.counterTime = now;
}

void ChromeTrace::onAllocate(const TaskInstance &task, uint32_t buffer,
                             Time now) {
  changeMemory(task.classIndex, now);
  memory.onAllocate(task, buffer, now);
}

void ChromeTrace::onFree(const TaskInstance &task, uint32_t buffer, Time now) {
  changeMemory(task.classIndex, now);
  memory.onFree(task, buffer, now);
}

void ChromeTrace::onFinish(Time) {
  for (uint32_t c = 0; c < classes.size(); ++c)
    writeCounter(c);
  os << "\n]}\n";
}
