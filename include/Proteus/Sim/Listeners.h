//===- Listeners.h - measurements of a run ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Listeners turn the events of the engine into the figures of a report. Each
// listener can be used alone; Simulation.h uses all of them in one run.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_LISTENERS_H
#define PROTEUS_SIM_LISTENERS_H

#include "Proteus/Sim/Engine.h"
#include "Proteus/Sim/FactTable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace proteus::sim {

using BytesByOwner = std::array<int64_t, numMemoryOwners>;

/// The largest amount of device memory that a class holds during the run, and
/// the contents of the memory at that time.
struct MemoryPeak {
  int64_t bytes = 0;
  BytesByOwner byOwner = {};
  Time time = 0;
  /// Label of the task that causes the peak: the one that allocates the largest
  /// buffer at that time. Empty if no task raises the memory above the memory
  /// that is held during the whole step.
  std::string label;
  /// The part of `byOwner` in buffers with Buffer::tensorSplit.
  BytesByOwner tensorSplit = {};
  /// Largest number of bytes in host memory, possibly at a time other than
  /// `time`.
  int64_t hostBytes = 0;
};

/// A listener that follows the memory of every class over time. If memory is
/// freed and allocated at the same time, the frees count first, because the
/// engine reports them first.
class MemoryTracker : public Listener {
public:
  bool canSkip() const override { return true; }
  /// Does not visit the peaks, because skipped periods cannot raise them: a
  /// skipped period holds as much memory as the simulated period before it.
  void visitState(StateVisitor &visitor) override {
    for (State &state : classes) {
      visitor.same(state.held.bytes);
      visitor.same(state.held.hostBytes);
      for (unsigned o = 0; o < numMemoryOwners; ++o) {
        visitor.same(state.held.byOwner[o]);
        visitor.same(state.held.tensorSplit[o]);
      }
    }
  }
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onAllocate(const TaskInstance &task, uint32_t buffer, Time now) override;
  void onFree(const TaskInstance &task, uint32_t buffer, Time now) override;
  void onStretch(const SectionTrace &trace, uint32_t stretch,
                 Time start) override;

  /// Returns the bytes of device memory that are held now.
  int64_t current(uint32_t classIndex) const {
    return classes[classIndex].held.bytes;
  }
  const MemoryPeak &peak(uint32_t classIndex) const {
    return classes[classIndex].peak;
  }

private:
  /// The facts about a buffer that MemoryTracker needs.
  struct Block {
    int64_t bytes = 0;
    MemoryOwner owner = MemoryOwner::Activations;
    bool onHost = false;
    bool tensorSplit = false;
  };
  static Block blockOf(const Buffer &buffer) {
    return {buffer.bytes, buffer.owner, buffer.onHost, buffer.tensorSplit};
  }
  /// Numbers of bytes. They describe either the memory that is held, or a
  /// change of this memory.
  struct Amounts {
    int64_t bytes = 0;
    int64_t hostBytes = 0;
    BytesByOwner byOwner = {};
    BytesByOwner tensorSplit = {};

    void add(const Block &block, int sign);
    void add(const Amounts &other);
  };
  /// The effect of a replayed stretch on the memory of its class. Replayed
  /// sections use no host memory.
  struct Profile {
    Amounts change;
    /// Largest number of device bytes that the stretch holds at one time, in
    /// addition to those held before it.
    int64_t most = 0;
    bool isKnown = false;
  };
  struct State {
    Amounts held;
    MemoryPeak peak;
    /// The last time at which the class allocated a buffer; -1 before that. At
    /// this time, `largest` is the size of the largest allocated buffer, and
    /// `largestLabel` the label of the task that allocates it.
    Time instant = -1;
    int64_t largest = 0;
    uint32_t largestLabel = 0;
  };
  void allocate(State &state, const Block &block, uint32_t label, Time now);
  const Profile &profileOf(const SectionTrace &trace, uint32_t stretch);

  const Workload *workload = nullptr;
  FactTable<Block> blocks;    ///< facts of buffers
  FactTable<uint32_t> labels; ///< labels of tasks
  std::vector<State> classes;
  std::vector<std::vector<Profile>> profiles; ///< by trace, then by stretch
};

/// The iteration time of one class, divided into parts by the activity of its
/// compute stream. The stream is *idle* while it runs no kernel. Idle time that
/// counts as `host` counts for no other part. The parts sum to the iteration
/// time exactly.
struct Breakdown {
  Time compute = 0;   ///< forward and backward kernels
  Time recompute = 0; ///< forward kernels that are repeated
  Time optimizer = 0; ///< update kernels
  /// Time in which the stream is idle while a collective or a copy from or to
  /// the host runs. Messages between stages do not count.
  Time exposedCommunication = 0;
  /// Time in which the stream is idle while only messages between stages run.
  Time exposedPipeline = 0;
  Time host = 0;    ///< idle because the next kernel was not launched
  Time bubble = 0;  ///< idle for any other reason
  Time stepGap = 0; ///< between this step and the next

  Time busy() const { return compute + recompute + optimizer; }
  Time total() const {
    return busy() + exposedCommunication + exposedPipeline + host + bubble +
           stepGap;
  }
};

/// The part of Breakdown::exposedCommunication that one kind of communication
/// causes.
struct ExposedCommunication {
  std::string kind; ///< "all_reduce over tp", "host_to_device"
  Time time = 0;
};

/// A listener that computes the breakdown of the time of every class.
///
/// A *gap* is a time in which the compute stream runs no kernel. If several
/// communications run at one moment of a gap, the moment counts for only one of
/// them: the one that ends last within the gap, because the next kernel may
/// have waited for it. A communication that outlasts the gap cannot have
/// delayed the next kernel. The moment counts for such a communication only if
/// all communications of the moment outlast the gap. Among equals, the moment
/// counts for the communication that started first.
class BreakdownTracker : public Listener {
public:
  bool canSkip() const override { return true; }
  void visitState(StateVisitor &visitor) override;
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onStretch(const SectionTrace &trace, uint32_t stretch,
                 Time start) override;
  void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                     int64_t runs) override;
  void onFinish(Time iterationTime) override;

  const Breakdown &breakdown(uint32_t classIndex) const {
    return classes[classIndex].breakdown;
  }
  /// Returns, for each stream, the time in which it runs tasks. Time spent
  /// waiting for the other members of a collective is not included.
  const std::array<Time, numStreams> &streamBusy(uint32_t classIndex) const {
    return classes[classIndex].busy;
  }
  /// Returns the kernel time per kind of operation (an index into
  /// Workload::labels), largest first.
  std::vector<std::pair<uint32_t, Time>>
  computeByOperation(uint32_t classIndex) const;
  /// Returns the parts of Breakdown::exposedCommunication, largest first.
  std::vector<ExposedCommunication> exposedByKind(uint32_t classIndex) const;

private:
  enum class Idle : uint8_t { Communication, Pipeline, Nothing };
  /// A communication that runs during the current gap between kernels. Time of
  /// the gap may count for it.
  struct Candidate {
    uint32_t kind; ///< index into `kinds`
    Time end;      ///< `running` if it has not ended
  };
  static constexpr Time running = -1;
  /// A part of a gap during which the set of running communications does not
  /// change.
  struct Segment {
    Time begin, end;
    Idle kind;
    /// Indices into State::candidates of the communications that run, in the
    /// order of their starts.
    llvm::SmallVector<uint32_t, 2> candidates;
  };
  struct State {
    Breakdown breakdown;
    std::array<Time, numStreams> busy = {};
    std::array<Time, numStreams> started = {};
    llvm::MapVector<uint32_t, Time> byOperation;
    llvm::MapVector<uint32_t, Time> exposedByKind; ///< index into `kinds`
    Time lastChange = 0;
    Time streamFree = 0; ///< end of the last task on the compute stream
    /// Number of communications that run now, without messages between stages.
    unsigned communications = 0;
    unsigned transfers = 0; ///< number of messages between stages that run now
    bool computing = false;
    /// The current gap between kernels. It is added to `breakdown` when it
    /// ends, because its causes are not known earlier.
    std::vector<Segment> gap;
    std::vector<Candidate> candidates;
    /// Candidates that run now, as (stream, index into `candidates`).
    llvm::SmallVector<std::pair<unsigned, uint32_t>, 4> present;
  };
  enum class Role : uint8_t { Kernel, Transfer, Communication };
  struct TaskFacts {
    /// Task::opKind for a kernel; an index into `kinds` for other tasks.
    uint32_t kind;
    Stream stream;
    Phase phase;
    Role role;
  };
  TaskFacts factsOf(const Task &task) const;
  /// Updates the state when a task starts. If the task is a kernel, ends the
  /// current gap. `ready` and `launched` are the members of TaskInstance of the
  /// same names.
  void start(State &state, const TaskFacts &task, Time ready, Time launched,
             Time now);
  void end(State &state, const TaskFacts &task, Time now);
  void elapse(State &state, Time now);
  void closeGap(State &state, Time hostBegin, Time hostEnd);

  const Workload *workload = nullptr;
  FactTable<TaskFacts> tasks;
  std::vector<std::string> kinds;
  std::vector<uint32_t> kindOfCollective;
  std::array<uint32_t, numStreams> kindOfCopy = {};
  std::vector<State> classes;
};

/// A row of the table of communications: all communications with the same kind,
/// axes, group size and bytes.
struct CollectiveRow {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  std::string axes;
  int64_t groupSize = 1;
  int64_t bytes = 0; ///< counted as in cost::Collective
  int64_t count = 0; ///< number of these communications in the cluster
  /// Number and total time of these communications on the device that spends
  /// most time in them.
  int64_t countPerDevice = 0;
  Time time = 0;
};

/// A listener that collects a table of all communications of a step.
class CollectiveTable : public Listener {
public:
  bool canSkip() const override { return true; }
  void visitState(StateVisitor &visitor) override;
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                     int64_t runs) override;

  /// Returns the rows, largest time first.
  std::vector<CollectiveRow> rows() const;

private:
  struct State {
    int64_t count = 0;
    Time time = 0; ///< sum of the durations of all instances
    Time started = 0;
  };
  const Workload *workload = nullptr;
  /// For each task of a collective in the collective's first member class, the
  /// index of the collective; -1 for all other tasks. Only the starts and ends
  /// of these tasks are counted, so each execution counts once.
  FactTable<int32_t> counted;
  std::vector<State> collectives;
};

/// A row of the table of links: the use of one link of a link class in a step.
struct LinkRow {
  uint32_t link = 0; ///< index into Workload::links
  int64_t bytes = 0; ///< bytes that one link moved
  /// Time in which flows ran below their ceilings because the link was full. If
  /// several full links limit a flow to the same rate, the time counts for each
  /// of these links.
  Time contended = 0;
};

/// A listener that collects a table of the use of links.
class LinkTable : public Listener {
public:
  bool canSkip() const override { return true; }
  void visitState(StateVisitor &visitor) override;
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;
  void onLinkChange(uint32_t link, bool holdsBack, Time now) override;
  void onStretchRuns(const SectionTrace &trace, uint32_t stretch,
                     int64_t runs) override;

  /// Returns the links that moved any bytes, in the order of Workload::links.
  std::vector<LinkRow> rows() const;

private:
  struct State {
    bool holdsBack = false;
    Time since = 0;
    Time contended = 0;
  };
  const Workload *workload = nullptr;
  /// For each task of a collective in the collective's first member class, the
  /// index of the collective; -1 for all other tasks. Only the ends of these
  /// tasks are counted, so each execution counts once.
  FactTable<int32_t> counted;
  std::vector<State> links;
  std::vector<int64_t> runs; ///< number of executions of each collective
};

/// The reduction of one gradient bucket by one class. If the bucket is reduced
/// with every micro-batch, the times are those of the last reduction.
struct BucketRow {
  uint32_t classIndex = 0;
  uint32_t bucket = 0;
  Time ready = 0; ///< time at which its last gradient was computed
  Time start = 0;
  Time end = 0;
};

/// A listener that collects the times of gradient reductions.
class BucketTable : public Listener {
public:
  bool canSkip() const override { return true; }
  void visitState(StateVisitor &visitor) override;
  void onBegin(const Workload &workload, llvm::ArrayRef<Time>) override;
  void onTaskStart(const TaskInstance &task, Time now) override;
  void onTaskEnd(const TaskInstance &task, Time now) override;

  /// Returns the rows by class, then in order of start.
  std::vector<BucketRow> rows() const;
  /// Returns how long gradient reductions of a class continue after its last
  /// backward kernel; 0 if they end before it.
  Time exposed(uint32_t classIndex) const;

private:
  struct State {
    std::map<std::pair<bool, uint32_t>, BucketRow> rows; ///< by (once, task)
    Time lastBackward = 0;
    Time lastReduction = 0;
  };
  enum class Role : uint8_t { Reduction, BackwardKernel, Other };
  Role roleOf(const TaskInstance &instance) const {
    return roles.at(instance.classIndex, instance.once, instance.task);
  }

  const Workload *workload = nullptr;
  FactTable<Role> roles; ///< roles of tasks
  std::vector<State> classes;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_LISTENERS_H
