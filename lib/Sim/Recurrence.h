//===- Recurrence.h - skipping the steady state -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Skips the steady state of a pipeline, in which the engine repeats the same
// events for later micro-batches at later times. A checkpoint is taken whenever
// one chosen stream opens a work item of its first section. A checkpoint
// *recurs* if the whole state equals that of an earlier checkpoint, one period
// before, with all times shifted by the period and all micro-batches by one
// number. If also the orders of all classes continue periodically, so does the
// run. Whole periods are then skipped by shifting times and micro-batches
// again. That is exact, not an estimate.
//
// Not all state shifts. A stream whose next task belongs to the last
// micro-batch stays at the same work item for the whole steady state. Such
// streams and their frames are *fixed*: they must be equal at both checkpoints
// without a shift.
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
  /// Creates a search, which does nothing unless `enabled`.
  Recurrence(EngineState &state, llvm::ArrayRef<Listener *> listeners,
             bool enabled);

  /// Schedules a checkpoint if this work item calls for one. Called after the
  /// head of a stream has moved to another work item.
  void onOpenItem(uint32_t stream) {
    if (enabled && (stream == pacemaker || pacemaker == none))
      noteItem(stream);
  }
  /// Takes a checkpoint if one is due. Called when no more events happen at
  /// this point in time, so that the state may be read and changed.
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
    std::vector<uint32_t> microBatches; ///< those with open frames, ascending
    std::vector<uint32_t> counters;     ///< counters of the frame of each
    std::vector<Time> ready;            ///< `ready` of the frame of each
    std::vector<uint32_t> onceCounters; ///< those of the once-tasks
    std::vector<Time> onceReady;
    uint64_t launchWaits = 0;
    uint32_t hostItem = 0;        ///< Host::item()
    uint32_t missingMessages = 0; ///< Host::missing()
    /// Host::delayOf of the work items before `hostItem` whose delay still
    /// influences launch times, ascending by item.
    std::vector<Time> delays;
  };
  /// The whole state at a checkpoint.
  struct Image {
    Time now = 0;
    uint32_t microBatch = 0; ///< the one that the pacemaker opens
    uint64_t tasks = 0;
    std::vector<ClassImage> classes;
    /// Values that must be equal in a recurrence: pending events, kernels and
    /// flows in progress with times relative to `now`, and values of listeners.
    std::vector<int64_t> same;
    std::vector<Time> times;     ///< points in time of listeners
    std::vector<int64_t> counts; ///< counters of listeners
  };
  /// The progress of a class in one period; `items` is 0 if there is none.
  struct ClassPeriod {
    uint32_t items = 0;
    uint32_t first = 0, last = 0; ///< range of items that its heads pass
    Time launches = 0;            ///< host time to launch the items of a period
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
  /// Per class and micro-batch: true if it runs other tasks of a section than
  /// most micro-batches, so that its frame differs from others.
  std::vector<std::vector<bool>> isSpecial;
  bool enabled;
  bool isDue = false;
  uint32_t pacemaker = none; ///< stream that determines the checkpoints
  uint32_t section = 0;      ///< section of its first work item

  std::vector<uint64_t> history; ///< fingerprints of checkpoints
  /// State at some of the checkpoints, by number of the checkpoint.
  std::map<size_t, std::unique_ptr<Image>> images;
  bool keepsAll = true;  ///< true if images of all checkpoints are kept
  size_t bytesTaken = 0; ///< size of images of all checkpoints
  unsigned failures = 0;
  size_t resumeAt = 0; ///< first checkpoint of which an image is taken
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_RECURRENCE_H
