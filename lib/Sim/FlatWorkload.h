//===- FlatWorkload.h - a workload as flat arrays ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the event loop reads: the templates of a checked workload as arrays, so
// that no step of the loop chases a vector of vectors or allocates.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_FLATWORKLOAD_H
#define PROTEUS_LIB_SIM_FLATWORKLOAD_H

#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace proteus::sim {

/// Lists of indices, one after another.
class IndexLists {
public:
  /// Turns (from, to) edges into lists by `from`, keeping the order of `to`.
  static IndexLists of(size_t count,
                       llvm::ArrayRef<std::pair<uint32_t, uint32_t>> edges);

  void beginList() { begin.push_back(entries.size()); }
  void add(uint32_t index) { entries.push_back(index); }
  void finish() { begin.push_back(entries.size()); }
  llvm::ArrayRef<uint32_t> operator[](size_t list) const {
    return {entries.data() + begin[list], entries.data() + begin[list + 1]};
  }

private:
  std::vector<uint32_t> begin;
  std::vector<uint32_t> entries;
};

/// The part of a task that the loop reads.
struct FlatTask {
  Time duration;
  int32_t collective;
  Stream stream;
  When when;
  bool matrix;

  /// Whether it receives a message from another stage.
  bool receives() const {
    return stream == Stream::PipelineReceive ||
           stream == Stream::PipelineReceiveGradient;
  }
  /// What communication slows, and what slows communication. Tasks of a given
  /// duration on other streams stand for copies.
  bool isKernel() const { return stream == Stream::Compute && collective < 0; }
};

/// Which tasks of a section run: those of every micro-batch, and with the first
/// and the last micro-batch more; these are flags, as one may be both.
enum Variant : unsigned { EveryTime, LastTime, FirstTime };
constexpr unsigned numVariants = 4;

/// Whether a task runs in a variant of its section.
inline bool runsIn(When when, unsigned variant) {
  return when == When::Always ||
         (variant & (when == When::LastMicroBatch ? LastTime : FirstTime));
}

struct FlatTemplate {
  std::vector<FlatTask> tasks;
  IndexLists successors;
  IndexLists onceSuccessors; ///< of a micro-task, in the once-template
  IndexLists allocates;
  IndexLists uses; ///< buffers allocated or read
  /// Initial state of a frame: open dependencies per task, then users per
  /// buffer. The producer counts as a user: a buffer outlives it.
  std::vector<uint32_t> initial;
  /// Tasks by (section, variant, stream), in issue order.
  IndexLists queues;
  /// What the host needs from the begin of a section until it has launched a
  /// task, per variant.
  std::vector<Time> launched[numVariants];
  /// What the host needs to launch a section, per variant.
  std::vector<Time> launches[numVariants];
  /// The messages that a section receives: how many, and what the host needs
  /// from the begin of the section until it has launched the last.
  struct Receives {
    uint32_t count = 0;
    Time launched = 0;
  };
  std::vector<Receives> receives[numVariants]; ///< per variant and section
  /// Tasks per section that do not run every time.
  IndexLists notAlways;

  size_t numTasks() const { return tasks.size(); }
  size_t numSections() const { return launches[EveryTime].size(); }
  llvm::ArrayRef<uint32_t> queue(uint32_t section, unsigned variant,
                                 Stream stream) const {
    return queues[(section * numVariants + variant) * numStreams +
                  static_cast<unsigned>(stream)];
  }
};

/// A work item and when it is launched.
struct FlatItem {
  uint32_t section;
  uint32_t microBatch;
  bool once;
  bool last;        ///< of those that run this section
  bool first;       ///< likewise, if that makes a difference
  Time launchBegin; ///< when the host begins to launch it

  unsigned variant() const {
    return (last ? LastTime : EveryTime) | (first ? FirstTime : EveryTime);
  }
};

constexpr uint32_t noMicroBatch = ~0u;

/// Per section of the micro-template, the first micro-batch that runs it, if
/// some of its tasks run with that one only; else `noMicroBatch`.
std::vector<uint32_t> firstMicroBatches(const DeviceClass &device);

struct FlatClass {
  FlatTemplate templates[2]; ///< micro, once
  std::vector<FlatItem> order;
  /// Last micro-batch of every section, and the first one where that makes a
  /// difference; else `noMicroBatch`.
  std::vector<uint32_t> lastMicroBatch, firstMicroBatch;

  /// In which variant a micro-batch runs a section.
  unsigned variantOf(uint32_t section, uint32_t microBatch) const {
    return (lastMicroBatch[section] == microBatch ? LastTime : EveryTime) |
           (firstMicroBatch[section] == microBatch ? FirstTime : EveryTime);
  }
  /// Whether the host waits for messages, and there are any.
  bool hostWaits = false;
  /// What the host needs for all launches; at most `mostLaunchTime`.
  Time launches = 0;
};

/// Launches that take longer are not told apart.
constexpr Time mostLaunchTime = Time(1) << 62;

FlatClass flatten(const DeviceClass &device);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLATWORKLOAD_H
