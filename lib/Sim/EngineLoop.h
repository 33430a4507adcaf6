//===- EngineLoop.h - the event loop of the engine --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The event loop of the engine. It executes a workload task by task and replays
// recorded sections. Engine.cpp holds the main part of the loop,
// EngineReplay.cpp the replay.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_ENGINELOOP_H
#define PROTEUS_LIB_SIM_ENGINELOOP_H

#include "EngineState.h"
#include "Recurrence.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace proteus::sim {

/// The event loop. Without listeners (`Listening` false) it does not keep the
/// state that only listeners need.
template <bool Listening> class Engine : private EngineState {
public:
  Engine(const Workload &workload, const EngineOptions &options,
         llvm::ArrayRef<Listener *> listeners, RateLog *log = nullptr)
      : EngineState(workload, options, Listening,
                    options.replaySections && canSkip(listeners)),
        listeners(listeners),
        recurrence(*this, listeners,
                   options.skipRecurrence && canSkip(listeners)) {
    rateLog = log;
  }

  llvm::Expected<RunResult> run();

private:
  static bool canSkip(llvm::ArrayRef<Listener *> listeners) {
    return llvm::all_of(listeners, [](const Listener *listener) {
      return listener->canSkip();
    });
  }
  llvm::Error checkLaunches() const;

  // Functions that move streams to their next tasks.
  void advance(uint32_t stream);
  void openItem(uint32_t stream);
  void consider(uint32_t stream);

  // Functions that start and end tasks.
  void arrive(uint32_t stream);
  void start(uint32_t stream);
  void finish(uint32_t stream);
  void receive(uint32_t stream);
  void resolve(uint32_t classIndex, bool once, uint32_t slot, uint32_t task,
               Time time);
  template <typename Filter>
  void releaseBuffers(const TaskInstance &instance, uint32_t slot,
                      Filter filter);
  void closeFrame(Frames &frames, uint32_t slot, uint32_t microBatch,
                  uint32_t ended);

  // Functions that replay recorded sections.
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
  static llvm::ArrayRef<uint32_t>
  queueOf(const ClassState &state, const SectionReplay &replay, unsigned s) {
    Stream stream = static_cast<Stream>(s);
    return SectionReplays::isForMessages(stream)
               ? llvm::ArrayRef<uint32_t>()
               : state.flat.templates[0].queue(replay.section, EveryTime,
                                               stream);
  }

  // Functions for kernels, communication and their mutual slowdown.
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

  // Functions that process the events in order of time.
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
  /// Returns now + `time`. Limits `time` to `timeLimit`, so that the sum does
  /// not overflow.
  Time after(Time time) const { return now + std::min(time, timeLimit); }

  /// Returns the time at which the host has launched a task of a work item.
  /// Returns `notLaunched` if the host must first wait for a message.
  Time launchTime(uint32_t classIndex, uint32_t item, uint32_t task) const {
    const ClassState &state = classes[classIndex];
    return state.host.launchTime(state.flat, item, task);
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

  llvm::ArrayRef<Listener *> listeners;
  Recurrence recurrence;
  std::vector<uint32_t> startable; ///< streams with a head that may start now
  std::vector<uint32_t> dirtyClasses, dirtyCollectives;
  uint64_t sequence = 0;
  bool tooLong = false; ///< true if an event is at or after `timeLimit`
};

/// Decrements the number of users of each buffer that a task uses, because the
/// task has ended. Leaves out buffers for which `filter` returns false. Reports
/// a buffer as freed when it has no more users.
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

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_ENGINELOOP_H
