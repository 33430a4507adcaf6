//===- Recurrence.h - skipping the steady state -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the steady state of a pipeline the engine does the same again and again,
// for later micro-batches and at a later time. Checkpoints are taken whenever
// one chosen stream opens a work item of its first section. If the whole state
// at a checkpoint is that of an earlier one, a period ago, with all times moved
// by the period and all micro-batches by the same number, and the orders of all
// classes go on periodically, then so does the run: whole periods are skipped
// by moving times and micro-batches once more. That is exact, not an estimate.
//
// Not all state moves. A stream whose next task belongs to the last micro-batch
// stands at the same work item for the whole steady state; such streams and
// their frames are *fixed*: equal at both checkpoints as they are.
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

class Recurrence {
public:
  /// Not `enabled`, it does nothing.
  Recurrence(EngineState &state, llvm::ArrayRef<Listener *> listeners,
             bool enabled);

  /// The head of a stream has moved to another work item.
  void onOpenItem(uint32_t stream) {
    if (enabled && (stream == pacemaker || pacemaker == none))
      noteItem(stream);
  }
  /// Nothing more happens at this point in time: the state may be looked at and
  /// changed.
  void onSettled() {
    if (isDue)
      checkpoint();
  }

private:
  static constexpr uint32_t none = ~0u;
  static constexpr size_t longestPeriod = 64; ///< in checkpoints

  /// What a class has stored.
  struct ClassImage {
    std::array<Head, numStreams> heads;
    std::vector<uint32_t> microBatches; ///< of the open frames, ascending
    std::vector<uint32_t> counters;     ///< of each of them
    std::vector<Time> ready;            ///< of each of them
    std::vector<uint32_t> onceCounters; ///< of the frame of the once-tasks
    std::vector<Time> onceReady;
    uint64_t launchWaits = 0;
    uint32_t hostItem = 0;        ///< see Host
    uint32_t missingMessages = 0; ///< of that item
    /// How late the host was with the items before that, as far as heads have
    /// not passed them.
    std::vector<Time> delays;
  };
  /// The whole state at a checkpoint.
  struct Image {
    Time now = 0;
    uint32_t microBatch = 0; ///< that the pacemaker opens
    uint64_t tasks = 0;
    std::vector<ClassImage> classes;
    /// Must be equal: pending events, kernels and flows under way with times
    /// relative to `now`, and what listeners say.
    std::vector<int64_t> same;
    std::vector<Time> times;     ///< of listeners
    std::vector<int64_t> counts; ///< of listeners
  };
  /// How a class moves in a period; no item if it does not.
  struct ClassPeriod {
    uint32_t items = 0;
    uint32_t first = 0, last = 0; ///< items that its heads pass
    Time launches = 0;            ///< time in which the host launches them
    std::vector<uint32_t> fixedMicroBatches;
  };
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
  /// Per class and micro-batch: whether it runs other tasks of a section than
  /// most, so that its frame is unlike others.
  std::vector<std::vector<bool>> isSpecial;
  bool enabled;
  bool isDue = false;
  uint32_t pacemaker = none; ///< the stream that sets the checkpoints
  uint32_t section = 0;      ///< of its first work item

  std::vector<uint64_t> history; ///< fingerprints of checkpoints
  /// The state at some of the checkpoints, by their number.
  std::map<size_t, std::unique_ptr<Image>> images;
  bool keepsAll = true;  ///< images of all checkpoints
  size_t bytesTaken = 0; ///< by images of all checkpoints
  unsigned failures = 0;
  size_t resumeAt = 0; ///< no image is taken before that checkpoint
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_RECURRENCE_H
