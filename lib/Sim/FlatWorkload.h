//===- FlatWorkload.h - a workload as flat arrays ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The templates of a checked workload as arrays for the event loop, so that no
// step of the loop follows nested vectors or allocates memory.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_FLATWORKLOAD_H
#define PROTEUS_LIB_SIM_FLATWORKLOAD_H

#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace proteus::sim {

/// Lists of indices, stored contiguously.
class IndexLists {
public:
  /// Creates `count` lists. List i holds the targets of the edges (i, target),
  /// in the order of `edges`.
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

/// The part of a task that the event loop reads.
struct FlatTask {
  Time duration;
  int32_t collective;
  Stream stream;
  When when;
  bool matrix;

  /// Returns true if the task receives a message from another stage.
  bool receives() const {
    return stream == Stream::PipelineReceive ||
           stream == Stream::PipelineReceiveGradient;
  }
  /// Returns true for kernels, which communication slows and which slow
  /// communication. Copies, which also have a fixed duration, run on other
  /// streams.
  bool isKernel() const { return stream == Stream::Compute && collective < 0; }
};

/// Variants of a section, as flags. All variants run the tasks of every
/// micro-batch. LastTime adds those of the last micro-batch, FirstTime those of
/// the first one. A micro-batch may be both.
enum Variant : unsigned { EveryTime, LastTime, FirstTime };
constexpr unsigned numVariants = 4;

/// Returns true if a task runs in a variant of its section.
inline bool runsIn(When when, unsigned variant) {
  return when == When::Always ||
         (variant & (when == When::LastMicroBatch ? LastTime : FirstTime));
}

/// A template as flat arrays.
struct FlatTemplate {
  std::vector<FlatTask> tasks;
  IndexLists successors;
  IndexLists onceSuccessors; ///< once-tasks that depend on a micro-task
  IndexLists allocates;
  IndexLists uses; ///< buffers that a task allocates or reads
  /// Initial counters of a frame: open dependencies per task, then users per
  /// buffer. The producer counts as a user, so a buffer without readers lives
  /// until its producer ends.
  std::vector<uint32_t> initial;
  /// Tasks by (section, variant, stream), in issue order.
  IndexLists queues;
  /// Host time from the begin of a section to the end of the launch of a task,
  /// per variant and task.
  std::vector<Time> launched[numVariants];
  /// Host time to launch a section, per variant and section.
  std::vector<Time> launches[numVariants];
  /// The messages that a section receives: their number, and the host time from
  /// the begin of the section to the end of the launch of the last one.
  struct Receives {
    uint32_t count = 0;
    Time launched = 0;
  };
  std::vector<Receives> receives[numVariants]; ///< per variant and section
  /// Tasks of each section that do not run with every micro-batch.
  IndexLists notAlways;

  size_t numTasks() const { return tasks.size(); }
  size_t numSections() const { return launches[EveryTime].size(); }
  /// Returns the tasks that a section issues to a stream, in order.
  llvm::ArrayRef<uint32_t> queue(uint32_t section, unsigned variant,
                                 Stream stream) const {
    return queues[(section * numVariants + variant) * numStreams +
                  static_cast<unsigned>(stream)];
  }
};

/// A work item and the time of its launch.
struct FlatItem {
  uint32_t section;
  uint32_t microBatch;
  bool once;
  bool last; ///< true for the last item that runs this section
  /// True for the first item that runs this section, if the section has tasks
  /// that run only with the first micro-batch. Always true if `once`.
  bool first;
  Time launchBegin; ///< time at which its launch begins

  /// Returns the variant in which the item runs its section.
  unsigned variant() const {
    return (last ? LastTime : EveryTime) | (first ? FirstTime : EveryTime);
  }
};

constexpr uint32_t noMicroBatch = ~0u;

/// Returns, per section of the micro-template, the first micro-batch that runs
/// it, or `noMicroBatch` if no task of the section runs with the first
/// micro-batch only.
std::vector<uint32_t> firstMicroBatches(const DeviceClass &device);

/// A device class as flat arrays.
struct FlatClass {
  FlatTemplate templates[2]; ///< micro, once
  std::vector<FlatItem> order;
  /// Last micro-batch that runs each section, and result of
  /// `firstMicroBatches`.
  std::vector<uint32_t> lastMicroBatch, firstMicroBatch;

  /// Returns the variant in which a micro-batch runs a section.
  unsigned variantOf(uint32_t section, uint32_t microBatch) const {
    return (lastMicroBatch[section] == microBatch ? LastTime : EveryTime) |
           (firstMicroBatch[section] == microBatch ? FirstTime : EveryTime);
  }
  /// True if the host waits for messages and the class receives any.
  bool hostWaits = false;
  /// Host time of all launches; at most `mostLaunchTime`.
  Time launches = 0;
};

/// Bound at which sums of launch times saturate.
constexpr Time mostLaunchTime = Time(1) << 62;

/// Converts a device class of a checked workload.
FlatClass flatten(const DeviceClass &device);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLATWORKLOAD_H
