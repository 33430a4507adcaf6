//===- BreakdownTracker.cpp - the breakdown of the time of classes --------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Listeners.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

void BreakdownTracker::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  classes.assign(w.classes.size(), {});
  std::map<std::string, uint32_t> known;
  auto numberOf = [&](std::string kind) {
    auto [entry, isNew] = known.try_emplace(kind, kinds.size());
    if (isNew)
      kinds.push_back(std::move(kind));
    return entry->second;
  };
  for (const Collective &collective : w.collectives)
    kindOfCollective.push_back(numberOf(collective.kindAndAxes()));
  for (unsigned s = 0; s < numStreams; ++s)
    kindOfCopy[s] = numberOf(stringify(static_cast<Stream>(s)).str());
  tasks.findOfTasks(w,
                    [&](uint32_t, const Task &task) { return factsOf(task); });
}

/// Returns true if `task`, a communication or a copy, is a message between
/// stages. Messages may also run on the compute stream.
static bool isTransfer(const Workload &workload, const Task &task) {
  if (task.stream == Stream::Compute)
    return workload.collectives[task.collective].kind ==
           cost::CollectiveKind::SendRecv;
  switch (task.stream) {
  case Stream::PipelineSend:
  case Stream::PipelineReceive:
  case Stream::PipelineSendGradient:
  case Stream::PipelineReceiveGradient:
    return true;
  default:
    return false;
  }
}

BreakdownTracker::TaskFacts BreakdownTracker::factsOf(const Task &task) const {
  if (task.stream == Stream::Compute && task.collective < 0)
    return {task.opKind, task.stream, task.phase, Role::Kernel};
  // The task is a communication, or a copy from or to the host.
  uint32_t kind = task.collective >= 0
                      ? kindOfCollective[task.collective]
                      : kindOfCopy[static_cast<unsigned>(task.stream)];
  return {kind, task.stream, task.phase,
          isTransfer(*workload, task) ? Role::Transfer : Role::Communication};
}

/// Moves `lastChange` to `now`. If no kernel has run in the class since
/// `lastChange`, adds the time since then to the current gap.
void BreakdownTracker::elapse(State &state, Time now) {
  Time begin = state.lastChange;
  state.lastChange = now;
  if (begin == now || state.computing)
    return;
  Idle kind = state.communications > 0 ? Idle::Communication
              : state.transfers > 0    ? Idle::Pipeline
                                       : Idle::Nothing;
  Segment segment = {begin, now, kind, {}};
  for (auto [stream, candidate] : state.present)
    segment.candidates.push_back(candidate);
  if (!state.gap.empty() && state.gap.back().kind == kind &&
      state.gap.back().candidates == segment.candidates)
    state.gap.back().end = now;
  else
    state.gap.push_back(std::move(segment));
}

/// Adds the segments of the current gap to the breakdown and ends the gap. The
/// time of the gap within [hostBegin, hostEnd) counts as host time.
void BreakdownTracker::closeGap(State &state, Time hostBegin, Time hostEnd) {
  auto kindWaitedFor = [&](const Segment &segment) {
    const Candidate *best = nullptr;
    for (uint32_t index : segment.candidates)
      if (!best || state.candidates[index].end > best->end)
        best = &state.candidates[index];
    return best->kind;
  };
  for (const Segment &segment : state.gap) {
    Time host = std::max<Time>(0, std::min(segment.end, hostEnd) -
                                      std::max(segment.begin, hostBegin));
    state.breakdown.host += host;
    Time rest = segment.end - segment.begin - host;
    switch (segment.kind) {
    case Idle::Communication:
      state.breakdown.exposedCommunication += rest;
      if (rest)
        state.exposedByKind[kindWaitedFor(segment)] += rest;
      break;
    case Idle::Pipeline:
      state.breakdown.exposedPipeline += rest;
      break;
    case Idle::Nothing:
      state.breakdown.bubble += rest;
      break;
    }
  }
  state.gap.clear();
  // Keeps communications that still run as candidates for the next gap.
  std::vector<Candidate> rest;
  for (auto &[stream, candidate] : state.present) {
    rest.push_back(state.candidates[candidate]);
    candidate = rest.size() - 1;
  }
  state.candidates = std::move(rest);
}

void BreakdownTracker::start(State &state, const TaskFacts &task, Time ready,
                             Time launched, Time now) {
  state.started[static_cast<unsigned>(task.stream)] = now;
  elapse(state, now);
  switch (task.role) {
  case Role::Kernel:
    // A kernel starts when its dependencies have ended, its stream is free, and
    // the host has launched it. Idle time in which only the launch was missing
    // is therefore host time.
    closeGap(state, std::max(ready, state.streamFree), launched);
    state.computing = true;
    break;
  case Role::Transfer:
    ++state.transfers;
    break;
  case Role::Communication:
    ++state.communications;
    state.present.emplace_back(static_cast<unsigned>(task.stream),
                               state.candidates.size());
    state.candidates.push_back({task.kind, running});
    break;
  }
}

void BreakdownTracker::end(State &state, const TaskFacts &task, Time now) {
  unsigned stream = static_cast<unsigned>(task.stream);
  Time duration = now - state.started[stream];
  state.busy[stream] += duration;
  elapse(state, now);
  if (task.stream == Stream::Compute)
    state.streamFree = now;
  if (task.role == Role::Transfer) {
    --state.transfers;
    return;
  }
  if (task.role == Role::Communication) {
    --state.communications;
    auto ended = llvm::find_if(
        state.present, [&](const auto &one) { return one.first == stream; });
    state.candidates[ended->second].end = now;
    state.present.erase(ended);
    return;
  }
  state.computing = false;
  state.byOperation[task.kind] += duration;
  switch (task.phase) {
  case Phase::Forward:
  case Phase::Backward:
    state.breakdown.compute += duration;
    break;
  case Phase::Recompute:
    state.breakdown.recompute += duration;
    break;
  case Phase::Update:
    state.breakdown.optimizer += duration;
    break;
  }
}

void BreakdownTracker::onTaskStart(const TaskInstance &instance, Time now) {
  start(classes[instance.classIndex],
        tasks.at(instance.classIndex, instance.once, instance.task),
        instance.ready, instance.launched, now);
}

void BreakdownTracker::onTaskEnd(const TaskInstance &instance, Time now) {
  end(classes[instance.classIndex],
      tasks.at(instance.classIndex, instance.once, instance.task), now);
}

/// Ends the gap before the stretch, because a stretch begins with a kernel. The
/// time within the stretch is added later, by `onStretchRuns`. A gap at the end
/// of the stretch counts as a part of the stretch, because the next stretch
/// begins with a kernel, too.
void BreakdownTracker::onStretch(const SectionTrace &trace, uint32_t stretch,
                                 Time start) {
  State &state = classes[trace.classIndex];
  Time begin = start + trace.stretches[stretch].begin;
  elapse(state, begin);
  closeGap(state, begin, begin);
  state.lastChange = state.streamFree = start + trace.stretches[stretch].end;
}

void BreakdownTracker::onStretchRuns(const SectionTrace &trace,
                                     uint32_t stretch, int64_t runs) {
  State once;
  once.lastChange = trace.stretches[stretch].begin;
  for (const SectionEvent &event : trace.eventsOf(stretch)) {
    if (event.kind == SectionEvent::Kind::TaskStart)
      start(once, tasks.at(trace.classIndex, false, event.subject), 0, 0,
            event.offset);
    else if (event.kind == SectionEvent::Kind::TaskEnd)
      end(once, tasks.at(trace.classIndex, false, event.subject), event.offset);
  }
  if (!once.computing) {
    elapse(once, trace.stretches[stretch].end);
    closeGap(once, 0, 0);
  }
  State &state = classes[trace.classIndex];
  Breakdown &sum = state.breakdown;
  sum.compute += runs * once.breakdown.compute;
  sum.recompute += runs * once.breakdown.recompute;
  sum.optimizer += runs * once.breakdown.optimizer;
  sum.exposedCommunication += runs * once.breakdown.exposedCommunication;
  sum.exposedPipeline += runs * once.breakdown.exposedPipeline;
  sum.bubble += runs * once.breakdown.bubble;
  for (unsigned s = 0; s < numStreams; ++s)
    state.busy[s] += runs * once.busy[s];
  for (auto [operation, time] : once.byOperation)
    state.byOperation[operation] += runs * time;
  for (auto [kind, time] : once.exposedByKind)
    state.exposedByKind[kind] += runs * time;
}

void BreakdownTracker::onFinish(Time iterationTime) {
  for (State &state : classes) {
    elapse(state, iterationTime);
    closeGap(state, 0, 0);
  }
}

void BreakdownTracker::visitState(StateVisitor &visitor) {
  for (State &state : classes) {
    Breakdown &parts = state.breakdown;
    for (Time *part : {&parts.compute, &parts.recompute, &parts.optimizer,
                       &parts.exposedCommunication, &parts.exposedPipeline,
                       &parts.host, &parts.bubble})
      visitor.count(*part);
    for (unsigned s = 0; s < numStreams; ++s) {
      visitor.count(state.busy[s]);
      visitor.time(state.started[s]);
    }
    visitor.same(state.byOperation.size());
    for (auto &[operation, time] : state.byOperation)
      visitor.count(time);
    visitor.same(state.exposedByKind.size());
    for (auto &[kind, time] : state.exposedByKind)
      visitor.count(time);
    visitor.time(state.lastChange);
    visitor.time(state.streamFree);
    visitor.same(state.communications);
    visitor.same(state.transfers);
    visitor.same(state.computing);
    visitor.same(state.gap.size());
    for (Segment &segment : state.gap) {
      visitor.time(segment.begin);
      visitor.time(segment.end);
      visitor.same(static_cast<int64_t>(segment.kind));
      visitor.same(segment.candidates.size());
      for (uint32_t candidate : segment.candidates)
        visitor.same(candidate);
    }
    visitor.same(state.candidates.size());
    for (Candidate &candidate : state.candidates) {
      visitor.same(candidate.kind);
      visitor.time(candidate.end);
    }
    for (auto [stream, candidate] : state.present) {
      visitor.same(stream);
      visitor.same(candidate);
    }
  }
}

std::vector<std::pair<uint32_t, Time>>
BreakdownTracker::computeByOperation(uint32_t classIndex) const {
  auto result = classes[classIndex].byOperation.getArrayRef().vec();
  llvm::sort(result, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  return result;
}

std::vector<ExposedCommunication>
BreakdownTracker::exposedByKind(uint32_t classIndex) const {
  std::vector<ExposedCommunication> result;
  for (auto [kind, time] : classes[classIndex].exposedByKind)
    result.push_back({kinds[kind], time});
  llvm::sort(result, [](const auto &a, const auto &b) {
    return std::tie(b.time, a.kind) < std::tie(a.time, b.kind);
  });
  return result;
}
