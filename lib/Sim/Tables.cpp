//===- Tables.cpp - tables of collectives, links, buckets -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Listeners.h"

#include "Progress.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

//===----------------------------------------------------------------------===//
// CollectiveTable: the table of communications
//===----------------------------------------------------------------------===//

/// Returns a table with one entry per task. The entry of a task of a collective
/// in the collective's first member class is the index of the collective. All
/// other entries are -1. A listener that skips tasks with the entry -1 counts
/// each execution of a collective once, not once per member.
static FactTable<int32_t> countedCollectives(const Workload &workload) {
  FactTable<int32_t> counted;
  counted.findOfTasks(workload, [&](uint32_t classIndex, const Task &task) {
    return task.collective >= 0 &&
                   workload.collectives[task.collective].members.front() ==
                       classIndex
               ? task.collective
               : -1;
  });
  return counted;
}

void CollectiveTable::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  counted = countedCollectives(w);
  collectives.assign(w.collectives.size(), {});
}

void CollectiveTable::visitState(StateVisitor &visitor) {
  for (State &state : collectives) {
    visitor.count(state.count);
    visitor.count(state.time);
    visitor.time(state.started);
  }
}

void CollectiveTable::onTaskStart(const TaskInstance &instance, Time now) {
  int32_t index = counted.at(instance.classIndex, instance.once, instance.task);
  if (index < 0)
    return;
  ++collectives[index].count;
  collectives[index].started = now;
}

void CollectiveTable::onTaskEnd(const TaskInstance &instance, Time now) {
  int32_t index = counted.at(instance.classIndex, instance.once, instance.task);
  if (index >= 0)
    collectives[index].time += now - collectives[index].started;
}

/// Returns the collective to which the task of a start or end in a trace
/// belongs, or -1 for a kernel or copy. A collective in a trace has only one
/// member class, so it is counted only once.
static int32_t collectiveOf(const Workload &workload, const SectionTrace &trace,
                            const SectionEvent &event) {
  return workload.classes[trace.classIndex]
      .micro.tasks[event.subject]
      .collective;
}

void CollectiveTable::onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                                    int64_t runs) {
  for (const SectionEvent &event : trace.eventsOf(stretch)) {
    bool starts = event.kind == SectionEvent::Kind::TaskStart;
    if (!starts && event.kind != SectionEvent::Kind::TaskEnd)
      continue;
    int32_t index = collectiveOf(*workload, trace, event);
    if (index < 0)
      continue;
    State &state = collectives[index];
    state.count += starts ? runs : 0;
    state.time += (starts ? -runs : runs) * event.offset;
  }
}

std::vector<CollectiveRow> CollectiveTable::rows() const {
  struct Entry {
    CollectiveRow row;
    std::map<uint32_t, std::pair<Time, int64_t>> byClass; ///< time, count
  };
  std::map<std::tuple<cost::CollectiveKind, std::string, int64_t, int64_t>,
           Entry>
      entries;
  for (size_t c = 0; c < collectives.size(); ++c) {
    const Collective &collective = workload->collectives[c];
    const State &state = collectives[c];
    // Leaves out collectives without bytes. Example: in the first step of a
    // ring exchange, a device gathers its own chunk and nothing is sent.
    if (collective.bytes == 0)
      continue;
    Entry &entry = entries[{collective.kind, collective.axes,
                            collective.groupSize, collective.bytes}];
    entry.row.kind = collective.kind;
    entry.row.axes = collective.axes;
    entry.row.groupSize = collective.groupSize;
    entry.row.bytes = collective.bytes;
    entry.row.count += state.count * collective.groups;
    for (uint32_t member : collective.members) {
      entry.byClass[member].first += state.time;
      entry.byClass[member].second += state.count;
    }
  }
  std::vector<CollectiveRow> result;
  for (auto &[key, entry] : entries) {
    std::pair<Time, int64_t> most;
    for (const auto &[member, timeAndCount] : entry.byClass)
      most = std::max(most, timeAndCount);
    std::tie(entry.row.time, entry.row.countPerDevice) = most;
    result.push_back(entry.row);
  }
  llvm::sort(result, [](const CollectiveRow &a, const CollectiveRow &b) {
    return std::tie(b.time, a.kind, a.axes, a.groupSize, a.bytes) <
           std::tie(a.time, b.kind, b.axes, b.groupSize, b.bytes);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// LinkTable: the use of links
//===----------------------------------------------------------------------===//

void LinkTable::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  counted = countedCollectives(w);
  links.assign(w.links.size(), {});
  runs.assign(w.collectives.size(), 0);
}

void LinkTable::visitState(StateVisitor &visitor) {
  for (State &state : links) {
    visitor.same(state.holdsBack);
    visitor.time(state.since);
    visitor.count(state.contended);
  }
  for (int64_t &count : runs)
    visitor.count(count);
}

void LinkTable::onTaskEnd(const TaskInstance &instance, Time) {
  int32_t index = counted.at(instance.classIndex, instance.once, instance.task);
  if (index >= 0)
    ++runs[index];
}

void LinkTable::onLinkChange(uint32_t link, bool holdsBack, Time now) {
  State &state = links[link];
  if (state.holdsBack)
    state.contended += now - state.since;
  state.holdsBack = holdsBack;
  state.since = now;
}

void LinkTable::onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                              int64_t times) {
  for (const SectionEvent &event : trace.eventsOf(stretch))
    switch (event.kind) {
    case SectionEvent::Kind::TaskEnd:
      if (int32_t index = collectiveOf(*workload, trace, event); index >= 0)
        runs[index] += times;
      break;
    // A link that becomes full in a stretch is released in the same stretch.
    // Subtracting the time of the first event and adding that of the second one
    // gives the time between them.
    case SectionEvent::Kind::LinkFull:
      links[event.subject].contended -= times * event.offset;
      break;
    case SectionEvent::Kind::LinkReleased:
      links[event.subject].contended += times * event.offset;
      break;
    default:
      break;
    }
}

std::vector<LinkRow> LinkTable::rows() const {
  // Adds the loads in units of 1 / loadUnit bytes and divides only at the end,
  // so that rounding happens once.
  std::vector<Wide> loads(links.size());
  for (auto [collective, count] : llvm::zip(workload->collectives, runs))
    for (const LinkClassLoad &load : collective.flow.loads)
      loads[load.link] += Wide(collective.flow.volume) *
                          static_cast<uint64_t>(load.load) *
                          static_cast<uint64_t>(count);
  std::vector<LinkRow> result;
  for (uint32_t l = 0; l < links.size(); ++l)
    if (loads[l] > 0)
      result.push_back(
          {l, static_cast<int64_t>(loads[l] / loadUnit), links[l].contended});
  return result;
}

//===----------------------------------------------------------------------===//
// BucketTable: the times of gradient reductions
//===----------------------------------------------------------------------===//

void BucketTable::onBegin(const Workload &w, ArrayRef<Time>) {
  workload = &w;
  roles.findOfTasks(w, [](uint32_t, const Task &task) {
    if (task.bucket >= 0)
      return Role::Reduction;
    return task.stream == Stream::Compute && task.collective < 0 &&
                   task.phase == Phase::Backward
               ? Role::BackwardKernel
               : Role::Other;
  });
  classes.assign(w.classes.size(), {});
}

void BucketTable::onTaskStart(const TaskInstance &instance, Time now) {
  if (roleOf(instance) != Role::Reduction)
    return;
  uint32_t bucket = instance.in(*workload).bucket;
  classes[instance.classIndex].rows[{instance.once, instance.task}] = {
      instance.classIndex, bucket, instance.ready, now, now};
}

void BucketTable::onTaskEnd(const TaskInstance &instance, Time now) {
  State &state = classes[instance.classIndex];
  switch (roleOf(instance)) {
  case Role::Reduction:
    state.rows[{instance.once, instance.task}].end = now;
    state.lastReduction = now;
    break;
  case Role::BackwardKernel:
    state.lastBackward = now;
    break;
  case Role::Other:
    break;
  }
}

void BucketTable::visitState(StateVisitor &visitor) {
  for (State &state : classes) {
    visitor.same(state.rows.size());
    for (auto &[task, row] : state.rows) {
      visitor.same(task.first);
      visitor.same(task.second);
      visitor.time(row.ready);
      visitor.time(row.start);
      visitor.time(row.end);
    }
    visitor.time(state.lastBackward);
    visitor.time(state.lastReduction);
  }
}

std::vector<BucketRow> BucketTable::rows() const {
  std::vector<BucketRow> result;
  for (const State &state : classes)
    for (const auto &entry : state.rows)
      result.push_back(entry.second);
  llvm::sort(result, [](const BucketRow &a, const BucketRow &b) {
    return std::tie(a.classIndex, a.start, a.end, a.bucket) <
           std::tie(b.classIndex, b.start, b.end, b.bucket);
  });
  return result;
}

Time BucketTable::exposed(uint32_t classIndex) const {
  const State &state = classes[classIndex];
  return std::max<Time>(0, state.lastReduction - state.lastBackward);
}
