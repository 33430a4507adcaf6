//===- EngineReplay.cpp - replay of sections in the event loop ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineLoop.h"

#include "llvm/ADT/bit.h"

using namespace llvm;
using namespace proteus;

namespace proteus::sim {

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

/// Adds the next event of a replay to the event queue: the next end of a task
/// that may affect a message, or the end of the replay.
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

/// Applies the end of a replayed task to messages at the exact time of the end;
/// its other effects are applied later, by `catchUp`. If messages use a buffer
/// of the task, decrements the number of users of the buffer. If a message
/// depends on the task, decrements the number of open dependencies of the
/// message.
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

/// Applies the events of a replay that have not been applied yet, up to but not
/// including the event with index `end`. Updates the frame of the micro-batch
/// and reports the events to listeners.
template <bool Listening>
void Engine<Listening>::catchUp(uint32_t classIndex, uint32_t end) {
  ClassState &state = classes[classIndex];
  ActiveReplay &active = state.active;
  SectionReplay &replay = *active.replay;
  const Head &head = state.heads[static_cast<unsigned>(Stream::Compute)];
  uint32_t slot = head.slot, ended = 0;
  while (active.event < end) {
    const SectionTrace::Stretch &stretch = replay.stretches[active.stretch];
    // If tasks still run when the last stretch ends, the events of that stretch
    // are reported one by one. Listeners expect that a task which starts in a
    // stretch reported as a whole also ends in it.
    bool isWhole = active.stretch + 1 < replay.stretches.size() ||
                   replay.runningAtEnd == 0;
    if (isWhole && active.event == stretch.firstEvent &&
        stretch.lastEvent <= end) {
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
                launchTime(classIndex, head.item, task)};
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
      // Decrements the numbers of users but reports no frees: these are events
      // of their own, of the kind Free.
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

/// Ends a replay. Applies its events up to now, restores the tasks that still
/// run, and moves the other streams to their next tasks. The class then has the
/// same state as if it had been simulated task by task. Called at the end of
/// the section, or when a message of the class starts during the replay.
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
  // `resume` sets `state.computing` for a kernel and reads it for a collective,
  // so the compute stream must be resumed first. The loop does so, because that
  // stream is the lowest bit.
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

/// Continues a task that started during a replay and still runs when the replay
/// ends: restores the progress of the task and schedules the end of the task.
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
  head.launched = launchTime(classIndex, head.item, head.task);
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
    // Computes the end from the present speed of the kernel. The recorded end
    // includes later changes of speed, which may not happen in this run.
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
    // Starts the flow with the remaining work. `settle` then computes its rate
    // and its end.
    collective.moving = true;
    collective.progress = progress();
    network.start(task.collective,
                  collective.ceilings[collective.computingMembers > 0]);
  }
}

// Instantiates the members that Engine.cpp calls.
template void Engine<false>::startReplay(uint32_t, SectionReplays::Place);
template void Engine<true>::startReplay(uint32_t, SectionReplays::Place);
template void Engine<false>::stepReplay(uint32_t);
template void Engine<true>::stepReplay(uint32_t);
template void Engine<false>::leaveReplay(uint32_t);
template void Engine<true>::leaveReplay(uint32_t);

} // namespace proteus::sim
