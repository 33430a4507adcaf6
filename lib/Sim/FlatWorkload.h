//===- FlatWorkload.h - a workload as flat arrays ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies of the templates of a workload in flat arrays. The event loop reads
// these copies, so that it neither follows nested vectors nor allocates memory
// at every step.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_FLATWORKLOAD_H
#define PROTEUS_LIB_SIM_FLATWORKLOAD_H

#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace proteus::sim {

/// A list of lists of indices, stored in one array.
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

/// The fields of a task that the event loop reads.
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
  /// Returns true if the task is a kernel or the wait for a blocking
  /// communication, which is a kernel without duration. Copies between device
  /// and host are not kernels; they run on streams of their own.
  bool isKernel() const { return stream == Stream::Compute && collective < 0; }
};

/// Variants of a section, as flags. Every variant runs the tasks with
/// When::Always. The flag LastTime adds the tasks with When::LastMicroBatch,
/// the flag FirstTime those with When::FirstMicroBatch. With a single
/// micro-batch, both flags can be set.
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
  /// For each task of the micro-template, the tasks of the once-template that
  /// depend on it.
  IndexLists onceSuccessors;
  IndexLists allocates;
  /// Buffers that each task allocates or reads.
  IndexLists uses;
  /// Initial counters of a frame: the number of dependencies of each task, then
  /// the number of users of each buffer. The task that allocates a buffer
  /// counts as a user, so a buffer without readers lives until that task ends.
  std::vector<uint32_t> initial;
  /// The tasks of each (section, variant, stream), in issue order. Read by
  /// `queue`.
  IndexLists queues;
  /// Host time from the beginning of a section until a task of the section has
  /// been launched, per variant and task.
  std::vector<Time> launched[numVariants];
  /// Host time to launch all tasks of a section, per variant and section.
  std::vector<Time> launches[numVariants];
  /// The messages that a section receives. `count` is their number, `launched`
  /// the host time from the beginning of the section until the last receive has
  /// been launched.
  struct Receives {
    uint32_t count = 0;
    Time launched = 0;
  };
  std::vector<Receives> receives[numVariants]; ///< per variant and section
  /// Tasks of each section that do not run with every micro-batch.
  IndexLists notAlways;

  size_t numTasks() const { return tasks.size(); }
  size_t numSections() const { return launches[EveryTime].size(); }
  /// Returns the tasks that a section issues to a stream, in issue order.
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
  /// Time at which the host would begin to launch the item if the host never
  /// waited.
  Time launchBegin;

  /// Returns the variant in which the item runs its section.
  unsigned variant() const {
    return (last ? LastTime : EveryTime) | (first ? FirstTime : EveryTime);
  }
};

constexpr uint32_t noMicroBatch = ~0u;

/// Returns, for each section of the micro-template, the first micro-batch that
/// runs the section. Returns `noMicroBatch` for a section without tasks that
/// run only with the first micro-batch.
std::vector<uint32_t> firstMicroBatches(const DeviceClass &device);

/// A device class as flat arrays.
struct FlatClass {
  FlatTemplate templates[2]; ///< [0] micro-template, [1] once-template
  std::vector<FlatItem> order;
  /// `lastMicroBatch` holds, for each section of the micro-template, the last
  /// micro-batch that runs the section. `firstMicroBatch` is the result of
  /// `firstMicroBatches`.
  std::vector<uint32_t> lastMicroBatch, firstMicroBatch;

  /// Returns the variant in which a micro-batch runs a section.
  unsigned variantOf(uint32_t section, uint32_t microBatch) const {
    return (lastMicroBatch[section] == microBatch ? LastTime : EveryTime) |
           (firstMicroBatch[section] == microBatch ? FirstTime : EveryTime);
  }
  /// True if the host waits for messages (DeviceClass::hostWaits) and the class
  /// receives any.
  bool hostWaits = false;
  /// Host time of all launches of the class; at most `mostLaunchTime`.
  Time launches = 0;
};

/// Upper bound of sums of launch times. Larger sums are set to this value, so
/// that they do not overflow.
constexpr Time mostLaunchTime = Time(1) << 62;

/// Converts a device class of a checked workload to flat arrays.
FlatClass flatten(const DeviceClass &device);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_FLATWORKLOAD_H
