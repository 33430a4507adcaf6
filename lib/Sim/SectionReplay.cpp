//===- SectionReplay.cpp - replay of recorded sections --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SectionReplay.h"

#include "EngineState.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace proteus::sim;

/// A section is recorded only if at least this number of work items run it in
/// the variant EveryTime.
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
// Finding the sections that can be replayed
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

/// Finds the links on which flows of other classes, or messages, may slow a
/// collective of one class. Such a link carries flows of several classes, or
/// messages, and all its flows together may exceed its capacity.
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
  // A stream runs one flow at a time, so only the largest demand of a stream on
  // a link counts.
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

/// Finds the tasks that follow (ClassPlans::follows). These are all tasks of
/// the compute stream, and all tasks that depend on such a task of the same
/// section, directly or through other tasks.
void SectionReplays::findFollowers(uint32_t classIndex) {
  ClassPlans &own = plans[classIndex];
  const DeviceClass &device = state->workload.classes[classIndex];
  for (bool once : {false, true}) {
    const Template &from = once ? device.once : device.micro;
    std::vector<bool> &follows = own.follows[once];
    follows.resize(from.tasks.size());
    for (size_t s = 0; s + 1 < from.sectionBegin.size(); ++s)
      for (uint32_t t = from.sectionBegin[s]; t < from.sectionBegin[s + 1];
           ++t) {
        const Task &task = from.tasks[t];
        follows[t] = task.stream == Stream::Compute ||
                     llvm::any_of(task.dependsOn, [&](uint32_t dependency) {
                       const Task &other = from.tasks[dependency];
                       // A dependency that may not run with the micro-batch of
                       // the task is ignored, because the task would not wait
                       // for it.
                       return dependency >= from.sectionBegin[s] &&
                              dependency < t && follows[dependency] &&
                              (once || other.when == When::Always ||
                               task.when == other.when);
                     });
        if (!follows[t])
          own.freeStreams |= 1u << static_cast<unsigned>(task.stream);
      }
  }
}

void SectionReplays::findPasts(uint32_t classIndex) {
  const FlatClass &flat = state->classes[classIndex].flat;
  size_t sections = flat.lastMicroBatch.size();
  std::vector<BitVector> pasts(state->workload.info.microBatches);
  DenseMap<BitVector, uint32_t> numbers;
  for (const FlatItem &item : flat.order) {
    uint32_t number = 0;
    if (!item.once) {
      BitVector &past = pasts[item.microBatch];
      if (past.empty())
        for (uint32_t s = 0; s < sections; ++s)
          for (unsigned flag : {LastTime, FirstTime})
            past.push_back(flat.variantOf(s, item.microBatch) & flag);
      past.resize(3 * sections);
      number = numbers.try_emplace(past, numbers.size()).first->second;
      past.set(2 * sections + item.section);
    }
    plans[classIndex].pastOf.push_back(number);
  }
}

void SectionReplays::planClass(uint32_t classIndex,
                               const std::vector<bool> &disturbed) {
  const ClassState &c = state->classes[classIndex];
  ClassPlans &own = plans[classIndex];
  const DeviceClass &device = state->workload.classes[classIndex];
  findFollowers(classIndex);
  findPasts(classIndex);
  own.stretchAt.assign(device.micro.tasks.size(), -1);
  own.inMessages.resize(device.micro.buffers.size());
  for (const Task &task : device.micro.tasks)
    if (isForMessages(task.stream)) {
      for (uint32_t buffer : task.allocates)
        own.inMessages[buffer] = true;
      for (uint32_t buffer : task.reads)
        own.inMessages[buffer] = true;
    }
  own.sections.resize(c.flat.templates[0].numSections());
  std::vector<unsigned> runs(own.sections.size());
  for (const FlatItem &item : c.flat.order)
    if (!item.once && item.variant() == EveryTime)
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
  plan.pending = std::make_unique<SectionReplay>();
  plan.pending->classIndex = classIndex;
  plan.pending->section = section;
  std::vector<SectionReplay::Member> &members = plan.pending->members;
  uint32_t begin = micro.sectionBegin[section],
           end = micro.sectionBegin[section + 1];
  std::vector<uint32_t> numberOf(end - begin, ~0u);
  auto isOnHost = [&](uint32_t buffer) { return micro.buffers[buffer].onHost; };
  for (uint32_t t = begin; t < end; ++t) {
    const Task &task = micro.tasks[t];
    if (task.when != When::Always || isForMessages(task.stream))
      continue;
    // Refuses a section that uses a stream with tasks that do not follow,
    // because that stream could start the next section before the kernels of
    // this section have ended. Also refuses sections with gradient buckets or
    // buffers in host memory.
    if ((plans[classIndex].freeStreams >> static_cast<unsigned>(task.stream) &
         1) ||
        task.bucket >= 0 || llvm::any_of(task.allocates, isOnHost) ||
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
    numberOf[t - begin] = members.size();
    members.push_back({t, ~0u, 0, 0, {}, false});
    plan.lastLaunched = flat.launched[EveryTime][t];
  }
  for (SectionReplay::Member &member : members)
    for (uint32_t dependency : micro.tasks[member.task].dependsOn) {
      member.needsMessages |= isForMessages(micro.tasks[dependency].stream);
      if (dependency >= begin && dependency < end &&
          numberOf[dependency - begin] != ~0u)
        member.dependencies.push_back(numberOf[dependency - begin]);
    }
  if (members.size() < 2)
    return false;
  plan.firstKernel = kernels.front();
  return true;
}

//===----------------------------------------------------------------------===//
// Checking the conditions at the start of a replay
//===----------------------------------------------------------------------===//

/// Returns true if the rest of the section of `item` would run without other
/// tasks of the class, except messages. `position` holds, per stream, the
/// number of tasks of the section before the rest. Three conditions must hold.
/// (1) No task of the class runs, except messages. (2) If a stream has tasks of
/// the rest, its head is the first of them. (3) On any other stream, no task of
/// a later item can start before the kernels of the section have ended. These
/// conditions imply that all tasks issued before the heads have ended.
bool SectionReplays::isAlone(
    uint32_t classIndex, uint32_t item,
    const std::array<uint32_t, numStreams> &position) const {
  const ClassState &c = state->classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s) {
    Stream stream = static_cast<Stream>(s);
    if (isForMessages(stream))
      continue;
    const Head &head = c.heads[s];
    ArrayRef<uint32_t> queue = c.flat.templates[0].queue(
        c.flat.order[item].section, EveryTime, stream);
    if (position[s] < queue.size()) {
      if (head.status != Head::Status::Waiting || head.item != item ||
          head.task != queue[position[s]])
        return false;
    } else if (head.status != Head::Status::Exhausted &&
               (head.status != Head::Status::Waiting || head.item <= item ||
                !plans[classIndex].follows[head.once][head.task])) {
      return false;
    }
  }
  return true;
}

bool SectionReplays::sendsOrReceives(uint32_t classIndex) const {
  const ClassState &c = state->classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s)
    if (isForMessages(static_cast<Stream>(s)) &&
        c.heads[s].status == Head::Status::Running)
      return true;
  return false;
}

/// Returns true if all messages have arrived that the section needs from
/// `stretch` on. Dependencies on other tasks outside the section need no check,
/// because these tasks were issued earlier and have ended (`isAlone`).
bool SectionReplays::hasMessages(uint32_t classIndex,
                                 const SectionReplay &replay, uint32_t stretch,
                                 uint32_t slot) const {
  const Frames &frames = state->classes[classIndex].frames[0];
  const uint32_t *open = frames.open.data() + slot * frames.stride;
  uint32_t firstEvent = replay.stretches[stretch].firstEvent;
  for (const SectionReplay::Member &member : replay.members) {
    if (!member.needsMessages || member.endEvent < firstEvent)
      continue;
    uint32_t waits = 0;
    for (uint32_t dependency : member.dependencies)
      waits += replay.members[dependency].endEvent >= firstEvent;
    if (open[member.task] != waits)
      return false;
  }
  return true;
}

SectionReplays::Place SectionReplays::findFor(uint32_t stream) {
  uint32_t classIndex = stream / numStreams;
  const ClassState &c = state->classes[classIndex];
  const Head &head = state->headOf(stream);
  const FlatItem &item = c.flat.order[head.item];
  if (head.once || item.variant() != EveryTime)
    return {};
  ClassPlans &own = plans[classIndex];
  Plan &plan = own.sections[item.section];
  // Records the section only while no other task of the class runs. The frame
  // then holds the numbers of buffer users at the beginning of the section.
  if (plan.firstKernel == head.task && !plan.recorded &&
      isAlone(classIndex, head.item, {})) {
    plan.recorded = true;
    plan.pending->past = own.pastOf[head.item];
    if (record(*plan.pending, head.slot)) {
      plan.replay = plan.pending.get();
      plan.replay->index = replays.size();
      replays.push_back(std::move(plan.pending));
      for (const auto &[number, stretch] :
           llvm::enumerate(plan.replay->stretches))
        own.stretchAt[plan.replay->events[stretch.firstEvent].subject] = number;
    }
  }
  int32_t stretch = own.stretchAt[head.task];
  if (stretch < 0 || plan.replay->past != own.pastOf[head.item])
    return {};
  // The kernel at the head has been launched. Therefore the host has received
  // all messages of this item, and the delay of the item is known.
  Time launched =
      item.launchBegin + c.host.delayOf(head.item) + plan.lastLaunched;
  // A replay requires that the whole section was launched earlier. Otherwise a
  // kernel may have to wait for its launch, which the recording does not show.
  if ((launched >= state->now && launched > 0) || sendsOrReceives(classIndex) ||
      !isAlone(classIndex, head.item, plan.replay->parts[stretch].position))
    return {};
  if (own.readyItem != head.item) {
    if (!hasMessages(classIndex, *plan.replay, stretch, head.slot))
      return {};
    own.readyItem = head.item;
  }
  return {plan.replay, static_cast<uint32_t>(stretch)};
}

//===----------------------------------------------------------------------===//
// State of a replay
//===----------------------------------------------------------------------===//

Time SectionReplay::startOf(uint32_t task) const {
  return llvm::lower_bound(
             members, task,
             [](const Member &a, uint32_t b) { return a.task < b; })
      ->start;
}

Progress SectionReplay::progressOf(uint32_t task, Time offset) const {
  auto behind =
      llvm::upper_bound(rates, offset, [](Time time, const Rate &rate) {
        return time < rate.offset;
      });
  while (behind != rates.begin())
    if ((--behind)->task == task)
      return behind->progress;
  return {};
}

void SectionReplays::visitState(StateVisitor &visitor,
                                std::vector<ClassState> &classes) {
  visitor.same(replays.size());
  for (const std::unique_ptr<SectionReplay> &replay : replays)
    for (SectionReplay::Part &part : replay->parts)
      visitor.count(part.runs);
  for (ClassState &c : classes) {
    visitor.same(c.active.replay ? int64_t(c.active.replay->index) + 1 : 0);
    if (!c.active.replay)
      continue;
    visitor.same(c.active.event);
    visitor.same(c.active.streams);
    visitor.time(c.active.start);
  }
}
