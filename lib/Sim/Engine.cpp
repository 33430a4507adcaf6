//===- Engine.cpp - the discrete-event engine -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Engine.h"

#include "EngineState.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

Listener::~Listener() = default;

namespace {

/// No simulated time reaches this, so sums never overflow.
constexpr double timeLimit = 4611686018427387904.0; // 2^62 ps, about 53 days

/// Added to the users of a buffer whose producer is skipped: it is never
/// allocated, so its count must never reach zero.
constexpr uint32_t neverAllocated = 1u << 30;

enum class EventKind : uint8_t { TaskEnd, CollectiveEnd, Launch };

/// Ends come before launches at the same time; then the order of creation
/// decides. `order` holds kind and sequence number in one comparison.
struct Event {
  Time time;
  uint64_t order;
  uint32_t subject; ///< a stream, or a collective

  EventKind kind() const { return static_cast<EventKind>(order >> 62); }
  friend bool operator<(const Event &a, const Event &b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

template <bool Listening> class Engine : private EngineState {
public:
  Engine(const Workload &workload, ArrayRef<Listener *> listeners)
      : EngineState(workload), listeners(listeners),
        launchLatency(
            cost::fromSeconds(workload.cluster.device.launchLatency)) {}

  Expected<RunResult> run(const cost::CollectiveCostModel &network);

private:
  // Preparation.
  void prepare(const cost::CollectiveCostModel &network);
  void prepareRendezvous();
  Error checkTotalTime() const;

  // The loop.
  void advance(uint32_t stream);
  void openItem(ClassState &state, Head &head);
  uint32_t openFrame(ClassState &state, const FlatItem &item);
  void skipTasks(ClassState &state, uint32_t slot, uint32_t section);
  void consider(uint32_t stream);
  void arrive(uint32_t stream);
  void start(uint32_t stream);
  void finish(uint32_t stream);
  void resolve(uint32_t classIndex, bool once, uint32_t slot, uint32_t task);
  void releaseBuffers(const TaskInstance &instance, uint32_t slot);

  void push(Time time, EventKind kind, uint32_t subject) {
    queue.push_back(
        {time, static_cast<uint64_t>(kind) << 62 | sequence++, subject});
    std::push_heap(queue.begin(), queue.end());
  }
  TaskInstance instanceOf(uint32_t stream) {
    const Head &head = headOf(stream);
    ClassState &state = stateOf(stream);
    return {stream / numStreams,
            head.task,
            state.flat.order[head.item].microBatch,
            head.once,
            state.frames[head.once]
                .ready[head.slot * state.flat.templates[head.once].numTasks() +
                       head.task],
            head.launched};
  }

  ArrayRef<Listener *> listeners;
  Time launchLatency;
  std::vector<Time> collectiveTimes;
  std::vector<uint32_t> arrivals; ///< per meeting

  std::vector<Event> queue;
  std::vector<uint32_t> startable; ///< streams whose head may start now
  uint64_t sequence = 0;
  RunResult result;
};

} // namespace

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

template <bool Listening>
void Engine<Listening>::prepare(const cost::CollectiveCostModel &network) {
  for (const Collective &collective : workload.collectives)
    collectiveTimes.push_back(network.cost(collective.cost).time);
  classes.resize(workload.classes.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    ClassState &state = classes[c];
    state.flat = flatten(workload.classes[c]);
    for (bool once : {false, true}) {
      Frames &frames = state.frames[once];
      frames.stride = state.flat.templates[once].initial.size();
      frames.slotOf.assign(once ? 1 : workload.info.microBatches, -1);
    }
  }
  prepareRendezvous();
}

template <bool Listening> void Engine<Listening>::prepareRendezvous() {
  std::vector<SmallVector<uint32_t, 2>> streams(workload.collectives.size());
  std::vector<bool> single(workload.collectives.size());
  for (uint32_t c = 0; c < classes.size(); ++c)
    for (bool once : {false, true})
      for (const FlatTask &task : classes[c].flat.templates[once].tasks)
        if (task.collective >= 0) {
          streams[task.collective].push_back(
              c * numStreams + static_cast<unsigned>(task.stream));
          single[task.collective] = once || task.lastOnly;
        }
  size_t meetings = 0;
  for (size_t c = 0; c < streams.size(); ++c) {
    parties.beginList();
    for (uint32_t stream : streams[c])
      parties.add(stream);
    firstMeeting.push_back(meetings);
    // A lone member meets nobody.
    if (streams[c].size() > 1)
      meetings += single[c] ? 1 : workload.info.microBatches;
  }
  parties.finish();
  arrivals.assign(meetings, 0);
}

template <bool Listening> Error Engine<Listening>::checkTotalTime() const {
  double total = 0;
  for (const ClassState &state : classes) {
    total += static_cast<double>(state.flat.launches) * launchLatency;
    for (bool once : {false, true})
      for (const FlatTask &task : state.flat.templates[once].tasks)
        total += static_cast<double>(task.collective >= 0
                                         ? collectiveTimes[task.collective]
                                         : task.duration) *
                 (once ? 1 : workload.info.microBatches);
  }
  if (total < timeLimit)
    return Error::success();
  return createStringError("the step takes longer than the engine can count: "
                           "its tasks add up to more than 53 days");
}

//===----------------------------------------------------------------------===//
// Frames and queues
//===----------------------------------------------------------------------===//

/// Tasks that do not run with this micro-batch count as done.
template <bool Listening>
void Engine<Listening>::skipTasks(ClassState &state, uint32_t slot,
                                  uint32_t section) {
  const FlatTemplate &flat = state.flat.templates[0];
  Frames &frames = state.frames[0];
  uint32_t *open = frames.open.data() + slot * frames.stride;
  uint32_t *users = open + flat.numTasks();
  for (uint32_t task : flat.lastOnly[section]) {
    --frames.remaining[slot];
    for (uint32_t successor : flat.successors[task])
      --open[successor];
    for (uint32_t buffer : flat.allocates[task])
      users[buffer] += neverAllocated;
    for (uint32_t buffer : flat.uses[task])
      --users[buffer];
  }
}

template <bool Listening>
uint32_t Engine<Listening>::openFrame(ClassState &state, const FlatItem &item) {
  Frames &frames = state.frames[item.once];
  const FlatTemplate &flat = state.flat.templates[item.once];
  uint32_t slot = frames.remaining.size();
  if (!frames.freeSlots.empty()) {
    slot = frames.freeSlots.back();
    frames.freeSlots.pop_back();
  } else {
    frames.remaining.push_back(0);
    frames.open.resize(frames.open.size() + frames.stride);
    if (Listening)
      frames.ready.resize(frames.ready.size() + flat.numTasks());
  }
  frames.slotOf[item.microBatch] = slot;
  frames.remaining[slot] = flat.numTasks();
  llvm::copy(flat.initial, frames.open.begin() + slot * frames.stride);
  if (Listening)
    std::fill_n(frames.ready.begin() + slot * flat.numTasks(), flat.numTasks(),
                0);
  if (!item.once)
    for (uint32_t s = 0; s < flat.numSections(); ++s)
      if (state.flat.lastMicroBatch[s] != item.microBatch)
        skipTasks(state, slot, s);
  return slot;
}

/// The head has moved to another work item: finds or makes its frame.
template <bool Listening>
void Engine<Listening>::openItem(ClassState &state, Head &head) {
  const FlatItem &item = state.flat.order[head.item];
  int32_t slot = state.frames[item.once].slotOf[item.microBatch];
  head.once = item.once;
  head.slot = slot >= 0 ? slot : openFrame(state, item);
}

/// Moves a stream to its next task, or to its end.
template <bool Listening> void Engine<Listening>::advance(uint32_t stream) {
  ClassState &state = stateOf(stream);
  Head &head = headOf(stream);
  const std::vector<FlatItem> &order = state.flat.order;
  if (head.next == head.end) {
    // The first call finds the stream before its first item.
    size_t item = head.end ? head.item + 1 : 0;
    ArrayRef<uint32_t> tasks;
    for (; item < order.size() && tasks.empty(); ++item)
      tasks = state.flat.templates[order[item].once].queue(
          order[item].section, order[item].last ? LastTime : EveryTime,
          static_cast<Stream>(stream % numStreams));
    if (tasks.empty()) {
      head.status = Head::Status::Exhausted;
      return;
    }
    head.item = item - 1;
    head.next = tasks.begin();
    head.end = tasks.end();
    openItem(state, head);
  }
  const FlatItem &item = order[head.item];
  head.task = *head.next++;
  head.status = Head::Status::Waiting;
  uint64_t before = item.launchedBefore +
                    state.flat.templates[head.once]
                        .ordinal[item.last ? LastTime : EveryTime][head.task];
  head.launched = launchLatency * static_cast<Time>(before + 1);
  consider(stream);
}

//===----------------------------------------------------------------------===//
// The life of a task
//===----------------------------------------------------------------------===//

/// Called when a task comes to the head of its stream and when its last
/// dependency ends: starts it, now or when it will be launched, if both hold.
template <bool Listening> void Engine<Listening>::consider(uint32_t stream) {
  ClassState &state = stateOf(stream);
  const Head &head = headOf(stream);
  const Frames &frames = state.frames[head.once];
  if (frames.open[head.slot * frames.stride + head.task] != 0)
    return;
  if (head.launched > now)
    push(head.launched, EventKind::Launch, stream);
  else
    startable.push_back(stream);
}

/// The head of a stream can start: it does, unless others must come first.
template <bool Listening> void Engine<Listening>::arrive(uint32_t stream) {
  ClassState &state = stateOf(stream);
  Head &head = headOf(stream);
  const FlatTask &task = state.flat.templates[head.once].tasks[head.task];
  if (task.collective < 0) {
    start(stream);
    push(now + task.duration, EventKind::TaskEnd, stream);
    return;
  }
  ArrayRef<uint32_t> members = parties[task.collective];
  Time end = now + collectiveTimes[task.collective];
  if (members.size() == 1) {
    start(stream);
    push(end, EventKind::TaskEnd, stream);
    return;
  }
  head.status = Head::Status::Arrived;
  if (++arrivals[meetingOf(stream)] < members.size())
    return;
  for (uint32_t member : members)
    start(member);
  push(end, EventKind::CollectiveEnd, task.collective);
}

template <bool Listening> void Engine<Listening>::start(uint32_t stream) {
  Head &head = headOf(stream);
  head.status = Head::Status::Running;
  if constexpr (Listening) {
    TaskInstance instance = instanceOf(stream);
    for (Listener *listener : listeners)
      listener->onTaskStart(instance, now);
    for (uint32_t buffer :
         stateOf(stream).flat.templates[head.once].allocates[head.task])
      for (Listener *listener : listeners)
        listener->onAllocate(instance, buffer, now);
  }
}

template <bool Listening>
void Engine<Listening>::releaseBuffers(const TaskInstance &instance,
                                       uint32_t slot) {
  ClassState &state = classes[instance.classIndex];
  Frames &frames = state.frames[instance.once];
  const FlatTemplate &flat = state.flat.templates[instance.once];
  uint32_t *users = frames.open.data() + slot * frames.stride + flat.numTasks();
  for (uint32_t buffer : flat.uses[instance.task])
    if (--users[buffer] == 0)
      for (Listener *listener : listeners)
        listener->onFree(instance, buffer, now);
}

/// One dependency of a task has ended.
template <bool Listening>
void Engine<Listening>::resolve(uint32_t classIndex, bool once, uint32_t slot,
                                uint32_t task) {
  ClassState &state = classes[classIndex];
  Frames &frames = state.frames[once];
  if (--frames.open[slot * frames.stride + task] != 0)
    return;
  const FlatTemplate &flat = state.flat.templates[once];
  if (Listening)
    frames.ready[slot * flat.numTasks() + task] = now;
  unsigned queue = static_cast<unsigned>(flat.tasks[task].stream);
  const Head &head = state.heads[queue];
  if (head.status == Head::Status::Waiting && head.task == task &&
      head.slot == slot && head.once == once)
    consider(classIndex * numStreams + queue);
}

template <bool Listening> void Engine<Listening>::finish(uint32_t stream) {
  uint32_t classIndex = stream / numStreams;
  ClassState &state = classes[classIndex];
  Head head = headOf(stream);
  ++result.tasks;
  if constexpr (Listening) {
    TaskInstance instance = instanceOf(stream);
    for (Listener *listener : listeners)
      listener->onTaskEnd(instance, now);
    releaseBuffers(instance, head.slot);
  }
  const FlatItem &item = state.flat.order[head.item];
  const FlatTemplate &flat = state.flat.templates[head.once];
  for (uint32_t successor : flat.successors[head.task])
    resolve(classIndex, head.once, head.slot, successor);
  if (!head.once && item.last)
    for (uint32_t successor : flat.onceSuccessors[head.task]) {
      // The once-tasks may not have been touched yet.
      int32_t slot = state.frames[1].slotOf[0];
      resolve(classIndex, true,
              slot >= 0 ? slot : openFrame(state, {0, 0, true, true, 0}),
              successor);
    }
  Frames &frames = state.frames[head.once];
  if (--frames.remaining[head.slot] == 0) {
    frames.slotOf[item.microBatch] = -1;
    frames.freeSlots.push_back(head.slot);
  }
  advance(stream);
}

template <bool Listening>
Expected<RunResult>
Engine<Listening>::run(const cost::CollectiveCostModel &network) {
  prepare(network);
  if (Error error = checkTotalTime())
    return error;
  for (Listener *listener : listeners)
    listener->onBegin(workload, collectiveTimes);

  for (uint32_t s = 0; s < numAllStreams(); ++s)
    advance(s);
  while (true) {
    // What starts at this time may make others able to start at this time.
    for (size_t i = 0; i < startable.size(); ++i)
      arrive(startable[i]);
    startable.clear();
    if (queue.empty())
      break;
    now = queue.front().time;
    while (!queue.empty() && queue.front().time == now) {
      std::pop_heap(queue.begin(), queue.end());
      Event event = queue.back();
      queue.pop_back();
      ++result.events;
      switch (event.kind()) {
      case EventKind::TaskEnd:
        finish(event.subject);
        break;
      case EventKind::CollectiveEnd:
        for (uint32_t member : parties[event.subject])
          finish(member);
        break;
      case EventKind::Launch:
        startable.push_back(event.subject);
        break;
      }
    }
  }
  for (const ClassState &state : classes)
    for (const Head &head : state.heads)
      if (head.status != Head::Status::Exhausted)
        return describeDeadlock(*this);
  result.iterationTime = now;
  for (Listener *listener : listeners)
    listener->onFinish(now);
  return result;
}

Expected<RunResult> proteus::sim::run(const Workload &workload,
                                      const cost::CollectiveCostModel &network,
                                      ArrayRef<Listener *> listeners) {
  if (Error error = check(workload))
    return error;
  if (listeners.empty())
    return Engine<false>(workload, listeners).run(network);
  return Engine<true>(workload, listeners).run(network);
}
