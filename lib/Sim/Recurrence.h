//===- Recurrence.h - skipping the steady state -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Skips the steady state of a pipeline, in which the same events happen again
// for later micro-batches. One stream, the *pacemaker*, determines the
// checkpoints. A checkpoint is taken whenever the pacemaker moves to a work
// item with the same section as its first work item. A checkpoint *recurs* if
// its state equals that of an earlier checkpoint except for a shift: all times
// are later by the same amount, the *period*, and the numbers of all
// micro-batches are larger by the same number. If the orders of all classes
// also repeat, the following periods are equal, too. Whole periods are then
// skipped by applying the shift several times at once. The result is exact, not
// an estimate.
//
// Some state does not shift. If the next task of a stream belongs to the last
// micro-batch, the stream stays at the same work item during the whole steady
// state. Such a stream and the frame of its micro-batch are *fixed*: they must
// be equal at both checkpoints.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_RECURRENCE_H
#define PROTEUS_LIB_SIM_RECURRENCE_H

#include "EngineState.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace proteus::sim {

/// The search for recurrences of the state of a run.
class Recurrence {
public:
  /// Creates a search. It does nothing if `enabled` is false.
  Recurrence(EngineState &state, llvm::ArrayRef<Listener *> listeners,
             bool enabled);

  /// Schedules a checkpoint if `stream` is the pacemaker and its work item has
  /// the same section as the first item of the pacemaker. Called after the head
  /// of `stream` has moved to another work item. The first stream that moves to
  /// an item of a micro-batch becomes the pacemaker.
  void onOpenItem(uint32_t stream) {
    if (enabled && (stream == pacemaker || pacemaker == none))
      noteItem(stream);
  }
  /// Takes a checkpoint if one is scheduled. Called when no more events happen
  /// at this point in time, so that the state can be read and changed.
  void onSettled() {
    if (isDue)
      checkpoint();
  }

private:
  static constexpr uint32_t none = ~0u;
  static constexpr size_t longestPeriod = 64; ///< in checkpoints

  /// The state of a class at a checkpoint.
  struct ClassImage {
    std::array<Head, numStreams> heads;
    /// Micro-batches with frames, ascending.
    std::vector<uint32_t> microBatches;
    /// Counters of the frames of `microBatches`.
    std::vector<uint32_t> counters;
    /// Frames::ready of the frames of `microBatches`.
    std::vector<Time> ready;
    /// Counters of the frame of the once-tasks.
    std::vector<uint32_t> onceCounters;
    std::vector<Time> onceReady;
    uint64_t launchWaits = 0;
    uint32_t hostItem = 0;        ///< Host::item()
    uint32_t missingMessages = 0; ///< Host::missing()
    /// The delays (Host::delayOf) of those work items before `hostItem` that
    /// still influence launch times, in the order of the items.
    std::vector<Time> delays;
  };
  /// The whole state at a checkpoint.
  struct Image {
    Time now = 0;
    /// Micro-batch of the work item at the head of the pacemaker.
    uint32_t microBatch = 0;
    uint64_t tasks = 0;
    std::vector<ClassImage> classes;
    /// Values that must be equal in a recurrence. They describe the pending
    /// events, with times relative to `now`; the remaining work of kernels and
    /// flows; and the state of replays and listeners (StateVisitor::same).
    std::vector<int64_t> same;
    std::vector<Time> times;     ///< values visited by StateVisitor::time
    std::vector<int64_t> counts; ///< values visited by StateVisitor::count
  };
  /// The progress of a class in one period. `items` is the number of work items
  /// by which the heads of the class move, or 0 if no head moves.
  struct ClassPeriod {
    uint32_t items = 0;
    /// First work item of a moving head or of the host at the first checkpoint,
    /// and last such item at the second checkpoint.
    uint32_t first = 0, last = 0;
    Time launches = 0; ///< host time to launch the items of a period
    std::vector<uint32_t> fixedMicroBatches;
  };
  /// The period between two checkpoints.
  struct Period {
    Time time = 0;
    int64_t microBatches = 0;
    std::vector<ClassPeriod> classes;
  };

  void noteItem(uint32_t stream);
  void checkpoint();
  uint64_t fingerprint() const;
  size_t suspectedPeriod() const;
  size_t imageSize() const;
  void decideWhatToKeep();

  Image take() const;
  void takeFrame(const ClassState &state, bool once, uint32_t microBatch,
                 std::vector<uint32_t> &counters,
                 std::vector<Time> &ready) const;
  void takeEvents(std::vector<int64_t> &same) const;
  void takeWork(std::vector<int64_t> &same) const;

  bool recurs(const Image &before, const Image &after, Period &period) const;
  bool headsRecur(uint32_t classIndex, const Image &before, const Image &after,
                  Period &period) const;
  bool hostRecurs(uint32_t classIndex, const Image &before, const Image &after,
                  Period &period) const;
  bool framesRecur(uint32_t classIndex, const Image &before, const Image &after,
                   const Period &period) const;
  int64_t numPeriods(const Period &period) const;
  int64_t numPeriods(uint32_t classIndex, const Period &period) const;

  void skip(const Image &before, const Image &after, const Period &period,
            int64_t n);
  void skipClass(uint32_t classIndex, const ClassImage &before,
                 const ClassImage &after, const Period &period, int64_t n);

  EngineState &state;
  llvm::ArrayRef<Listener *> listeners;
  /// For each class and micro-batch: true if the micro-batch is the last one
  /// that runs some section, or the first one that runs a section with tasks
  /// for the first micro-batch only. Such a micro-batch may run other tasks
  /// than most micro-batches, so its frame does not shift: it is *fixed*.
  std::vector<std::vector<bool>> isSpecial;
  bool enabled;
  bool isDue = false;
  uint32_t pacemaker = none; ///< stream that determines the checkpoints
  uint32_t section = 0; ///< section of the first work item of the pacemaker

  std::vector<uint64_t> history; ///< fingerprints of checkpoints
  /// The state at some of the checkpoints, by index of the checkpoint in
  /// `history`.
  std::map<size_t, std::unique_ptr<Image>> images;
  bool keepsAll = true; ///< true if images of all checkpoints are kept
  /// Total size of the images of all checkpoints so far, including images that
  /// were not kept.
  size_t bytesTaken = 0;
  /// Number of comparisons in a row that did not lead to a skip; at most 8.
  unsigned failures = 0;
  size_t resumeAt = 0; ///< first checkpoint at which an image is taken again
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_RECURRENCE_H
