//===- SectionReplay.cpp - sections that run as before --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SectionReplay.h"

#include "EngineState.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace proteus::sim;

/// Sections that run less often are not worth a recording.
static constexpr unsigned fewestRuns = 4;

bool SectionReplays::isForMessages(Stream stream) {
  switch (stream) {
  case Stream::PipelineSend:
  case Stream::PipelineReceive:
  case Stream::PipelineSendGradient:
  case Stream::PipelineReceiveGradient:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// What can be replayed at all
//===----------------------------------------------------------------------===//

SectionReplays::SectionReplays(const EngineState &state,
                               const EngineOptions &options, bool enabled)
    : state(&state), options(options), enabled(enabled) {
  if (!enabled)
    return;
  std::vector<bool> disturbed = disturbedLinks();
  plans.resize(state.classes.size());
  bool any = false;
  for (uint32_t c = 0; c < plans.size(); ++c) {
    planClass(c, disturbed);
    for (const Plan &plan : plans[c].sections)
      any |= plan.firstKernel != ~0u;
  }
  this->enabled = any;
}

/// The links on which a flow of one class may be slowed by others: not all
/// flows on it are of one class, and together they may fill it.
std::vector<bool> SectionReplays::disturbedLinks() const {
  const Workload &workload = state->workload;
  std::vector<bool> disturbed(workload.links.size());
  if (!options.share)
    return disturbed;
  constexpr uint32_t nobody = ~0u, several = ~0u - 1;
  std::vector<uint32_t> owner(workload.links.size(), nobody);
  auto ownerOf = [&](uint32_t collective) {
    ArrayRef<uint32_t> parties = state->parties[collective];
    Stream stream = static_cast<Stream>(parties.front() % numStreams);
    return parties.size() == 1 && !isForMessages(stream)
               ? parties.front() / numStreams
               : several;
  };
  for (uint32_t f = 0; f < workload.collectives.size(); ++f)
    if (uint32_t own = ownerOf(f); !state->parties[f].empty())
      for (const LinkClassLoad &load : workload.collectives[f].flow.loads)
        if (uint32_t &present = owner[load.link]; present != own)
          present = present == nobody ? own : several;
  // One stream runs one flow at a time.
  DenseMap<std::pair<uint32_t, uint32_t>, uint64_t> byStream;
  std::vector<Wide> sums(workload.links.size());
  for (uint32_t f = 0; f < workload.collectives.size(); ++f)
    for (const LinkClassLoad &load : workload.collectives[f].flow.loads) {
      if (owner[load.link] != several || state->parties[f].empty())
        continue;
      Wide demand = Wide(static_cast<uint64_t>(load.load)) *
                    static_cast<uint64_t>(workload.collectives[f].flow.ceiling);
      Wide capacity =
          Wide(static_cast<uint64_t>(workload.links[load.link].capacity)) *
          loadUnit;
      if (demand > capacity) {
        disturbed[load.link] = true;
        continue;
      }
      uint64_t &most = byStream[{load.link, state->parties[f].front()}];
      if (demand <= most)
        continue;
      sums[load.link] += demand - most;
      most = static_cast<uint64_t>(demand);
      if (sums[load.link] > capacity)
        disturbed[load.link] = true;
    }
  return disturbed;
}

void SectionReplays::planClass(uint32_t classIndex,
                               const std::vector<bool> &disturbed) {
  const ClassState &c = state->classes[classIndex];
  ClassPlans &own = plans[classIndex];
  const DeviceClass &device = state->workload.classes[classIndex];
  own.sections.resize(c.flat.templates[0].numSections());
  bool disturbs = c.slowsCommunication || c.disturbedSpeed[0] != fullSpeed ||
                  c.disturbedSpeed[1] != fullSpeed;
  for (bool once : {false, true}) {
    const Template &from = once ? device.once : device.micro;
    std::vector<bool> &follows = own.follows[once];
    follows.resize(from.tasks.size());
    for (size_t s = 0; s + 1 < from.sectionBegin.size(); ++s)
      for (uint32_t t = from.sectionBegin[s]; t < from.sectionBegin[s + 1];
           ++t) {
        const Task &task = from.tasks[t];
        // A message beside kernels that slows them or is slowed by them.
        if (isForMessages(task.stream) && task.collective >= 0 && disturbs &&
            state->collectives[task.collective].interferes)
          return;
        follows[t] = task.stream == Stream::Compute ||
                     llvm::any_of(task.dependsOn, [&](uint32_t dependency) {
                       const Task &other = from.tasks[dependency];
                       // One that does not run counts as done.
                       return dependency >= from.sectionBegin[s] &&
                              dependency < t && follows[dependency] &&
                              (once || other.when == When::Always ||
                               task.when == When::LastMicroBatch);
                     });
      }
  }
  own.inMessages.resize(device.micro.buffers.size());
  for (const Task &task : device.micro.tasks)
    if (isForMessages(task.stream)) {
      for (uint32_t buffer : task.allocates)
        own.inMessages[buffer] = true;
      for (uint32_t buffer : task.reads)
        own.inMessages[buffer] = true;
    }
  std::vector<unsigned> runs(own.sections.size());
  for (const FlatItem &item : c.flat.order)
    if (!item.once && !item.last)
      ++runs[item.section];
  for (uint32_t s = 0; s < own.sections.size(); ++s) {
    Plan plan;
    if (runs[s] >= fewestRuns && planSection(classIndex, s, plan, disturbed))
      own.sections[s] = std::move(plan);
  }
}

bool SectionReplays::planSection(uint32_t classIndex, uint32_t section,
                                 Plan &plan,
                                 const std::vector<bool> &disturbed) const {
  const DeviceClass &device = state->workload.classes[classIndex];
  const Template &micro = device.micro;
  const FlatTemplate &flat = state->classes[classIndex].flat.templates[0];
  ArrayRef<uint32_t> kernels = flat.queue(section, EveryTime, Stream::Compute);
  if (kernels.empty() || !flat.tasks[kernels.front()].isKernel())
    return false;
  uint32_t begin = micro.sectionBegin[section],
           end = micro.sectionBegin[section + 1];
  auto isMember = [&](uint32_t t) {
    return t >= begin && t < end && micro.tasks[t].when == When::Always &&
           !isForMessages(micro.tasks[t].stream);
  };
  auto isOnHost = [&](uint32_t buffer) { return micro.buffers[buffer].onHost; };
  for (uint32_t t = begin; t < end; ++t) {
    if (!isMember(t))
      continue;
    const Task &task = micro.tasks[t];
    if (!plans[classIndex].follows[0][t] || task.bucket >= 0 ||
        llvm::any_of(task.allocates, isOnHost) ||
        llvm::any_of(task.reads, isOnHost))
      return false;
    if (task.collective >= 0) {
      if (state->parties[task.collective].size() != 1)
        return false;
      for (const LinkClassLoad &load :
           state->workload.collectives[task.collective].flow.loads)
        if (disturbed[load.link])
          return false;
    }
    plan.members.push_back(
        {t, static_cast<uint32_t>(llvm::count_if(task.dependsOn, isMember))});
    plan.lastOrdinal = flat.ordinal[EveryTime][t];
  }
  if (plan.members.size() < 2)
    return false;
  plan.firstKernel = kernels.front();
  return true;
}

//===----------------------------------------------------------------------===//
// Whether the moment is right
//===----------------------------------------------------------------------===//

/// Whether nothing of the class runs, and nothing but the section of the item
/// can start before its kernels have ended. Messages do not count.
bool SectionReplays::isAlone(uint32_t classIndex, uint32_t item) const {
  const ClassState &c = state->classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s) {
    const Head &head = c.heads[s];
    if (isForMessages(static_cast<Stream>(s)) ||
        head.status == Head::Status::Exhausted)
      continue;
    if (head.status != Head::Status::Waiting || head.item < item ||
        (head.item > item && !plans[classIndex].follows[head.once][head.task]))
      return false;
  }
  return true;
}

SectionReplay *SectionReplays::findFor(uint32_t stream) {
  uint32_t classIndex = stream / numStreams;
  const ClassState &c = state->classes[classIndex];
  const Head &head = state->headOf(stream);
  const FlatItem &item = c.flat.order[head.item];
  if (head.once || item.last)
    return nullptr;
  Plan &plan = plans[classIndex].sections[item.section];
  if (plan.firstKernel != head.task || (plan.recorded && !plan.replay))
    return nullptr;
  Time launched = state->workload.classes[classIndex].launchLatency *
                  static_cast<Time>(item.launchedBefore + plan.lastOrdinal + 1);
  if (launched > state->now || !isAlone(classIndex, head.item))
    return nullptr;
  const Frames &frames = c.frames[0];
  const uint32_t *open = frames.open.data() + head.slot * frames.stride;
  for (const SectionReplay::Member &member : plan.members)
    if (open[member.task] != member.dependencies)
      return nullptr;
  if (!plan.recorded) {
    plan.recorded = true;
    std::unique_ptr<SectionReplay> replay =
        record(classIndex, item.section, head.slot);
    if (!replay)
      return nullptr;
    replay->index = replays.size();
    plan.replay = replay.get();
    replays.push_back(std::move(replay));
  }
  const uint32_t *users = open + c.flat.templates[0].numTasks();
  if (state->listening)
    for (const SectionReplay::Use &use : plan.replay->uses)
      if (users[use.buffer] != use.before)
        return nullptr;
  return plan.replay;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

namespace {

/// Writes down what a workload of one section does.
class Recorder : public Listener {
public:
  Recorder(SectionReplay &replay, ArrayRef<uint32_t> links)
      : replay(replay), links(links), ends(replay.members.size()) {}

  void onTaskStart(const TaskInstance &task, Time now) override {
    add(SectionEvent::Kind::TaskStart, replay.members[task.task].task, now);
  }
  void onTaskEnd(const TaskInstance &task, Time now) override {
    add(SectionEvent::Kind::TaskEnd, replay.members[task.task].task, now);
    ends[task.task] = now;
  }
  void onLinkChange(uint32_t link, bool holdsBack, Time now) override {
    add(holdsBack ? SectionEvent::Kind::LinkFull
                  : SectionEvent::Kind::LinkReleased,
        links[link], now);
  }

private:
  void add(SectionEvent::Kind kind, uint32_t subject, Time now) {
    replay.events.push_back({kind, now, subject});
  }

  SectionReplay &replay;
  ArrayRef<uint32_t> links;

public:
  std::vector<Time> ends; ///< by member
};

} // namespace

/// The section as a workload of its own: its members, their collectives and the
/// links of those.
static Workload workloadOf(const Workload &workload, uint32_t classIndex,
                           ArrayRef<SectionReplay::Member> members,
                           std::vector<uint32_t> &links) {
  const DeviceClass &from = workload.classes[classIndex];
  Workload alone;
  alone.labels = {""};
  alone.info.microBatches = 1;
  alone.cluster.devices.emplace_back();
  DeviceClass device;
  device.interference = from.interference;
  std::map<uint32_t, uint32_t> taskNumbers, linkNumbers;
  for (auto [number, member] : llvm::enumerate(members)) {
    const Task &task = from.micro.tasks[member.task];
    taskNumbers[member.task] = number;
    Task copy;
    copy.stream = task.stream;
    copy.matrix = task.matrix;
    copy.duration = task.duration;
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
  for (auto [number, member] : llvm::enumerate(members))
    for (uint32_t dependency : from.micro.tasks[member.task].dependsOn)
      if (auto found = taskNumbers.find(dependency); found != taskNumbers.end())
        device.micro.tasks[number].dependsOn.push_back(found->second);
  device.micro.sectionBegin = {0, static_cast<uint32_t>(members.size())};
  device.order = {{0, 0, false}};
  alone.classes.push_back(std::move(device));
  return alone;
}

std::unique_ptr<SectionReplay> SectionReplays::record(uint32_t classIndex,
                                                      uint32_t section,
                                                      uint32_t slot) const {
  auto replay = std::make_unique<SectionReplay>();
  replay->classIndex = classIndex;
  replay->section = section;
  replay->members = plans[classIndex].sections[section].members;
  std::vector<uint32_t> links;
  Workload alone =
      workloadOf(state->workload, classIndex, replay->members, links);
  EngineOptions own = options;
  own.skipRecurrence = own.replaySections = false;
  Recorder recorder(*replay, links);
  Expected<RunResult> result = run(alone, own, {&recorder});
  if (!result) {
    // The whole workload will say so in its own words.
    consumeError(result.takeError());
    return nullptr;
  }
  replay->duration = result->iterationTime;
  Time lastKernel = 0;
  const Template &micro = state->workload.classes[classIndex].micro;
  for (auto [member, end] : llvm::zip(replay->members, recorder.ends)) {
    const Task &task = micro.tasks[member.task];
    replay->streams |= 1u << static_cast<unsigned>(task.stream);
    if (task.stream == Stream::Compute)
      lastKernel = std::max(lastKernel, end);
  }
  // Else the next section starts beside what is left of this one.
  if (lastKernel != replay->duration)
    return nullptr;
  describeEffects(*replay, recorder.ends, slot);
  if (state->listening)
    tellMemory(*replay, slot);
  return replay;
}

/// What the end of members means for others.
void SectionReplays::describeEffects(SectionReplay &replay, ArrayRef<Time> ends,
                                     uint32_t slot) const {
  const ClassState &c = state->classes[replay.classIndex];
  const FlatTemplate &flat = c.flat.templates[0];
  const std::vector<bool> &inMessages = plans[replay.classIndex].inMessages;
  const Frames &frames = c.frames[0];
  const uint32_t *users =
      frames.open.data() + slot * frames.stride + flat.numTasks();
  std::map<uint32_t, SectionReplay::Waiting> waiting;
  std::map<uint32_t, SectionReplay::Use> uses;
  std::vector<bool> isMember(flat.numTasks());
  for (const SectionReplay::Member &member : replay.members)
    isMember[member.task] = true;
  for (auto [member, end] : llvm::zip(replay.members, ends)) {
    bool isFelt = false;
    for (uint32_t successor : flat.successors[member.task]) {
      if (isMember[successor])
        continue;
      if (isForMessages(flat.tasks[successor].stream)) {
        isFelt = true;
        continue;
      }
      SectionReplay::Waiting &entry =
          waiting
              .try_emplace(successor, SectionReplay::Waiting{successor, 0, 0})
              .first->second;
      ++entry.dependencies;
      entry.offset = std::max(entry.offset, end);
    }
    for (uint32_t buffer : flat.uses[member.task]) {
      SectionReplay::Use &use =
          uses.try_emplace(buffer, SectionReplay::Use{buffer, users[buffer], 0})
              .first->second;
      use.within += !inMessages[buffer];
      isFelt |= inMessages[buffer] && state->listening;
    }
    if (isFelt)
      replay.steps.push_back({end, member.task});
  }
  for (const auto &[task, entry] : waiting)
    replay.waiting.push_back(entry);
  for (const auto &[buffer, use] : uses)
    replay.uses.push_back(use);
  llvm::stable_sort(replay.steps, [](const SectionReplay::Step &a,
                                     const SectionReplay::Step &b) {
    return a.offset < b.offset;
  });
}

/// Adds what is allocated and freed, where `steps` do not tell it.
void SectionReplays::tellMemory(SectionReplay &replay, uint32_t slot) const {
  const FlatTemplate &flat =
      state->classes[replay.classIndex].flat.templates[0];
  const std::vector<bool> &inMessages = plans[replay.classIndex].inMessages;
  std::vector<uint32_t> users(inMessages.size());
  for (const SectionReplay::Use &use : replay.uses)
    users[use.buffer] = use.before;
  std::vector<SectionEvent> events;
  for (const SectionEvent &event : replay.events) {
    events.push_back(event);
    if (event.kind == SectionEvent::Kind::TaskStart)
      for (uint32_t buffer : flat.allocates[event.subject])
        events.push_back({SectionEvent::Kind::Allocate, event.offset, buffer,
                          event.subject});
    if (event.kind == SectionEvent::Kind::TaskEnd)
      for (uint32_t buffer : flat.uses[event.subject])
        if (!inMessages[buffer] && --users[buffer] == 0)
          events.push_back(
              {SectionEvent::Kind::Free, event.offset, buffer, event.subject});
  }
  replay.events = std::move(events);
}

//===----------------------------------------------------------------------===//
// Replaying
//===----------------------------------------------------------------------===//

void SectionReplays::finish(ClassState &c, uint32_t slot) const {
  const SectionReplay &replay = *c.active.replay;
  Frames &frames = c.frames[0];
  size_t numTasks = c.flat.templates[0].numTasks();
  uint32_t *open = frames.open.data() + slot * frames.stride;
  for (const SectionReplay::Member &member : replay.members)
    open[member.task] = 0;
  if (!state->listening) {
    for (const SectionReplay::Waiting &task : replay.waiting)
      open[task.task] -= task.dependencies;
    return;
  }
  Time *ready = frames.ready.data() + slot * numTasks;
  for (const SectionReplay::Member &member : replay.members)
    ready[member.task] = notReady;
  for (const SectionReplay::Waiting &task : replay.waiting)
    if ((open[task.task] -= task.dependencies) == 0)
      ready[task.task] = c.active.start + task.offset;
  uint32_t *users = open + numTasks;
  for (const SectionReplay::Use &use : replay.uses)
    users[use.buffer] -= use.within;
}

void SectionReplays::visitState(StateVisitor &visitor,
                                std::vector<ClassState> &classes) {
  visitor.same(replays.size());
  for (const std::unique_ptr<SectionReplay> &replay : replays)
    visitor.count(replay->runs);
  for (ClassState &c : classes) {
    visitor.same(c.active.replay ? int64_t(c.active.replay->index) + 1 : 0);
    if (!c.active.replay)
      continue;
    visitor.same(c.active.nextStep);
    visitor.time(c.active.start);
  }
}
