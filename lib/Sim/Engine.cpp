//===- Engine.cpp - the discrete-event engine -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Engine.h"

#include "EngineState.h"
#include "Recurrence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

Listener::~Listener() = default;
StateVisitor::~StateVisitor() = default;

namespace {

template <bool Listening> class Engine : private EngineState {
public:
  Engine(const Workload &workload, const EngineOptions &options,
         ArrayRef<Listener *> listeners, RateLog *log = nullptr)
      : EngineState(workload, options, Listening,
                    options.replaySections && canSkip(listeners)),
        listeners(listeners),
        recurrence(*this, listeners,
                   options.skipRecurrence && canSkip(listeners)) {
    rateLog = log;
  }

  Expected<RunResult> run();

private:
  static bool canSkip(ArrayRef<Listener *> listeners) {
    return llvm::all_of(listeners, [](const Listener *listener) {
      return listener->canSkip();
    });
  }
  Error checkLaunches() const;

  // Frames and queues.
  void advance(uint32_t stream);
  void openItem(uint32_t stream);
  void consider(uint32_t stream);

  // The life of a task.
  void arrive(uint32_t stream);
  void start(uint32_t stream);
  void finish(uint32_t stream);
  void resolve(uint32_t classIndex, bool once, uint32_t slot, uint32_t task,
               Time time);
  template <typename Filter>
  void releaseBuffers(const TaskInstance &instance, uint32_t slot,
                      Filter filter);
  void closeFrame(Frames &frames, uint32_t slot, uint32_t microBatch,
                  uint32_t ended);

  // Sections that run as before.
  void startReplay(uint32_t classIndex, SectionReplays::Place place);
  void awaitStep(uint32_t classIndex);
  void stepReplay(uint32_t classIndex);
  void feelStep(uint32_t classIndex, uint32_t task);
  void catchUp(uint32_t classIndex, uint32_t end);
  void passStretch(uint32_t classIndex, uint32_t slot);
  void passEvent(uint32_t classIndex, uint32_t slot, const SectionEvent &event);
  void leaveReplay(uint32_t classIndex);
  void resume(uint32_t classIndex, const SectionReplay &replay, unsigned s,
              uint32_t position);
  static ArrayRef<uint32_t> queueOf(const ClassState &state,
                                    const SectionReplay &replay, unsigned s) {
    Stream stream = static_cast<Stream>(s);
    return SectionReplays::isForMessages(stream)
               ? ArrayRef<uint32_t>()
               : state.flat.templates[0].queue(replay.section, EveryTime,
                                               stream);
  }

  // Kernels, communications and what they do to each other.
  void startKernel(uint32_t stream, const FlatTask &task);
  void finishKernel(ClassState &state);
  void startCollective(uint32_t collective);
  void finishCollective(uint32_t collective);
  void beginFlow(uint32_t collective);
  template <typename Visit>
  void forCommunications(const ClassState &state, Visit visit);
  void setCommunicating(uint32_t stream, bool runs);
  void markCollective(uint32_t collective);
  void settle();

  // The loop.
  void startAll();
  void process(const Event &event);
  bool nextTime();

  void push(Time time, EventKind kind, uint32_t subject, uint32_t version = 0) {
    tooLong |= time >= timeLimit;
    queue.push_back({time,
                     static_cast<uint64_t>(kind) << eventKindShift | sequence++,
                     subject, version});
    std::push_heap(queue.begin(), queue.end());
  }
  void pop() {
    std::pop_heap(queue.begin(), queue.end());
    queue.pop_back();
  }
  /// `time` later than now, without overflow.
  Time after(Time time) const { return now + std::min(time, timeLimit); }

  /// When the host has launched a task of a work item.
  Time launchTime(uint32_t classIndex, uint32_t item, bool once,
                  uint32_t task) const {
    const FlatClass &flat = classes[classIndex].flat;
    const FlatItem &work = flat.order[item];
    uint64_t before =
        work.launchedBefore +
        flat.templates[once].ordinal[work.last ? LastTime : EveryTime][task];
    return workload.classes[classIndex].launchLatency *
           static_cast<Time>(before + 1);
  }
  TaskInstance instanceOf(uint32_t stream) {
    const Head &head = headOf(stream);
    ClassState &state = stateOf(stream);
    Time ready =
        state.frames[head.once]
            .ready[head.slot * state.flat.templates[head.once].numTasks() +
                   head.task];
    return {stream / numStreams,
            head.task,
            state.flat.order[head.item].microBatch,
            head.once,
            std::max<Time>(ready, 0),
            head.launched};
  }

  ArrayRef<Listener *> listeners;
  Recurrence recurrence;
  std::vector<uint32_t> startable; ///< streams whose head may start now
  std::vector<uint32_t> dirtyClasses, dirtyCollectives;
  uint64_t sequence = 0;
  bool tooLong = false; ///< an event lies behind `timeLimit`
};

} // namespace

//===----------------------------------------------------------------------===//
// Frames and queues
//===----------------------------------------------------------------------===//

/// The head has moved to another work item: finds or makes its frame.
template <bool Listening> void Engine<Listening>::openItem(uint32_t stream) {
  ClassState &state = stateOf(stream);
  Head &head = headOf(stream);
  recurrence.onOpenItem(stream);
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
    openItem(stream);
  }
  head.task = *head.next++;
  head.status = Head::Status::Waiting;
  head.launched =
      launchTime(stream / numStreams, head.item, head.once, head.task);
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
  if (head.launched > now) {
    ++state.launchWaits;
    push(head.launched, EventKind::Launch, stream);
  } else {
    startable.push_back(stream);
  }
}

/// The head of a stream can start: it does, unless others must come first.
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

/// A user of buffers has ended; only those count that pass the filter.
template <bool Listening>
template <typename Filter>
void Engine<Listening>::releaseBuffers(const TaskInstance &instance,
                                       uint32_t slot, Filter filter) {
  ClassState &state = classes[instance.classIndex];
  Frames &frames = state.frames[instance.once];
  const FlatTemplate &flat = state.flat.templates[instance.once];
  uint32_t *users = frames.open.data() + slot * frames.stride + flat.numTasks();
  for (uint32_t buffer : flat.uses[instance.task])
    if (filter(buffer) && --users[buffer] == 0)
      for (Listener *listener : listeners)
        listener->onFree(instance, buffer, now);
}

/// One dependency of a task has ended.
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
      // The once-tasks may not have been touched yet.
      int32_t slot = state.frames[1].slotOf[0];
      resolve(classIndex, true,
              slot >= 0 ? slot : openFrame(state, {0, 0, true, true, 0}),
              successor, now);
    }
  closeFrame(state.frames[head.once], head.slot, item.microBatch, 1);
  advance(stream);
}

/// Some tasks of a frame have ended: nobody needs it after the last one.
template <bool Listening>
void Engine<Listening>::closeFrame(Frames &frames, uint32_t slot,
                                   uint32_t microBatch, uint32_t ended) {
  if ((frames.remaining[slot] -= ended) > 0)
    return;
  frames.slotOf[microBatch] = -1;
  frames.freeSlots.push_back(slot);
}

//===----------------------------------------------------------------------===//
// Sections that run as before
//===----------------------------------------------------------------------===//

template <bool Listening>
void Engine<Listening>::startReplay(uint32_t classIndex,
                                    SectionReplays::Place place) {
  ClassState &state = classes[classIndex];
  SectionReplay &replay = *place.replay;
  const SectionTrace::Stretch &stretch = replay.stretches[place.stretch];
  ActiveReplay &active = state.active;
  active.replay = &replay;
  active.start = now - stretch.begin;
  active.stretch = place.stretch;
  active.event = stretch.firstEvent;
  active.nextStep =
      llvm::lower_bound(replay.steps, stretch.firstEvent,
                        [](const SectionReplay::Step &step, uint32_t event) {
                          return step.event < event;
                        }) -
      replay.steps.begin();
  active.streams = 0;
  for (unsigned s = 0; s < numStreams; ++s)
    if (replay.parts[place.stretch].position[s] <
        queueOf(state, replay, s).size()) {
      active.streams |= 1u << s;
      state.heads[s].status = Head::Status::Running;
    }
  awaitStep(classIndex);
}

/// Puts the next point in time into the queue at which others feel something
/// of a replay, or its end.
template <bool Listening>
void Engine<Listening>::awaitStep(uint32_t classIndex) {
  ActiveReplay &active = classes[classIndex].active;
  const SectionReplay &replay = *active.replay;
  Time offset = active.nextStep < replay.steps.size()
                    ? replay.events[replay.steps[active.nextStep].event].offset
                    : replay.duration;
  push(active.start + offset, EventKind::SectionStep, classIndex,
       ++active.version);
}

template <bool Listening>
void Engine<Listening>::stepReplay(uint32_t classIndex) {
  ActiveReplay &active = classes[classIndex].active;
  const SectionReplay &replay = *active.replay;
  ArrayRef<SectionEvent> events = replay.events;
  Time offset = now - active.start;
  while (active.nextStep < replay.steps.size()) {
    auto [event, task] = replay.steps[active.nextStep];
    if (events[event].offset > offset)
      break;
    ++active.nextStep;
    uint32_t behind = event + 1;
    while (behind < events.size() &&
           events[behind].kind == SectionEvent::Kind::Free)
      ++behind;
    catchUp(classIndex, behind);
    feelStep(classIndex, task);
  }
  if (active.nextStep == replay.steps.size() && offset == replay.duration)
    leaveReplay(classIndex);
  else
    awaitStep(classIndex);
}

/// A task has ended that messages wait for, or whose buffers they use.
template <bool Listening>
void Engine<Listening>::feelStep(uint32_t classIndex, uint32_t task) {
  ClassState &state = classes[classIndex];
  const FlatTemplate &flat = state.flat.templates[0];
  const Head &head = state.heads[static_cast<unsigned>(Stream::Compute)];
  uint32_t slot = head.slot;
  if constexpr (Listening) {
    TaskInstance instance = {
        classIndex, task, state.flat.order[head.item].microBatch, false, 0, 0};
    releaseBuffers(instance, slot, [&](uint32_t buffer) {
      return replays.isInMessages(classIndex, buffer);
    });
  }
  for (uint32_t successor : flat.successors[task])
    if (SectionReplays::isForMessages(flat.tasks[successor].stream))
      resolve(classIndex, false, slot, successor, now);
}

/// Does to the frame, and tells listeners, what happened in a replay before its
/// event `end`.
template <bool Listening>
void Engine<Listening>::catchUp(uint32_t classIndex, uint32_t end) {
  ClassState &state = classes[classIndex];
  ActiveReplay &active = state.active;
  SectionReplay &replay = *active.replay;
  const Head &head = state.heads[static_cast<unsigned>(Stream::Compute)];
  uint32_t slot = head.slot, ended = 0;
  while (active.event < end) {
    const SectionTrace::Stretch &stretch = replay.stretches[active.stretch];
    if (active.event == stretch.firstEvent && stretch.lastEvent <= end) {
      passStretch(classIndex, slot);
      ended += replay.parts[active.stretch].tasks;
      active.event = stretch.lastEvent;
    } else {
      const SectionEvent &event = replay.events[active.event++];
      ended += event.kind == SectionEvent::Kind::TaskEnd;
      passEvent(classIndex, slot, event);
    }
    active.stretch += active.event == stretch.lastEvent;
  }
  result.tasks += ended;
  result.replayedTasks += ended;
  closeFrame(state.frames[0], slot, state.flat.order[head.item].microBatch,
             ended);
}

template <bool Listening>
void Engine<Listening>::passStretch(uint32_t classIndex, uint32_t slot) {
  ClassState &state = classes[classIndex];
  const ActiveReplay &active = state.active;
  SectionReplay::Part &part = active.replay->parts[active.stretch];
  Frames &frames = state.frames[0];
  size_t numTasks = state.flat.templates[0].numTasks();
  uint32_t *open = frames.open.data() + slot * frames.stride;
  for (const SectionReplay::Effect &effect : part.effects)
    if ((open[effect.counter] -= effect.amount) == 0 && Listening &&
        effect.counter < numTasks)
      frames.ready[slot * numTasks + effect.counter] =
          active.start + effect.offset;
  ++part.runs;
  for (Listener *listener : listeners)
    listener->onStretch(*active.replay, active.stretch, active.start);
}

template <bool Listening>
void Engine<Listening>::passEvent(uint32_t classIndex, uint32_t slot,
                                  const SectionEvent &event) {
  ClassState &state = classes[classIndex];
  Frames &frames = state.frames[0];
  const FlatTemplate &flat = state.flat.templates[0];
  const Head &head = state.heads[static_cast<unsigned>(Stream::Compute)];
  Time time = state.active.start + event.offset;
  TaskInstance instance;
  auto nameTask = [&](uint32_t task) {
    Time ready = frames.ready[slot * flat.numTasks() + task];
    instance = {classIndex,
                task,
                state.flat.order[head.item].microBatch,
                false,
                std::max<Time>(ready, 0),
                launchTime(classIndex, head.item, false, task)};
  };
  switch (event.kind) {
  case SectionEvent::Kind::TaskStart:
    if constexpr (Listening) {
      nameTask(event.subject);
      for (Listener *listener : listeners)
        listener->onTaskStart(instance, time);
    }
    break;
  case SectionEvent::Kind::TaskEnd:
    if constexpr (Listening) {
      nameTask(event.subject);
      for (Listener *listener : listeners)
        listener->onTaskEnd(instance, time);
      // Listeners hear of it by an event of its own.
      uint32_t *users =
          frames.open.data() + slot * frames.stride + flat.numTasks();
      for (uint32_t buffer : flat.uses[event.subject])
        if (!replays.isInMessages(classIndex, buffer))
          --users[buffer];
      frames.ready[slot * flat.numTasks() + event.subject] = notReady;
    }
    for (uint32_t successor : flat.successors[event.subject])
      if (!SectionReplays::isForMessages(flat.tasks[successor].stream))
        resolve(classIndex, false, slot, successor, time);
    break;
  case SectionEvent::Kind::Allocate:
    nameTask(event.task);
    for (Listener *listener : listeners)
      listener->onAllocate(instance, event.subject, time);
    break;
  case SectionEvent::Kind::Free:
    nameTask(event.task);
    for (Listener *listener : listeners)
      listener->onFree(instance, event.subject, time);
    break;
  case SectionEvent::Kind::LinkFull:
  case SectionEvent::Kind::LinkReleased:
    for (Listener *listener : listeners)
      listener->onLinkChange(event.subject,
                             event.kind == SectionEvent::Kind::LinkFull, time);
    break;
  }
}

/// Brings a class into the state in which a run task by task would be: at the
/// end of a replay, or because a message starts beside it.
template <bool Listening>
void Engine<Listening>::leaveReplay(uint32_t classIndex) {
  ClassState &state = classes[classIndex];
  ActiveReplay &active = state.active;
  SectionReplay &replay = *active.replay;
  ArrayRef<SectionEvent> events = replay.events;
  uint32_t end = active.event;
  while (end < events.size() && events[end].offset <= now - active.start)
    ++end;
  catchUp(classIndex, end);

  std::array<uint32_t, numStreams> position = {};
  uint32_t running = 0, first = end;
  if (active.stretch < replay.stretches.size()) {
    position = replay.parts[active.stretch].position;
    first = replay.stretches[active.stretch].firstEvent;
  } else {
    position = replay.positionAtEnd;
    running = replay.runningAtEnd;
  }
  for (uint32_t e = first; e < end; ++e) {
    bool starts = events[e].kind == SectionEvent::Kind::TaskStart;
    if (!starts && events[e].kind != SectionEvent::Kind::TaskEnd)
      continue;
    unsigned stream = static_cast<unsigned>(
        state.flat.templates[0].tasks[events[e].subject].stream);
    running ^= 1u << stream;
    position[stream] += !starts;
  }
  active.replay = nullptr;
  ++active.version;
  // The compute stream is the first: communications ask who computes.
  static_assert(static_cast<unsigned>(Stream::Compute) == 0);
  for (uint32_t bits = running; bits; bits &= bits - 1)
    resume(classIndex, replay, llvm::countr_zero(bits),
           position[llvm::countr_zero(bits)]);
  for (uint32_t bits = active.streams & ~running; bits; bits &= bits - 1) {
    unsigned s = llvm::countr_zero(bits);
    Head &head = state.heads[s];
    ArrayRef<uint32_t> queue = queueOf(state, replay, s);
    head.next = queue.begin() + position[s];
    head.end = queue.end();
    advance(classIndex * numStreams + s);
  }
}

/// A task goes on that started in a replay.
template <bool Listening>
void Engine<Listening>::resume(uint32_t classIndex, const SectionReplay &replay,
                               unsigned s, uint32_t position) {
  ClassState &state = classes[classIndex];
  uint32_t stream = classIndex * numStreams + s;
  Head &head = state.heads[s];
  ArrayRef<uint32_t> queue = queueOf(state, replay, s);
  head.task = queue[position];
  head.next = queue.begin() + position + 1;
  head.end = queue.end();
  head.launched = launchTime(classIndex, head.item, false, head.task);
  const FlatTask &task = taskOf(stream);
  Time start = state.active.start;
  auto progress = [&] {
    Progress at = replay.progressOf(head.task, now - start);
    at.since += start;
    return at;
  };
  if (task.collective < 0) {
    Time end = start + replay.startOf(head.task) + task.duration;
    state.computing |= task.isKernel();
    // At its present speed; in the replay it may have changed later.
    if (task.isKernel() && state.disturbedSpeed[task.matrix] != fullSpeed) {
      state.kernel = progress();
      end = state.kernel.end();
    }
    push(end, EventKind::TaskEnd, stream, ++head.version);
    return;
  }
  CollectiveState &collective = collectives[task.collective];
  const Flow &flow = workload.collectives[task.collective].flow;
  if (collective.interferes) {
    state.communicating |= 1u << s;
    collective.computingMembers = state.computing && state.slowsCommunication;
  }
  Time moves = start + replay.startOf(head.task) + flow.latency;
  if (flow.volume == 0) {
    push(moves, EventKind::CollectiveEnd, task.collective,
         ++collective.version);
  } else if (moves > now) {
    push(moves, EventKind::FlowBegin, task.collective);
  } else {
    // `settle` finds the rate that it has, and with it the end.
    collective.moving = true;
    collective.progress = progress();
    network.start(task.collective,
                  collective.ceilings[collective.computingMembers > 0]);
  }
}

//===----------------------------------------------------------------------===//
// Kernels, communications and what they do to each other
//===----------------------------------------------------------------------===//

/// Calls `visit` for the collectives that run in a class and disturb kernels.
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

/// A communication that disturbs kernels starts or ends on a stream.
template <bool Listening>
void Engine<Listening>::setCommunicating(uint32_t stream, bool runs) {
  ClassState &state = stateOf(stream);
  bool before = state.communicating != 0;
  state.communicating ^= 1u << (stream % numStreams);
  assert(((state.communicating >> (stream % numStreams)) & 1) == runs);
  if (before != (state.communicating != 0) && !std::exchange(state.dirty, true))
    dirtyClasses.push_back(stream / numStreams);
}

/// All have arrived.
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

/// The latency is over. `settle` sets the rate, and with it the end.
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

/// All that happens now has happened: speeds and rates follow, and ends are put
/// off or brought forward.
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
// The loop
//===----------------------------------------------------------------------===//

template <bool Listening> void Engine<Listening>::startAll() {
  // What starts at this time may make others able to start at this time.
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

/// Moves on to the next point in time at which something happens, if any.
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
    if (static_cast<double>(classes[c].flat.launches) *
            static_cast<double>(workload.classes[c].launchLatency) >=
        static_cast<double>(timeLimit))
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
