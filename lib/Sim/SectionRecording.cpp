//===- SectionRecording.cpp - recording of sections -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records sections. Simulates a section in isolation, divides its trace into
// stretches, and computes the effects of each stretch on the frame of a
// micro-batch.
//
//===----------------------------------------------------------------------===//

#include "SectionReplay.h"

#include "EngineState.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace proteus::sim;

/// Number of tasks after which a stretch ends at the next opportunity. With
/// shorter stretches, listeners receive more reports. With longer stretches, it
/// takes longer until a replay resumes after a message.
static constexpr unsigned tasksPerStretch = 16;

RateLog::~RateLog() = default;

namespace {

/// Listener that records the run of a workload with only one section.
class Recorder : public Listener, public RateLog {
public:
  Recorder(SectionReplay &replay, ArrayRef<uint32_t> links)
      : replay(replay), links(links) {}

  void onTaskStart(const TaskInstance &task, Time now) override {
    add(SectionEvent::Kind::TaskStart, replay.members[task.task].task, now);
    replay.members[task.task].start = now;
  }
  void onTaskEnd(const TaskInstance &task, Time now) override {
    add(SectionEvent::Kind::TaskEnd, replay.members[task.task].task, now);
    replay.members[task.task].end = now;
  }
  void onLinkChange(uint32_t link, bool holdsBack, Time now) override {
    add(holdsBack ? SectionEvent::Kind::LinkFull
                  : SectionEvent::Kind::LinkReleased,
        links[link], now);
  }
  void onKernel(const Progress &progress) override {
    // The progress is that of the kernel that started last, because kernels run
    // one after another and the start of a kernel is reported before its
    // progress.
    for (const SectionEvent &event : llvm::reverse(replay.events))
      if (event.kind == SectionEvent::Kind::TaskStart &&
          isKernel(event.subject)) {
        replay.rates.push_back({progress.since, event.subject, progress});
        return;
      }
  }
  void onFlow(uint32_t collective, const Progress &progress) override {
    replay.rates.push_back({progress.since, taskOf[collective], progress});
  }

  const FlatTemplate *flat = nullptr;
  std::vector<uint32_t> taskOf; ///< task of each collective of the isolated run

private:
  bool isKernel(uint32_t task) const { return flat->tasks[task].isKernel(); }
  void add(SectionEvent::Kind kind, uint32_t subject, Time now) {
    replay.events.push_back({kind, now, subject});
  }

  SectionReplay &replay;
  ArrayRef<uint32_t> links;
};

} // namespace

/// Returns a workload that consists of the members of a recorded section, their
/// collectives, and the links of these collectives. Sets `links` to the
/// original index of each link.
static Workload workloadOf(const Workload &workload,
                           const SectionReplay &replay,
                           std::vector<uint32_t> &links) {
  const DeviceClass &from = workload.classes[replay.classIndex];
  Workload alone;
  alone.labels = {""};
  alone.info.microBatches = 1;
  alone.cluster.devices.emplace_back();
  DeviceClass device;
  device.interference = from.interference;
  std::map<uint32_t, uint32_t> linkNumbers;
  for (const SectionReplay::Member &member : replay.members) {
    const Task &task = from.micro.tasks[member.task];
    Task copy;
    copy.stream = task.stream;
    copy.matrix = task.matrix;
    copy.duration = task.duration;
    copy.dependsOn = member.dependencies;
    if (task.collective >= 0) {
      const Collective &collective = workload.collectives[task.collective];
      copy.collective = alone.collectives.size();
      Collective own;
      own.kind = collective.kind;
      own.bytes = collective.bytes;
      own.groupSize = collective.groupSize;
      own.flow = collective.flow;
      own.members = {0};
      for (LinkClassLoad &load : own.flow.loads) {
        auto [place, isNew] = linkNumbers.try_emplace(load.link, links.size());
        if (isNew) {
          links.push_back(load.link);
          alone.links.push_back(workload.links[load.link]);
        }
        load.link = place->second;
      }
      alone.collectives.push_back(std::move(own));
    }
    device.micro.tasks.push_back(std::move(copy));
  }
  device.micro.sectionBegin = {0, static_cast<uint32_t>(replay.members.size())};
  device.order = {{0, 0, false}};
  alone.classes.push_back(std::move(device));
  return alone;
}

/// Simulates the section in isolation and fills `replay`. `slot` is the slot of
/// a frame for which the section is about to start. Returns false if the
/// section cannot be replayed.
bool SectionReplays::record(SectionReplay &replay, uint32_t slot) const {
  const ClassState &c = state->classes[replay.classIndex];
  const FlatTemplate &flat = c.flat.templates[0];
  std::vector<uint32_t> links;
  Workload alone = workloadOf(state->workload, replay, links);
  EngineOptions own = options;
  own.skipRecurrence = own.replaySections = false;
  Recorder recorder(replay, links);
  recorder.flat = &flat;
  for (const SectionReplay::Member &member : replay.members)
    if (flat.tasks[member.task].collective >= 0)
      recorder.taskOf.push_back(member.task);
  Listener *listener = &recorder;
  if (Expected<RunResult> result = runLogged(alone, own, listener, recorder);
      !result) {
    // Drops the error, because the simulation of the whole workload reports it.
    consumeError(result.takeError());
    return false;
  }
  std::vector<uint32_t> numberOf(flat.numTasks(), ~0u);
  for (auto [number, member] : llvm::enumerate(replay.members)) {
    numberOf[member.task] = number;
    if (flat.tasks[member.task].isKernel())
      replay.duration = std::max(replay.duration, member.end);
  }
  // Removes the events after the end of the last kernel, because the next
  // section may already run at that time.
  auto isEndOfKernel = [&](const SectionEvent &event) {
    return event.kind == SectionEvent::Kind::TaskEnd &&
           flat.tasks[event.subject].isKernel();
  };
  while (!isEndOfKernel(replay.events.back()))
    replay.events.pop_back();
  const Frames &frames = c.frames[0];
  ArrayRef<uint32_t> users = ArrayRef(frames.open)
                                 .slice(slot * frames.stride, frames.stride)
                                 .drop_front(flat.numTasks());
  if (state->listening)
    tellMemory(replay, users);
  cut(replay);
  if (replay.stretches.empty())
    return false;
  for (auto [number, event] : llvm::enumerate(replay.events))
    if (event.kind == SectionEvent::Kind::TaskEnd)
      replay.members[numberOf[event.subject]].endEvent = number;
  findSteps(replay);
  describeEffects(replay, users);
  return true;
}

/// Adds the events of allocations, and of frees of buffers that no message
/// uses. `before` holds the number of users of each buffer at the start of the
/// section.
void SectionReplays::tellMemory(SectionReplay &replay,
                                ArrayRef<uint32_t> before) const {
  const FlatTemplate &flat =
      state->classes[replay.classIndex].flat.templates[0];
  std::vector<uint32_t> users = before.vec();
  std::vector<SectionEvent> events;
  for (const SectionEvent &event : replay.events) {
    events.push_back(event);
    if (event.kind == SectionEvent::Kind::TaskStart)
      for (uint32_t buffer : flat.allocates[event.subject])
        events.push_back({SectionEvent::Kind::Allocate, event.offset, buffer,
                          event.subject});
    if (event.kind == SectionEvent::Kind::TaskEnd)
      for (uint32_t buffer : flat.uses[event.subject])
        if (!isInMessages(replay.classIndex, buffer) && --users[buffer] == 0)
          events.push_back(
              {SectionEvent::Kind::Free, event.offset, buffer, event.subject});
  }
  replay.events = std::move(events);
}

/// Returns true if the end of a task may affect messages: a message depends on
/// the task or, if there are listeners, uses one of the buffers of the task.
bool SectionReplays::isFelt(uint32_t classIndex, uint32_t task) const {
  const FlatTemplate &flat = state->classes[classIndex].flat.templates[0];
  return llvm::any_of(flat.successors[task],
                      [&](uint32_t successor) {
                        return isForMessages(flat.tasks[successor].stream);
                      }) ||
         (state->listening &&
          llvm::any_of(flat.uses[task], [&](uint32_t buffer) {
            return isInMessages(classIndex, buffer);
          }));
}

/// Divides the events of a recorded section into stretches. Also sets
/// `positionAtEnd` and `runningAtEnd`.
void SectionReplays::cut(SectionReplay &replay) const {
  const ClassState &c = state->classes[replay.classIndex];
  const FlatTemplate &flat = c.flat.templates[0];
  std::vector<SectionEvent> &events = replay.events;
  auto isStart = [](const SectionEvent &event) {
    return event.kind == SectionEvent::Kind::TaskStart;
  };
  auto isOfLink = [](const SectionEvent &event) {
    return event.kind == SectionEvent::Kind::LinkFull ||
           event.kind == SectionEvent::Kind::LinkReleased;
  };
  uint32_t &running = replay.runningAtEnd;
  std::array<uint32_t, numStreams> ended = {};
  Time lastStart = -1;
  unsigned started = 0; ///< number of tasks in the current stretch
  // True if a new stretch should begin at the next opportunity: at the
  // beginning, after `tasksPerStretch` tasks, and after an end that may affect
  // messages. In the last case, the events up to this end can then be reported
  // as a whole stretch.
  bool wantsCut = true;
  for (uint32_t e = 0; e < events.size(); ++e) {
    const SectionEvent &event = events[e];
    bool ends = event.kind == SectionEvent::Kind::TaskEnd;
    if (!ends && !isStart(event))
      continue;
    unsigned stream = static_cast<unsigned>(flat.tasks[event.subject].stream);
    if (ends) {
      running &= ~(1u << stream);
      ++ended[stream];
      wantsCut |= isFelt(replay.classIndex, event.subject);
      continue;
    }
    auto same = std::find_if(
        events.begin() + e + 1, events.end(), [&](const SectionEvent &other) {
          return other.offset != event.offset || isStart(other);
        });
    bool isOnly = lastStart != event.offset &&
                  (same == events.end() || same->offset != event.offset);
    lastStart = event.offset;
    bool isAlone = running == 0;
    running |= 1u << stream;
    wantsCut |= ++started > tasksPerStretch;
    if (!isAlone || !isOnly || !wantsCut ||
        !flat.tasks[event.subject].isKernel())
      continue;
    started = 1;
    wantsCut = false;
    // At each point in time, changes of links are reported last. Those at the
    // time of this start are due to tasks of the previous stretch, so they are
    // moved before the start, into that stretch.
    auto begin = events.begin() + e;
    for (auto event = begin; event != same; ++event)
      if (isOfLink(*event))
        std::rotate(begin++, event, event + 1);
    e = begin - events.begin();
    if (!replay.stretches.empty()) {
      replay.stretches.back().lastEvent = e;
      replay.stretches.back().end = begin->offset;
    }
    replay.stretches.push_back({e, static_cast<uint32_t>(events.size()),
                                begin->offset, replay.duration});
    replay.parts.emplace_back();
    replay.parts.back().position = ended;
  }
  replay.positionAtEnd = ended;
}

/// Fills `replay.steps` with the ends of tasks that may affect messages.
void SectionReplays::findSteps(SectionReplay &replay) const {
  for (auto [number, event] : llvm::enumerate(replay.events))
    if (event.kind == SectionEvent::Kind::TaskEnd &&
        isFelt(replay.classIndex, event.subject))
      replay.steps.push_back({static_cast<uint32_t>(number), event.subject});
}

void SectionReplays::describeEffects(SectionReplay &replay,
                                     ArrayRef<uint32_t> before) const {
  const FlatTemplate &flat =
      state->classes[replay.classIndex].flat.templates[0];
  std::vector<uint32_t> endEvent(flat.numTasks(), ~0u);
  for (const SectionReplay::Member &member : replay.members)
    endEvent[member.task] = member.endEvent;
  std::vector<uint32_t> users = before.vec();
  std::vector<uint32_t> placeOf(users.size() + flat.numTasks(), ~0u);
  uint32_t told = 0;
  for (auto [stretch, part] : llvm::zip(replay.stretches, replay.parts)) {
    std::vector<SectionReplay::Effect> effects;
    auto count = [&](uint32_t counter, Time offset) {
      if (placeOf[counter] == ~0u) {
        placeOf[counter] = effects.size();
        effects.push_back({counter, 0, 0});
      }
      ++effects[placeOf[counter]].amount;
      effects[placeOf[counter]].offset = offset;
    };
    for (; told < stretch.lastEvent; ++told) {
      const SectionEvent &event = replay.events[told];
      if (event.kind != SectionEvent::Kind::TaskEnd)
        continue;
      bool isInside = told >= stretch.firstEvent;
      part.tasks += isInside;
      for (uint32_t successor : flat.successors[event.subject])
        if (isInside && endEvent[successor] >= stretch.lastEvent &&
            !isForMessages(flat.tasks[successor].stream))
          count(successor, event.offset);
      if (!state->listening)
        continue;
      for (uint32_t buffer : flat.uses[event.subject])
        if (!isInMessages(replay.classIndex, buffer)) {
          --users[buffer];
          if (isInside)
            count(flat.numTasks() + buffer, event.offset);
        }
    }
    // Leaves out the counter of a buffer that is freed in this stretch, because
    // the counter is not needed afterwards.
    for (const SectionReplay::Effect &effect : effects) {
      placeOf[effect.counter] = ~0u;
      if (effect.counter < flat.numTasks() ||
          users[effect.counter - flat.numTasks()] > 0)
        part.effects.push_back(effect);
    }
  }
}
