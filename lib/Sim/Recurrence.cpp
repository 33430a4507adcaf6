//===- Recurrence.cpp - skipping the steady state -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recurrence.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace proteus::sim;

namespace {

/// Visitor that appends the state of listeners to vectors.
class Writer : public StateVisitor {
public:
  Writer(std::vector<int64_t> &sames, std::vector<Time> &times,
         std::vector<int64_t> &counts)
      : sames(sames), times(times), counts(counts) {}
  void same(int64_t value) override { sames.push_back(value); }
  void time(Time &time) override { times.push_back(time); }
  void count(int64_t &value) override { counts.push_back(value); }

private:
  std::vector<int64_t> &sames;
  std::vector<Time> &times;
  std::vector<int64_t> &counts;
};

/// Visitor that changes the state of listeners as if they had received the
/// events of `periods` more periods.
class Skipper : public StateVisitor {
public:
  Skipper(ArrayRef<Time> times, ArrayRef<int64_t> counts, Time shift,
          int64_t periods)
      : times(times), counts(counts), shift(shift), periods(periods) {}
  void same(int64_t) override {}
  void time(Time &time) override {
    if (time != times[nextTime++])
      time += shift;
  }
  void count(int64_t &value) override {
    value += periods * (value - counts[nextCount++]);
  }

private:
  ArrayRef<Time> times;     ///< values one period earlier
  ArrayRef<int64_t> counts; ///< values one period earlier
  size_t nextTime = 0, nextCount = 0;
  Time shift;
  int64_t periods;
};

/// Distributes the bits of a value over the whole word.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// Visitor that computes a hash of the values that must be equal in a
/// recurrence (StateVisitor::same).
class Hasher : public StateVisitor {
public:
  void same(int64_t value) override { key = mix(key ^ value); }
  void time(Time &) override {}
  void count(int64_t &) override {}

  uint64_t key = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Taking checkpoints and detecting recurrences
//===----------------------------------------------------------------------===//

Recurrence::Recurrence(EngineState &state, ArrayRef<Listener *> listeners,
                       bool enabled)
    : state(state), listeners(listeners), enabled(enabled) {
  if (!enabled)
    return;
  for (const ClassState &c : state.classes) {
    isSpecial.emplace_back(state.workload.info.microBatches);
    for (const std::vector<uint32_t> *some :
         {&c.flat.lastMicroBatch, &c.flat.firstMicroBatch})
      for (uint32_t microBatch : *some)
        if (microBatch != noMicroBatch)
          isSpecial.back()[microBatch] = true;
  }
}

void Recurrence::noteItem(uint32_t stream) {
  const FlatItem &item =
      state.stateOf(stream).flat.order[state.headOf(stream).item];
  if (item.once)
    return;
  if (pacemaker == none) {
    pacemaker = stream;
    section = item.section;
  }
  isDue |= item.section == section;
}

/// Returns a hash of the state. States that are equal except for a shift have
/// equal hashes; other states mostly have different hashes. State that is
/// expensive to read is left out.
uint64_t Recurrence::fingerprint() const {
  uint64_t key = 0;
  for (const ClassState &c : state.classes) {
    for (const Head &head : c.heads)
      key = mix(key ^ (uint64_t(head.task) << 8 | head.once << 4 |
                       static_cast<uint64_t>(head.status)));
    const Frames &frames = c.frames[0];
    key = mix(key ^ (frames.remaining.size() - frames.freeSlots.size()));
    key = mix(key ^ std::accumulate(frames.remaining.begin(),
                                    frames.remaining.end(), uint64_t(0)));
  }
  uint64_t events = 0;
  for (const Event &event : state.queue)
    if (!state.isStale(event))
      events += mix(
          mix(event.time - state.now) ^
          (uint64_t(event.subject) << 3 | static_cast<uint64_t>(event.kind())));
  Hasher hasher;
  state.replays.visitState(hasher, state.classes);
  for (Listener *listener : listeners)
    listener->visitState(hasher);
  return mix(key ^ events ^ hasher.key);
}

/// Searches the last `longestPeriod` checkpoints for the latest one with the
/// same fingerprint as the present one. Returns the number of checkpoints since
/// then: the period with which the state may recur. Returns 0 if there is no
/// such checkpoint. If several checkpoints have the fingerprint, the shortest
/// period is the most likely one.
size_t Recurrence::suspectedPeriod() const {
  size_t index = history.size() - 1;
  for (size_t period = 1; period <= std::min(index, longestPeriod); ++period)
    if (history[index - period] == history[index])
      return period;
  return 0;
}

size_t Recurrence::imageSize() const {
  size_t size = 0;
  for (const ClassState &c : state.classes) {
    const Frames &frames = c.frames[0];
    size_t open = frames.remaining.size() - frames.freeSlots.size();
    size += sizeof(ClassImage) + open * frames.stride * sizeof(uint32_t);
    if (state.listening)
      size += open * c.flat.templates[0].numTasks() * sizeof(Time);
  }
  return size;
}

/// Deletes the images and clears `keepsAll` if the images become too large, in
/// total or relative to the number of simulated tasks. As long as the images of
/// all checkpoints are kept, a recurrence is found as soon as it exists.
/// Without them, an image is taken only when the fingerprints indicate a
/// recurrence, and is compared with the state one suspected period later.
void Recurrence::decideWhatToKeep() {
  constexpr size_t bytesAnyway = 1 << 20, bytesPerTask = 256;
  constexpr size_t mostBytes = size_t(64) << 20;
  size_t size = imageSize();
  bytesTaken += size;
  uint64_t simulated = state.result.tasks - state.result.skippedTasks -
                       state.result.replayedTasks;
  if (!keepsAll || (bytesTaken <= bytesAnyway + bytesPerTask * simulated &&
                    (images.size() + 1) * size <= mostBytes))
    return;
  keepsAll = false;
  images.clear();
}

void Recurrence::checkpoint() {
  isDue = false;
  if (state.headOf(pacemaker).status == Head::Status::Exhausted)
    return;
  size_t index = history.size();
  history.push_back(fingerprint());
  size_t suspected = suspectedPeriod();
  std::unique_ptr<Image> image;
  auto found = images.find(index - suspected);
  if (suspected && found != images.end()) {
    image = std::make_unique<Image>(take());
    Period period;
    int64_t n = recurs(*found->second, *image, period) ? numPeriods(period) : 0;
    if (n > 0) {
      skip(*found->second, *image, period, n);
      images.clear();
      history.clear();
      failures = resumeAt = 0;
      return;
    }
    // The second failed comparison in a row postpones the next image by one
    // checkpoint, the third by two, and so on up to seven. A run without
    // recurrence would otherwise take an image with every micro-batch.
    failures = std::min(failures + 1, 8u);
    resumeAt = index + failures - 1;
    if (!keepsAll)
      images.clear();
  }
  if (!images.empty() && images.begin()->first + longestPeriod < index)
    images.erase(images.begin());
  decideWhatToKeep();
  if (index >= resumeAt && (keepsAll || (suspected && images.empty())))
    images[index] = image ? std::move(image) : std::make_unique<Image>(take());
}

//===----------------------------------------------------------------------===//
// Storing the state at a checkpoint
//===----------------------------------------------------------------------===//

void Recurrence::takeFrame(const ClassState &c, bool once, uint32_t microBatch,
                           std::vector<uint32_t> &counters,
                           std::vector<Time> &ready) const {
  const Frames &frames = c.frames[once];
  uint32_t slot = frames.slotOf[microBatch];
  counters.push_back(frames.remaining[slot]);
  const uint32_t *open = frames.open.data() + slot * frames.stride;
  counters.insert(counters.end(), open, open + frames.stride);
  if (!state.listening)
    return;
  size_t tasks = c.flat.templates[once].numTasks();
  const Time *times = frames.ready.data() + slot * tasks;
  ready.insert(ready.end(), times, times + tasks);
}

void Recurrence::takeEvents(std::vector<int64_t> &same) const {
  std::vector<Event> events;
  llvm::copy_if(state.queue, std::back_inserter(events),
                [&](const Event &event) { return !state.isStale(event); });
  // Sorts the events in the order in which they will be processed. Only this
  // order is compared, not the sequence numbers, because these never recur.
  llvm::sort(events, [](const Event &a, const Event &b) { return b < a; });
  same.push_back(events.size());
  for (const Event &event : events) {
    same.push_back(event.time - state.now);
    same.push_back(static_cast<int64_t>(event.kind()));
    same.push_back(event.subject);
  }
}

/// Appends the remaining work and the rates of kernels and flows in progress.
/// The tasks of the kernels need not be appended, because the heads of streams
/// are compared, too.
void Recurrence::takeWork(std::vector<int64_t> &same) const {
  auto add = [&](const Progress &progress) {
    Wide remaining = progress.remainingAt(state.now);
    same.push_back(static_cast<int64_t>(remaining >> 64));
    same.push_back(static_cast<int64_t>(remaining));
    same.push_back(static_cast<int64_t>(progress.rate));
  };
  for (const ClassState &c : state.classes)
    if (c.computing)
      add(c.kernel);
  for (uint32_t c = 0; c < state.collectives.size(); ++c)
    if (state.collectives[c].moving) {
      same.push_back(c);
      add(state.collectives[c].progress);
    }
}

/// Returns the first work item with a delay that still influences launch times.
/// Launch times are still needed for the items at the heads of streams and for
/// the item at which the host waits. The result is the item before the first of
/// these, because the receives of an item are launched with the delay of the
/// previous item.
static uint32_t firstItem(const ClassState &c) {
  uint32_t first = c.host.item();
  for (const Head &head : c.heads)
    if (head.status != Head::Status::Exhausted)
      first = std::min(first, head.item);
  return std::max(first, 1u) - 1;
}

Recurrence::Image Recurrence::take() const {
  Image image;
  image.now = state.now;
  image.tasks = state.result.tasks;
  image.microBatch = state.stateOf(pacemaker)
                         .flat.order[state.headOf(pacemaker).item]
                         .microBatch;
  image.classes.resize(state.classes.size());
  for (size_t c = 0; c < state.classes.size(); ++c) {
    const ClassState &from = state.classes[c];
    ClassImage &to = image.classes[c];
    llvm::copy(from.heads, to.heads.begin());
    to.launchWaits = from.launchWaits;
    to.hostItem = from.host.item();
    to.missingMessages = from.host.missing();
    if (from.flat.hostWaits)
      for (uint32_t item = firstItem(from); item < to.hostItem; ++item)
        to.delays.push_back(from.host.delayOf(item));
    for (uint32_t m = 0; m < from.frames[0].slotOf.size(); ++m)
      if (from.frames[0].slotOf[m] >= 0) {
        to.microBatches.push_back(m);
        takeFrame(from, /*once=*/false, m, to.counters, to.ready);
      }
    if (from.frames[1].slotOf[0] >= 0)
      takeFrame(from, /*once=*/true, 0, to.onceCounters, to.onceReady);
  }
  takeEvents(image.same);
  takeWork(image.same);
  Writer writer(image.same, image.times, image.counts);
  state.replays.visitState(writer, state.classes);
  for (Listener *listener : listeners)
    listener->visitState(writer);
  return image;
}

//===----------------------------------------------------------------------===//
// Comparing the states of two checkpoints
//===----------------------------------------------------------------------===//

bool Recurrence::headsRecur(uint32_t classIndex, const Image &before,
                            const Image &after, Period &period) const {
  const FlatClass &flat = state.classes[classIndex].flat;
  const ClassImage &from = before.classes[classIndex];
  const ClassImage &to = after.classes[classIndex];
  ClassPeriod &moved = period.classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s) {
    const Head &a = from.heads[s], &b = to.heads[s];
    if (a.status != b.status)
      return false;
    if (a.status == Head::Status::Exhausted)
      continue;
    if (a.task != b.task || a.once != b.once)
      return false;
    if (a.item == b.item) {
      if (!a.once)
        moved.fixedMicroBatches.push_back(flat.order[a.item].microBatch);
      continue;
    }
    const FlatItem &x = flat.order[a.item], &y = flat.order[b.item];
    if (a.once || int64_t(y.microBatch) - x.microBatch != period.microBatches)
      return false;
    if (moved.items == 0) {
      moved.items = b.item - a.item;
      moved.first = a.item;
      moved.last = b.item;
      moved.launches = y.launchBegin - x.launchBegin;
    }
    if (b.item - a.item != moved.items)
      return false;
    moved.first = std::min(moved.first, a.item);
    moved.last = std::max(moved.last, b.item);
  }
  return hostRecurs(classIndex, before, after, period);
}

bool Recurrence::hostRecurs(uint32_t classIndex, const Image &before,
                            const Image &after, Period &period) const {
  const ClassImage &from = before.classes[classIndex];
  const ClassImage &to = after.classes[classIndex];
  ClassPeriod &moved = period.classes[classIndex];
  // A host that does not wait for messages must launch the items of a period in
  // exactly the time of the period. It may also take less time, if no task of
  // the period waited for its launch.
  if (!state.classes[classIndex].flat.hostWaits)
    return moved.launches == period.time ||
           (moved.launches < period.time && from.launchWaits == to.launchWaits);
  // A host that waits for messages must wait at the corresponding work item,
  // and for as many messages as one period earlier. Each of its delays must
  // have grown by the time of the period minus the time that its launches take.
  if (to.hostItem - from.hostItem != moved.items ||
      from.missingMessages != to.missingMessages ||
      from.delays.size() != to.delays.size())
    return false;
  if (moved.items == 0)
    return from.delays == to.delays;
  for (auto [a, b] : llvm::zip(from.delays, to.delays))
    if (b - a != period.time - moved.launches)
      return false;
  moved.first = std::min(moved.first, from.hostItem);
  moved.last = std::max(moved.last, to.hostItem);
  return true;
}

bool Recurrence::framesRecur(uint32_t classIndex, const Image &before,
                             const Image &after, const Period &period) const {
  const ClassState &c = state.classes[classIndex];
  const ClassImage &from = before.classes[classIndex];
  const ClassImage &to = after.classes[classIndex];
  if (from.onceCounters != to.onceCounters || from.onceReady != to.onceReady ||
      from.microBatches.size() != to.microBatches.size() ||
      from.ready.size() != to.ready.size())
    return false;
  auto isFixed = [&](uint32_t microBatch) {
    return isSpecial[classIndex][microBatch] ||
           llvm::is_contained(period.classes[classIndex].fixedMicroBatches,
                              microBatch);
  };
  size_t numCounters = c.frames[0].stride + 1;
  size_t numReady = from.microBatches.empty()
                        ? 0
                        : from.ready.size() / from.microBatches.size();
  for (size_t i = 0; i < from.microBatches.size(); ++i) {
    uint32_t microBatch = from.microBatches[i];
    bool fixed = isFixed(microBatch);
    int64_t counterpart = microBatch + (fixed ? 0 : period.microBatches);
    auto found = llvm::lower_bound(to.microBatches, counterpart);
    if (found == to.microBatches.end() || *found != counterpart ||
        isFixed(*found) != fixed)
      return false;
    size_t j = found - to.microBatches.begin();
    if (!std::equal(from.counters.begin() + i * numCounters,
                    from.counters.begin() + (i + 1) * numCounters,
                    to.counters.begin() + j * numCounters))
      return false;
    Time shift = fixed ? 0 : period.time;
    for (size_t t = 0; t < numReady; ++t) {
      Time a = from.ready[i * numReady + t], b = to.ready[j * numReady + t];
      if (a == notReady ? b != notReady : b != a + shift)
        return false;
    }
  }
  return true;
}

bool Recurrence::recurs(const Image &before, const Image &after,
                        Period &period) const {
  period.time = after.now - before.now;
  period.microBatches = int64_t(after.microBatch) - before.microBatch;
  period.classes.resize(state.classes.size());
  if (before.same != after.same || before.times.size() != after.times.size() ||
      before.counts.size() != after.counts.size())
    return false;
  for (size_t i = 0; i < before.times.size(); ++i)
    if (after.times[i] != before.times[i] &&
        after.times[i] != before.times[i] + period.time)
      return false;
  for (uint32_t c = 0; c < state.classes.size(); ++c)
    if (!headsRecur(c, before, after, period) ||
        !framesRecur(c, before, after, period))
      return false;
  return true;
}

/// Returns how many more periods the order of a class allows. Every skipped
/// work item must run the same section as the item one period earlier, with a
/// micro-batch number that is larger by `period.microBatches`.
int64_t Recurrence::numPeriods(uint32_t classIndex,
                               const Period &period) const {
  const ClassPeriod &moved = period.classes[classIndex];
  const std::vector<FlatItem> &order = state.classes[classIndex].flat.order;
  auto isPlain = [&](const FlatItem &item) {
    return !item.once && !isSpecial[classIndex][item.microBatch] &&
           !llvm::is_contained(moved.fixedMicroBatches, item.microBatch);
  };
  size_t i = moved.first;
  for (; i + moved.items < order.size(); ++i) {
    const FlatItem &item = order[i], &next = order[i + moved.items];
    if (!isPlain(item) || !isPlain(next) || item.section != next.section ||
        int64_t(next.microBatch) - item.microBatch != period.microBatches)
      break;
  }
  return i > moved.last ? (i - 1 - moved.last) / moved.items + 1 : 0;
}

int64_t Recurrence::numPeriods(const Period &period) const {
  int64_t n = 0;
  for (uint32_t c = 0; c < state.classes.size(); ++c)
    if (period.classes[c].items > 0) {
      int64_t possible = numPeriods(c, period);
      n = n == 0 ? possible : std::min(n, possible);
      if (possible == 0)
        return 0;
    }
  // Skips nothing if the skip would pass `timeLimit`. The simulation then
  // continues and reports that the step takes too long.
  bool countable = Wide(n) * static_cast<uint64_t>(period.time) <
                   static_cast<uint64_t>(timeLimit - state.now);
  return countable ? n : 0;
}

//===----------------------------------------------------------------------===//
// Skipping whole periods
//===----------------------------------------------------------------------===//

void Recurrence::skipClass(uint32_t classIndex, const ClassImage &before,
                           const ClassImage &after, const Period &period,
                           int64_t n) {
  ClassState &c = state.classes[classIndex];
  const ClassPeriod &moved = period.classes[classIndex];
  for (unsigned s = 0; s < numStreams; ++s)
    if (before.heads[s].item != after.heads[s].item) {
      c.heads[s].item += n * moved.items;
      if (c.heads[s].launched != notLaunched)
        c.heads[s].launched +=
            n * (c.flat.hostWaits ? period.time : moved.launches);
    }
  if (c.flat.hostWaits && moved.items > 0)
    c.host.skip(n * moved.items, after.delays,
                n * (period.time - moved.launches));
  c.kernel.since += n * period.time;
  Frames &frames = c.frames[0];
  std::vector<uint32_t> slots;
  std::vector<uint32_t> microBatches;
  for (uint32_t m : after.microBatches)
    if (!isSpecial[classIndex][m] &&
        !llvm::is_contained(moved.fixedMicroBatches, m)) {
      microBatches.push_back(m + n * period.microBatches);
      slots.push_back(std::exchange(frames.slotOf[m], -1));
    }
  size_t tasks = c.flat.templates[0].numTasks();
  for (size_t i = 0; i < slots.size(); ++i) {
    frames.slotOf[microBatches[i]] = slots[i];
    if (!state.listening)
      continue;
    for (size_t t = slots[i] * tasks; t < (slots[i] + 1) * tasks; ++t)
      if (frames.ready[t] != notReady)
        frames.ready[t] += n * period.time;
  }
}

void Recurrence::skip(const Image &before, const Image &after,
                      const Period &period, int64_t n) {
  // A stream that waits at a meeting waits at a later meeting after the skip,
  // so the number of arrivals is moved to the later meeting. All members that
  // have arrived move to the same later meeting, because they skip the same
  // number of micro-batches.
  auto forArrived = [&](function_ref<void(uint32_t, size_t)> visit) {
    size_t i = 0;
    for (uint32_t s = 0; s < state.numAllStreams(); ++s)
      if (state.headOf(s).status == Head::Status::Arrived)
        visit(s, i++);
  };
  std::vector<uint32_t> counts;
  forArrived([&](uint32_t stream, size_t) {
    counts.push_back(state.arrivals[state.meetingOf(stream)]);
  });
  forArrived([&](uint32_t stream, size_t) {
    state.arrivals[state.meetingOf(stream)] = 0;
  });
  for (uint32_t c = 0; c < state.classes.size(); ++c)
    skipClass(c, before.classes[c], after.classes[c], period, n);
  forArrived([&](uint32_t stream, size_t i) {
    state.arrivals[state.meetingOf(stream)] = counts[i];
  });

  Time shift = n * period.time;
  state.now += shift;
  for (Event &event : state.queue)
    event.time += shift;
  for (CollectiveState &collective : state.collectives)
    collective.progress.since += shift;
  uint64_t tasks = n * (after.tasks - before.tasks);
  state.result.tasks += tasks;
  state.result.skippedTasks += tasks;
  Skipper skipper(before.times, before.counts, shift, n);
  state.replays.visitState(skipper, state.classes);
  for (Listener *listener : listeners)
    listener->visitState(skipper);
}
