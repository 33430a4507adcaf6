//===- ReservedMemory.cpp - memory reserved by the allocator --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/ReservedMemory.h"

#include "FlatWorkload.h"
#include "Proteus/Sim/Allocator.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

using namespace llvm;
using namespace proteus::sim;

namespace {

/// Issues the work items of a class in order, and allocates and frees their
/// buffers with a CachingAllocator.
class Issuer {
public:
  Issuer(const Workload &workload, const DeviceClass &device, int64_t limit);
  AllocatorPeak run();

private:
  using Handle = CachingAllocator::Handle;
  /// The buffers of one micro-batch, or those of the once-tasks.
  struct Frame {
    int64_t microBatch = 0;
    uint32_t sectionsLeft = 0;
    uint32_t live = 0; ///< number of blocks in use
    std::vector<Handle> blocks;
    std::vector<uint32_t> users; ///< number of users not issued yet, per buffer
  };
  /// The state before a work item is issued.
  struct Checkpoint {
    size_t item;
    uint64_t releases;
    std::vector<int64_t> image;
  };

  static Frame makeFrame(const Template &from);
  bool runs(const Template &from, const Task &task, uint32_t section,
            int64_t microBatch) const {
    if (task.when == When::Always || &from == &device.once)
      return true;
    return (task.when == When::LastMicroBatch
                ? lastMicroBatch
                : firstMicroBatch)[section] == microBatch;
  }
  void countUsers(const Template &from, Frame &frame) const;
  /// Returns the iterator in `frames` to the frame of a micro-batch, or to the
  /// position at which to insert it.
  std::deque<Frame>::iterator placeOf(int64_t microBatch);
  Frame &frameOf(int64_t microBatch);
  void issue(const WorkItem &item);
  void release(const Template &from, Frame &frame, uint32_t buffer);
  void update(StringRef label);

  size_t skipPeriods(size_t item);
  std::vector<int64_t> image();
  size_t periodsAhead(size_t from, size_t to) const;

  const Workload &workload;
  const DeviceClass &device;
  CachingAllocator allocator;
  AllocatorPeak peak;
  std::vector<uint32_t> lastMicroBatch, firstMicroBatch; ///< per section
  /// For each micro-batch: true if it is the last one that runs some section,
  /// or the first one that runs a section with tasks for the first micro-batch
  /// only. Such a micro-batch may run other tasks than most micro-batches.
  std::vector<bool> isSpecial;
  /// Number of users of each buffer in a micro-batch that is not special.
  std::vector<uint32_t> usualUsers;
  /// Frames of the micro-batches in progress, ascending. A deque, because
  /// frames are mostly added and removed at the ends.
  std::deque<Frame> frames;
  std::vector<Frame> unusedFrames;
  uint32_t holding = 0; ///< number of micro-batches that hold memory
  Frame once;
  /// Largest size of `frames` so far. Measured before each work item that runs
  /// the first section of the order.
  size_t inFlight = 0;
  std::vector<Checkpoint> checkpoints;
};

} // namespace

/// Largest number of checkpoints. If no checkpoint has recurred by then, the
/// search for a period ends.
static constexpr size_t maxCheckpoints = 64;

Issuer::Issuer(const Workload &workload, const DeviceClass &device,
               int64_t limit)
    : workload(workload), device(device), allocator(limit),
      once(makeFrame(device.once)) {
  size_t sections = device.micro.sectionBegin.empty()
                        ? 0
                        : device.micro.sectionBegin.size() - 1;
  lastMicroBatch.resize(sections);
  firstMicroBatch = firstMicroBatches(device);
  isSpecial.resize(workload.info.microBatches);
  for (const WorkItem &item : device.order)
    if (!item.once)
      lastMicroBatch[item.section] = item.microBatch;
  for (const std::vector<uint32_t> *some : {&lastMicroBatch, &firstMicroBatch})
    for (uint32_t microBatch : *some)
      if (microBatch != noMicroBatch)
        isSpecial[microBatch] = true;
  Frame usual = makeFrame(device.micro);
  usual.microBatch = -1;
  countUsers(device.micro, usual);
  usualUsers = std::move(usual.users);
  countUsers(device.once, once);

  std::vector<int64_t> sizes;
  for (const Buffer &buffer : device.resident)
    if (!buffer.onHost)
      sizes.insert(sizes.end(), buffer.pieces, buffer.bytes / buffer.pieces);
  llvm::sort(sizes, std::greater<int64_t>());
  for (int64_t bytes : sizes)
    allocator.allocate(bytes);
  update("");
}

Issuer::Frame Issuer::makeFrame(const Template &from) {
  Frame frame;
  frame.blocks.resize(from.buffers.size(), CachingAllocator::none);
  return frame;
}

void Issuer::countUsers(const Template &from, Frame &frame) const {
  frame.users.assign(from.buffers.size(), 0);
  for (size_t s = 0; s + 1 < from.sectionBegin.size(); ++s)
    for (uint32_t t = from.sectionBegin[s]; t < from.sectionBegin[s + 1]; ++t) {
      const Task &task = from.tasks[t];
      if (!runs(from, task, s, frame.microBatch))
        continue;
      for (uint32_t buffer : task.allocates)
        ++frame.users[buffer];
      for (uint32_t buffer : task.reads)
        ++frame.users[buffer];
    }
}

std::deque<Issuer::Frame>::iterator Issuer::placeOf(int64_t microBatch) {
  return llvm::lower_bound(
      frames, microBatch,
      [](const Frame &frame, int64_t m) { return frame.microBatch < m; });
}

Issuer::Frame &Issuer::frameOf(int64_t microBatch) {
  auto place = placeOf(microBatch);
  if (place != frames.end() && place->microBatch == microBatch)
    return *place;
  Frame frame;
  if (unusedFrames.empty()) {
    frame = makeFrame(device.micro);
  } else {
    frame = std::move(unusedFrames.back());
    unusedFrames.pop_back();
  }
  frame.microBatch = microBatch;
  frame.sectionsLeft = lastMicroBatch.size();
  if (isSpecial[microBatch])
    countUsers(device.micro, frame);
  else
    frame.users = usualUsers;
  return *frames.insert(place, std::move(frame));
}

void Issuer::update(StringRef label) {
  if (allocator.allocated() > peak.allocated) {
    peak.allocated = allocator.allocated();
    peak.inFlight = holding;
  }
  if (allocator.exceeds() && !peak.exceeded) {
    peak.exceeded = true;
    peak.exceededLabel = label.str();
  }
  if (allocator.reserved() < peak.reserved)
    return;
  int64_t fragmentation = allocator.reserved() - allocator.allocated();
  if (allocator.reserved() > peak.reserved) {
    peak.reserved = allocator.reserved();
    peak.fragmentation = fragmentation;
    peak.label = label.str();
  }
  // While the reserved bytes are at the peak, keeps the smallest fragmentation.
  peak.fragmentation = std::min(peak.fragmentation, fragmentation);
}

/// Decrements the number of users of a buffer that are not issued yet. Frees
/// the buffer if no such user is left.
void Issuer::release(const Template &from, Frame &frame, uint32_t buffer) {
  if (--frame.users[buffer] > 0 ||
      frame.blocks[buffer] == CachingAllocator::none)
    return;
  allocator.free(frame.blocks[buffer]);
  frame.blocks[buffer] = CachingAllocator::none;
  if (--frame.live == 0 && &frame != &once)
    --holding;
}

void Issuer::issue(const WorkItem &item) {
  const Template &from = item.once ? device.once : device.micro;
  Frame &frame = item.once ? once : frameOf(item.microBatch);
  for (uint32_t t = from.sectionBegin[item.section];
       t < from.sectionBegin[item.section + 1]; ++t) {
    const Task &task = from.tasks[t];
    if (!runs(from, task, item.section, item.microBatch))
      continue;
    for (uint32_t buffer : task.allocates) {
      if (from.buffers[buffer].onHost)
        continue;
      frame.blocks[buffer] = allocator.allocate(from.buffers[buffer].bytes);
      if (frame.blocks[buffer] == CachingAllocator::none)
        continue;
      if (frame.live++ == 0 && !item.once)
        ++holding;
      update(workload.labels[task.label]);
    }
    for (uint32_t buffer : task.allocates)
      release(from, frame, buffer);
    for (uint32_t buffer : task.reads)
      release(from, frame, buffer);
  }
  if (item.once || --frame.sectionsLeft > 0)
    return;
  unusedFrames.push_back(std::move(frame));
  frames.erase(placeOf(item.microBatch));
}

/// Returns all state that influences later work items. Also sets the tags of
/// the allocator's blocks. Micro-batches are identified by their positions in
/// `frames`, not by their numbers, because one period later a position belongs
/// to a later micro-batch.
std::vector<int64_t> Issuer::image() {
  std::vector<int64_t> state;
  int64_t tag = 0;
  auto add = [&](const Frame &frame) {
    state.push_back(frame.sectionsLeft);
    for (auto [block, users] : llvm::zip(frame.blocks, frame.users)) {
      ++tag;
      if (block == CachingAllocator::none)
        continue;
      allocator.setTag(block, tag);
      state.push_back(users);
    }
  };
  for (const Frame &frame : frames)
    add(frame);
  add(once);
  allocator.appendState(state);
  return state;
}

/// Returns how often the work items [from, to) repeat from `to` on, with later
/// micro-batches. A special micro-batch ends the repetition, because it may run
/// other tasks and then has other numbers of buffer users.
size_t Issuer::periodsAhead(size_t from, size_t to) const {
  ArrayRef<WorkItem> order = device.order;
  size_t period = to - from;
  uint32_t moved = order[to].microBatch - order[from].microBatch;
  size_t i = to;
  for (; i < order.size(); ++i) {
    const WorkItem &before = order[i - period], &item = order[i];
    if (before.once || item.once || before.section != item.section ||
        item.microBatch != before.microBatch + moved ||
        isSpecial[item.microBatch])
      break;
  }
  return (i - to) / period;
}

/// Returns the work item to issue next: `item`, or a later one after skipping
/// whole periods. Takes a checkpoint at most once per micro-batch. If its state
/// equals that of an earlier checkpoint, the items between the two are a
/// period. If this period repeats from `item` on, skips the repetitions.
size_t Issuer::skipPeriods(size_t item) {
  const WorkItem &next = device.order[item];
  if (next.once || next.section != device.order.front().section)
    return item;
  // While the number of micro-batches in flight still reaches new maxima, no
  // state recurs. A comparison with the previous number would not be enough: in
  // an interleaved schedule micro-batches begin in groups, so the number rises
  // and falls even in the steady state.
  bool isSteady = frames.size() <= inFlight;
  inFlight = std::max(inFlight, frames.size());
  // The size of an image grows with the number of micro-batches in flight, so
  // images are taken less often if there are many. A period is still found,
  // because every multiple of a period is also a period.
  bool isDue = next.microBatch % std::max<size_t>(1, inFlight / 8) == 0;
  if (!isSteady || !isDue || checkpoints.size() == maxCheckpoints ||
      llvm::any_of(frames, [&](const Frame &frame) {
        return isSpecial[frame.microBatch];
      }))
    return item;
  Checkpoint now = {item, allocator.releases(), image()};
  for (const Checkpoint &before : llvm::reverse(checkpoints)) {
    if (before.image != now.image)
      continue;
    size_t periods = periodsAhead(before.item, item);
    if (periods == 0)
      continue;
    size_t period = item - before.item;
    int64_t moved = (next.microBatch - device.order[before.item].microBatch) *
                    static_cast<int64_t>(periods);
    for (Frame &frame : frames)
      frame.microBatch += moved;
    peak.releases += periods * (now.releases - before.releases);
    // The items after the skip do not repeat for another whole period, so no
    // more checkpoints are taken.
    checkpoints.resize(maxCheckpoints);
    return item + periods * period;
  }
  checkpoints.push_back(std::move(now));
  return item;
}

AllocatorPeak Issuer::run() {
  for (size_t item = 0; item < device.order.size(); ++item) {
    item = skipPeriods(item);
    issue(device.order[item]);
  }
  peak.releases += allocator.releases();
  return std::move(peak);
}

AllocatorPeak proteus::sim::reserve(const Workload &workload,
                                    uint32_t classIndex, int64_t limit) {
  return Issuer(workload, workload.classes[classIndex], limit).run();
}

/// Returns true if both templates make the same requests to the allocator.
static bool allocateAlike(const Template &a, const Template &b) {
  return a.sectionBegin == b.sectionBegin &&
         llvm::equal(a.buffers, b.buffers,
                     [](const Buffer &x, const Buffer &y) {
                       return x.bytes == y.bytes && x.onHost == y.onHost;
                     }) &&
         llvm::equal(a.tasks, b.tasks, [](const Task &x, const Task &y) {
           return x.label == y.label && x.when == y.when &&
                  x.allocates == y.allocates && x.reads == y.reads;
         });
}

static bool allocateAlike(const DeviceClass &a, const DeviceClass &b) {
  return llvm::equal(a.resident, b.resident,
                     [](const Buffer &x, const Buffer &y) {
                       return x.bytes == y.bytes && x.onHost == y.onHost &&
                              x.pieces == y.pieces;
                     }) &&
         llvm::equal(a.order, b.order,
                     [](const WorkItem &x, const WorkItem &y) {
                       return x.section == y.section &&
                              x.microBatch == y.microBatch && x.once == y.once;
                     }) &&
         allocateAlike(a.micro, b.micro) && allocateAlike(a.once, b.once);
}

std::vector<AllocatorPeak> proteus::sim::reserveAll(const Workload &workload,
                                                    ArrayRef<int64_t> limits) {
  std::vector<AllocatorPeak> peaks;
  std::vector<uint32_t> done; ///< classes with peaks that were computed
  for (uint32_t c = 0; c < workload.classes.size(); ++c) {
    auto same = llvm::find_if(done, [&](uint32_t other) {
      // If the class `other` reached neither its own limit nor the limit of
      // class `c`, the limits have no effect and may differ.
      bool isReached = peaks[other].releases > 0 || peaks[other].exceeded ||
                       peaks[other].reserved > limits[c];
      return (limits[other] == limits[c] || !isReached) &&
             allocateAlike(workload.classes[other], workload.classes[c]);
    });
    if (same != done.end()) {
      peaks.push_back(AllocatorPeak(peaks[*same]));
      continue;
    }
    peaks.push_back(reserve(workload, c, limits[c]));
    done.push_back(c);
  }
  return peaks;
}
