//===- Engine.cpp - the discrete-event engine -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Engine.h"

#include "EngineLoop.h"

#include "llvm/ADT/bit.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

Listener::~Listener() = default;
StateVisitor::~StateVisitor() = default;

//===----------------------------------------------------------------------===//
// Moving streams to their next tasks
//===----------------------------------------------------------------------===//

/// Finds the frame of the work item to which the head of a stream has moved.
/// Creates the frame if it does not exist.
template <bool Listening> void Engine<Listening>::openItem(uint32_t stream) {
  ClassState &state = stateOf(stream);
  Head &head = headOf(stream);
  recurrence.onOpenItem(stream);
  const FlatItem &item = state.flat.order[head.item];
  int32_t slot = state.frames[item.once].slotOf[item.microBatch];
  head.once = item.once;
  head.slot = slot >= 0 ? slot : openFrame(state, item);
}

/// Moves the head of a stream to the next task of the stream. After the last
/// task, the head becomes exhausted.
template <bool Listening> void Engine<Listening>::advance(uint32_t stream) {
  ClassState &state = stateOf(stream);
  Head &head = headOf(stream);
  const std::vector<FlatItem> &order = state.flat.order;
  if (head.next == head.end) {
    // At the first call, the head is not at any work item yet.
    size_t item = head.end ? head.item + 1 : 0;
    ArrayRef<uint32_t> tasks;
    for (; item < order.size() && tasks.empty(); ++item)
      tasks = state.flat.templates[order[item].once].queue(
          order[item].section, order[item].variant(),
          static_cast<Stream>(stream % numStreams));
    if (tasks.empty()) {
      head.status = Head::Status::Exhausted;
      return;
    }
    head.item = item - 1;
    head.next = tasks.begin();
    head.end = tasks.end();
    openItem(stream);
  }
  head.task = *head.next++;
  head.status = Head::Status::Waiting;
  head.launched = launchTime(stream / numStreams, head.item, head.task);
  consider(stream);
}

//===----------------------------------------------------------------------===//
// Starting and ending tasks
//===----------------------------------------------------------------------===//

/// Schedules the start of the head of a stream, now or at its launch time, if
/// its dependencies have ended and its launch time is known. Called when a task
/// becomes the head, when its last dependency ends, and when its launch time
/// becomes known.
template <bool Listening> void Engine<Listening>::consider(uint32_t stream) {
  ClassState &state = stateOf(stream);
  const Head &head = headOf(stream);
  const Frames &frames = state.frames[head.once];
  if (frames.open[head.slot * frames.stride + head.task] != 0 ||
      head.launched == notLaunched)
    return;
  if (head.launched > now) {
    ++state.launchWaits;
    push(head.launched, EventKind::Launch, stream);
  } else {
    startable.push_back(stream);
  }
}

/// Starts the task at the head of a stream. If a replay can begin with this
/// task, starts the replay instead. A task of a collective only arrives; the
/// collective starts when all members have arrived.
template <bool Listening> void Engine<Listening>::arrive(uint32_t stream) {
  const FlatTask &task = taskOf(stream);
  if (task.isKernel()) {
    if (SectionReplays::Place place = replays.find(stream); place.replay)
      startReplay(stream / numStreams, place);
    else
      startKernel(stream, task);
    return;
  }
  Head &head = headOf(stream);
  if (task.collective < 0) {
    start(stream);
    push(after(task.duration), EventKind::TaskEnd, stream, ++head.version);
    return;
  }
  head.status = Head::Status::Arrived;
  size_t members = parties[task.collective].size();
  if (members == 1 || ++arrivals[meetingOf(stream)] == members)
    startCollective(task.collective);
}

/// Marks the head of a stream as running and reports its start and its
/// allocations to the listeners. If a replay is active in the class, ends it
/// first.
template <bool Listening> void Engine<Listening>::start(uint32_t stream) {
  Head &head = headOf(stream);
  if (stateOf(stream).active.replay)
    leaveReplay(stream / numStreams);
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

/// Records that a dependency of a task has ended at `time`. If no dependency of
/// the task is open any more and the task is the head of its stream, schedules
/// the start of the task.
template <bool Listening>
void Engine<Listening>::resolve(uint32_t classIndex, bool once, uint32_t slot,
                                uint32_t task, Time time) {
  ClassState &state = classes[classIndex];
  Frames &frames = state.frames[once];
  if (--frames.open[slot * frames.stride + task] != 0)
    return;
  const FlatTemplate &flat = state.flat.templates[once];
  if (Listening)
    frames.ready[slot * flat.numTasks() + task] = time;
  unsigned queue = static_cast<unsigned>(flat.tasks[task].stream);
  const Head &head = state.heads[queue];
  if (head.status == Head::Status::Waiting && head.task == task &&
      head.slot == slot && head.once == once)
    consider(classIndex * numStreams + queue);
}

/// Reports to the host that the message at the head of a stream has arrived. If
/// the host continues, sets the launch times of the heads that were not
/// launched yet, and schedules their starts.
template <bool Listening> void Engine<Listening>::receive(uint32_t stream) {
  uint32_t classIndex = stream / numStreams;
  ClassState &state = classes[classIndex];
  if (!state.host.receive(state.flat, headOf(stream).item, now))
    return;
  for (unsigned s = 0; s < numStreams; ++s) {
    Head &head = state.heads[s];
    if (head.status != Head::Status::Waiting || head.launched != notLaunched)
      continue;
    head.launched = launchTime(classIndex, head.item, head.task);
    consider(classIndex * numStreams + s);
  }
}

/// Ends the task at the head of a stream: reports the end and frees to the
/// listeners, resolves the dependencies of other tasks on it, and moves the
/// stream to its next task.
template <bool Listening> void Engine<Listening>::finish(uint32_t stream) {
  uint32_t classIndex = stream / numStreams;
  ClassState &state = classes[classIndex];
  Head head = headOf(stream);
  ++result.tasks;
  if constexpr (Listening) {
    TaskInstance instance = instanceOf(stream);
    for (Listener *listener : listeners)
      listener->onTaskEnd(instance, now);
    releaseBuffers(instance, head.slot, [](uint32_t) { return true; });
  }
  const FlatItem &item = state.flat.order[head.item];
  const FlatTemplate &flat = state.flat.templates[head.once];
  if (Listening)
    state.frames[head.once].ready[head.slot * flat.numTasks() + head.task] =
        notReady;
  if (flat.tasks[head.task].isKernel())
    finishKernel(state);
  for (uint32_t successor : flat.successors[head.task])
    resolve(classIndex, head.once, head.slot, successor, now);
  if (!head.once && item.last)
    for (uint32_t successor : flat.onceSuccessors[head.task]) {
      // Creates the frame of the once-tasks if it does not exist yet.
      int32_t slot = state.frames[1].slotOf[0];
      resolve(classIndex, true,
              slot >= 0 ? slot : openFrame(state, {0, 0, true, true, true, 0}),
              successor, now);
    }
  closeFrame(state.frames[head.once], head.slot, item.microBatch, 1);
  if (flat.tasks[head.task].receives())
    receive(stream);
  advance(stream);
}

/// Subtracts `ended` from the number of tasks of a frame that have not ended.
/// If no such task is left, frees the slot of the frame.
template <bool Listening>
void Engine<Listening>::closeFrame(Frames &frames, uint32_t slot,
                                   uint32_t microBatch, uint32_t ended) {
  if ((frames.remaining[slot] -= ended) > 0)
    return;
  frames.slotOf[microBatch] = -1;
  frames.freeSlots.push_back(slot);
}

//===----------------------------------------------------------------------===//
// Kernels, communication and their mutual slowdown
//===----------------------------------------------------------------------===//

/// Calls `visit` for every collective that runs in a class and slows the
/// kernels of the class.
template <bool Listening>
template <typename Visit>
void Engine<Listening>::forCommunications(const ClassState &state,
                                          Visit visit) {
  for (uint32_t bits = state.communicating; bits; bits &= bits - 1) {
    const Head &head = state.heads[llvm::countr_zero(bits)];
    visit(state.flat.templates[head.once].tasks[head.task].collective);
  }
}

template <bool Listening>
void Engine<Listening>::markCollective(uint32_t collective) {
  if (!std::exchange(collectives[collective].dirty, true))
    dirtyCollectives.push_back(collective);
}

template <bool Listening>
void Engine<Listening>::startKernel(uint32_t stream, const FlatTask &task) {
  ClassState &state = stateOf(stream);
  start(stream);
  state.computing = true;
  if (state.slowsCommunication)
    forCommunications(state, [&](uint32_t collective) {
      if (collectives[collective].computingMembers++ == 0)
        markCollective(collective);
    });
  Time end = after(task.duration);
  if (state.disturbedSpeed[task.matrix] != fullSpeed) {
    state.kernel = {Wide(task.duration) * fullSpeed, state.kernelSpeed(task),
                    now};
    end = state.kernel.end();
    if (rateLog)
      rateLog->onKernel(state.kernel);
  }
  push(end, EventKind::TaskEnd, stream, ++headOf(stream).version);
}

template <bool Listening>
void Engine<Listening>::finishKernel(ClassState &state) {
  state.computing = false;
  if (state.slowsCommunication)
    forCommunications(state, [&](uint32_t collective) {
      if (--collectives[collective].computingMembers == 0)
        markCollective(collective);
    });
}

/// Records that a communication which slows kernels starts (`runs` is true) or
/// ends on a stream. Marks the class as dirty if this may change the speed of
/// its kernel.
template <bool Listening>
void Engine<Listening>::setCommunicating(uint32_t stream, bool runs) {
  ClassState &state = stateOf(stream);
  bool before = state.communicating != 0;
  state.communicating ^= 1u << (stream % numStreams);
  assert(((state.communicating >> (stream % numStreams)) & 1) == runs);
  if (before != (state.communicating != 0) && !std::exchange(state.dirty, true))
    dirtyClasses.push_back(stream / numStreams);
}

/// Starts a collective after all its members have arrived.
template <bool Listening>
void Engine<Listening>::startCollective(uint32_t index) {
  CollectiveState &collective = collectives[index];
  const Flow &flow = workload.collectives[index].flow;
  for (uint32_t member : parties[index])
    start(member);
  if (collective.interferes)
    for (uint32_t member : parties[index]) {
      setCommunicating(member, true);
      const ClassState &state = stateOf(member);
      collective.computingMembers +=
          state.computing && state.slowsCommunication;
    }
  if (flow.volume == 0)
    push(after(flow.latency), EventKind::CollectiveEnd, index,
         ++collective.version);
  else if (flow.latency == 0)
    beginFlow(index);
  else
    push(after(flow.latency), EventKind::FlowBegin, index);
}

/// Starts the flow of a collective after its latency. `settle` then computes
/// the rate and the end of the flow.
template <bool Listening> void Engine<Listening>::beginFlow(uint32_t index) {
  CollectiveState &collective = collectives[index];
  collective.moving = true;
  collective.progress = {
      Wide(workload.collectives[index].flow.volume) * workPerByte, 0, now};
  network.start(index, collective.ceilings[collective.computingMembers > 0]);
}

template <bool Listening>
void Engine<Listening>::finishCollective(uint32_t index) {
  CollectiveState &collective = collectives[index];
  if (collective.moving)
    network.stop(index);
  collective.moving = false;
  collective.computingMembers = 0;
  if (collective.interferes)
    for (uint32_t member : parties[index])
      setCommunicating(member, false);
  for (uint32_t member : parties[index])
    finish(member);
}

/// Updates the speeds of kernels and the rates of flows that have changed, and
/// schedules new ends for them. Tells the listeners which links begin or cease
/// to limit flows. Called after the last event of each point in time.
template <bool Listening> void Engine<Listening>::settle() {
  for (uint32_t c : dirtyClasses) {
    ClassState &state = classes[c];
    state.dirty = false;
    uint32_t stream = c * numStreams + static_cast<unsigned>(Stream::Compute);
    if (!state.computing)
      continue;
    const FlatTask &task = taskOf(stream);
    uint64_t speed = state.kernelSpeed(task);
    if (state.disturbedSpeed[task.matrix] == fullSpeed ||
        speed == state.kernel.rate)
      continue;
    state.kernel.changeRate(speed, now);
    if (rateLog)
      rateLog->onKernel(state.kernel);
    push(state.kernel.end(), EventKind::TaskEnd, stream,
         ++headOf(stream).version);
  }
  dirtyClasses.clear();
  for (uint32_t c : dirtyCollectives) {
    CollectiveState &collective = collectives[c];
    collective.dirty = false;
    if (collective.moving)
      network.limit(c, collective.ceilings[collective.computingMembers > 0]);
  }
  dirtyCollectives.clear();
  for (uint32_t c : network.settle()) {
    CollectiveState &collective = collectives[c];
    collective.progress.changeRate(network.rate(c), now);
    if (rateLog)
      rateLog->onFlow(c, collective.progress);
    push(collective.progress.end(), EventKind::CollectiveEnd, c,
         ++collective.version);
  }
  if constexpr (Listening)
    for (uint32_t link : network.changedLinks())
      for (Listener *listener : listeners)
        listener->onLinkChange(link, network.holdsBack(link), now);
}

//===----------------------------------------------------------------------===//
// Processing events in order of time
//===----------------------------------------------------------------------===//

template <bool Listening> void Engine<Listening>::startAll() {
  // A start may add further streams to `startable` and so invalidate iterators.
  for (size_t i = 0; i < startable.size(); ++i)
    arrive(startable[i]);
  startable.clear();
}

template <bool Listening> void Engine<Listening>::process(const Event &event) {
  ++result.events;
  switch (event.kind()) {
  case EventKind::TaskEnd:
    finish(event.subject);
    break;
  case EventKind::SectionStep:
    stepReplay(event.subject);
    break;
  case EventKind::CollectiveEnd:
    finishCollective(event.subject);
    break;
  case EventKind::FlowBegin:
    beginFlow(event.subject);
    break;
  case EventKind::Launch:
    startable.push_back(event.subject);
    break;
  }
}

/// Moves `now` to the time of the next event. Before `now` moves to a later
/// time, and if no event is left, calls `settle` and takes the checkpoint that
/// is scheduled, if any. Returns false if no event is left.
template <bool Listening> bool Engine<Listening>::nextTime() {
  auto dropStale = [&] {
    while (!queue.empty() && isStale(queue.front()))
      pop();
  };
  dropStale();
  if (queue.empty() || queue.front().time > now) {
    settle();
    recurrence.onSettled();
    dropStale();
  }
  if (queue.empty())
    return false;
  now = queue.front().time;
  return true;
}

static Error tooLongError() {
  return createStringError("the step takes longer than the engine can count: "
                           "more than 53 days");
}

template <bool Listening> Error Engine<Listening>::checkLaunches() const {
  for (size_t c = 0; c < classes.size(); ++c)
    if (classes[c].flat.launches >= timeLimit)
      return tooLongError();
  return Error::success();
}

template <bool Listening> Expected<RunResult> Engine<Listening>::run() {
  if (Error error = checkLaunches())
    return error;
  std::vector<Time> aloneTimes;
  for (uint32_t c = 0; c < collectives.size(); ++c)
    aloneTimes.push_back(timeAlone(c));
  for (Listener *listener : listeners)
    listener->onBegin(workload, aloneTimes);

  for (uint32_t s = 0; s < numAllStreams(); ++s)
    advance(s);
  startAll();
  while (nextTime()) {
    if (tooLong)
      return tooLongError();
    while (!queue.empty() && queue.front().time == now) {
      Event event = queue.front();
      pop();
      if (!isStale(event))
        process(event);
    }
    startAll();
  }
  for (const ClassState &state : classes)
    for (const Head &head : state.heads)
      if (head.status != Head::Status::Exhausted)
        return describeDeadlock(*this);
  result.iterationTime = now;
  for (Listener *listener : listeners) {
    for (const std::unique_ptr<SectionReplay> &replay : replays.all())
      for (auto [stretch, part] : llvm::enumerate(replay->parts))
        if (part.runs > 0)
          listener->onStretchRuns(*replay, stretch, part.runs);
    listener->onFinish(now);
  }
  return result;
}

// Instantiates the members that EngineReplay.cpp calls.
template class proteus::sim::Engine<false>;
template class proteus::sim::Engine<true>;

Expected<RunResult> proteus::sim::run(const Workload &workload,
                                      const EngineOptions &options,
                                      ArrayRef<Listener *> listeners) {
  if (Error error = check(workload))
    return error;
  if (listeners.empty())
    return Engine<false>(workload, options, listeners).run();
  return Engine<true>(workload, options, listeners).run();
}

Expected<RunResult> proteus::sim::runLogged(const Workload &workload,
                                            const EngineOptions &options,
                                            ArrayRef<Listener *> listeners,
                                            RateLog &log) {
  if (Error error = check(workload))
    return error;
  return Engine<true>(workload, options, listeners, &log).run();
}
