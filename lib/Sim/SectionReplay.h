//===- SectionReplay.h - replay of recorded sections ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays recorded sections. A pipeline stage runs the same forward section and
// the same backward section for every micro-batch. The engine simulates each of
// them once in isolation, records the events, and replays them for later
// micro-batches.
//
// A replay may begin where a kernel starts while no other task of the class
// runs, if the host has launched the rest of the section and all messages for
// it have arrived. Then no later event of the section depends on earlier
// events. Events outside the section do not affect it either, until a message
// of the class starts, because the collectives of the section use only links
// that no other class uses or that are never full. The points at which a replay
// may begin divide the section into *stretches*.
//
// During a replay the event queue holds one event for the class: the next end
// of a task that may affect a message, or the end of the replay. When a message
// of the class starts, the replay ends and the class gets the state that a
// simulation task by task would have. The class continues task by task. After
// the message, the replay resumes at the next stretch.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_SECTIONREPLAY_H
#define PROTEUS_LIB_SIM_SECTIONREPLAY_H

#include "FlatWorkload.h"
#include "Progress.h"

#include "Proteus/Sim/Engine.h"

#include <array>
#include <memory>
#include <vector>

namespace proteus::sim {

struct EngineState;
struct ClassState;

/// Receives the progress of kernels and flows whenever their speed changes.
class RateLog {
public:
  virtual ~RateLog();
  virtual void onKernel(const Progress &progress) = 0;
  virtual void onFlow(uint32_t collective, const Progress &progress) = 0;
};

/// A recorded section, and its effects on the counters in the frame of a
/// micro-batch (open dependencies and buffer users). The *members* are the
/// tasks of the section that the trace contains: those that run with every
/// micro-batch, except messages.
struct SectionReplay : SectionTrace {
  /// The effect of a stretch on one counter of a frame. Counters that are not
  /// needed after the stretch have no entry.
  struct Effect {
    uint32_t counter; ///< index of the counter in the frame
    /// Number by which the stretch lowers the counter.
    uint32_t amount;
    Time offset; ///< offset of the last task end that lowers the counter
  };
  /// The data of one stretch that a replay needs.
  struct Part {
    std::vector<Effect> effects;
    /// Per stream, the number of members that have ended when the stretch
    /// begins.
    std::array<uint32_t, numStreams> position = {};
    uint32_t tasks = 0; ///< number of tasks that end in the stretch
    /// Number of times that the stretch was replayed as a whole.
    int64_t runs = 0;
  };
  /// The end of a task that may affect messages, because a message depends on
  /// the task or uses one of the buffers of the task.
  struct Step {
    uint32_t event;
    uint32_t task;
  };
  /// A change of the speed of a member (a kernel or the flow of a collective)
  /// at `offset`, and the progress of the member from then on.
  struct Rate {
    Time offset;
    uint32_t task;
    Progress progress; ///< `since` is an offset
  };
  struct Member {
    uint32_t task;
    /// Index in `events` of the end of the task; ~0 if it is not recorded.
    uint32_t endEvent;
    Time start, end;
    std::vector<uint32_t> dependencies; ///< indices into `members`
    bool needsMessages;
  };

  std::vector<Part> parts; ///< one per stretch
  std::vector<Step> steps;
  std::vector<Rate> rates; ///< ascending by offset
  std::vector<Member> members;
  Time duration = 0;
  /// Value of ClassPlans::pastOf for the work item with which the section was
  /// recorded.
  uint32_t past = 0;

  /// State after the last event. `positionAtEnd` holds the number of members
  /// that have ended, per stream. `runningAtEnd` holds, as bits, the streams
  /// that still run a member.
  std::array<uint32_t, numStreams> positionAtEnd = {};
  uint32_t runningAtEnd = 0;

  /// Returns the progress of a member at an offset at which the member runs.
  Progress progressOf(uint32_t task, Time offset) const;
  /// Returns the offset at which a member starts.
  Time startOf(uint32_t task) const;
};

/// The replay that is in progress in a class, if any.
struct ActiveReplay {
  SectionReplay *replay = nullptr;
  /// Start of the section in simulated time; offsets count from it. If the
  /// replay began at a later stretch, the time at which the section would have
  /// started.
  Time start = 0;
  uint32_t stretch = 0;
  uint32_t event = 0; ///< first event that has not been applied to the frame
  uint32_t nextStep = 0;
  uint32_t streams = 0; ///< streams, as bits, with members left in the replay
  uint32_t version = 0; ///< version of the SectionStep event in the queue
};

/// The recorded sections of all classes, and the conditions for their replay.
class SectionReplays {
public:
  SectionReplays() = default;
  SectionReplays(const EngineState &state, const EngineOptions &options,
                 bool enabled);

  /// A recorded section, and a stretch at which a replay of it can begin.
  struct Place {
    SectionReplay *replay = nullptr; ///< null if there is none
    uint32_t stretch = 0;
  };
  /// Returns the stretch that begins with the kernel at the head of a stream,
  /// or no replay if a replay can't begin with this kernel. Called when the
  /// kernel is about to start. Records the section of the kernel first, if that
  /// is possible and has not been done.
  Place find(uint32_t stream) { return enabled ? findFor(stream) : Place(); }

  void visitState(StateVisitor &visitor, std::vector<ClassState> &classes);
  llvm::ArrayRef<std::unique_ptr<SectionReplay>> all() const { return replays; }

  /// Returns true if messages use this buffer of the micro-template. The number
  /// of users of such a buffer is decremented at the exact end of each task
  /// that uses the buffer, even in a replay.
  bool isInMessages(uint32_t classIndex, uint32_t buffer) const {
    return plans[classIndex].inMessages[buffer];
  }
  /// Returns true if the stream sends or receives messages between stages.
  static bool isForMessages(Stream stream);

private:
  /// The preparation for the replay of one section, made before the run.
  struct Plan {
    uint32_t firstKernel = ~0u; ///< ~0 if the section is never replayed
    bool recorded = false;
    /// The replay before the section is recorded; only its class, section and
    /// members are set. Null after a successful recording.
    std::unique_ptr<SectionReplay> pending;
    SectionReplay *replay = nullptr;
    /// Host time from the beginning of the section until its last member is
    /// launched.
    Time lastLaunched = 0;
  };
  /// The preparations for the sections of one class.
  struct ClassPlans {
    std::vector<Plan> sections;
    /// For each template and task: true if the task *follows*. Such a task
    /// cannot start before the kernels of all earlier work items have ended.
    std::vector<bool> follows[2];
    /// Streams, as bits, with at least one task that does not follow.
    uint32_t freeStreams = 0;
    /// Buffers of the micro-template that messages use.
    std::vector<bool> inMessages;
    /// For each task of the micro-template, the stretch that begins with it, or
    /// -1.
    std::vector<int32_t> stretchAt;
    /// For each work item, a number that identifies the history of its
    /// micro-batch. The history consists of the sections that ran earlier for
    /// this micro-batch, and of the variants in which the micro-batch runs all
    /// sections. At the beginning of items with the same history, each buffer
    /// has the same number of users, except for buffers that messages use.
    std::vector<uint32_t> pastOf;
    /// The last work item for which `hasMessages` returned true; ~0 if there is
    /// none.
    uint32_t readyItem = ~0u;
  };

  Place findFor(uint32_t stream);
  bool isAlone(uint32_t classIndex, uint32_t item,
               const std::array<uint32_t, numStreams> &position) const;
  bool sendsOrReceives(uint32_t classIndex) const;
  bool hasMessages(uint32_t classIndex, const SectionReplay &replay,
                   uint32_t stretch, uint32_t slot) const;
  void planClass(uint32_t classIndex, const std::vector<bool> &disturbed);
  void findFollowers(uint32_t classIndex);
  void findPasts(uint32_t classIndex);
  bool planSection(uint32_t classIndex, uint32_t section, Plan &plan,
                   const std::vector<bool> &disturbed) const;
  std::vector<bool> disturbedLinks() const;
  bool record(SectionReplay &replay, uint32_t slot) const;
  bool isFelt(uint32_t classIndex, uint32_t task) const;
  void tellMemory(SectionReplay &replay, llvm::ArrayRef<uint32_t> users) const;
  void cut(SectionReplay &replay) const;
  void findSteps(SectionReplay &replay) const;
  void describeEffects(SectionReplay &replay,
                       llvm::ArrayRef<uint32_t> users) const;

  const EngineState *state = nullptr;
  EngineOptions options;
  bool enabled = false;
  std::vector<ClassPlans> plans;
  std::vector<std::unique_ptr<SectionReplay>> replays;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_SECTIONREPLAY_H
