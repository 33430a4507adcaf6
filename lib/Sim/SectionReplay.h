//===- SectionReplay.h - replay of recorded sections ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The replay of sections. A stage runs the same forward section and the same
// backward section for every micro-batch. The engine simulates each of them
// once, in isolation, and replays its events from then on.
//
// A replay may begin where a kernel starts and nothing else of the class runs,
// if the rest of the section has all its inputs from outside and is launched.
// Later events then depend on nothing before and, until a message of the class
// starts, on nothing outside, because the links of its collectives are either
// used by this class only or never full. These starts cut the section into
// *stretches*. During a replay the event queue holds one event for the class,
// at the next end of a task that may affect a message. When a message starts,
// the class is brought into the state that a simulation task by task would
// have. It continues task by task and returns to the replay at the next stretch
// after the message.
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

/// Receiver of the progress of kernels and flows at every change of their
/// speed.
class RateLog {
public:
  virtual ~RateLog();
  virtual void onKernel(const Progress &progress) = 0;
  virtual void onFlow(uint32_t collective, const Progress &progress) = 0;
};

/// A trace and its effects on the frame of its micro-batch. A *member* is a
/// task of the section that is in the trace.
struct SectionReplay : SectionTrace {
  /// The effect of a stretch on one counter of the frame that is still needed
  /// after the stretch.
  struct Effect {
    uint32_t counter; ///< index in the frame
    uint32_t amount;  ///< by which the stretch lowers the counter
    Time offset;      ///< of the last end that lowers it
  };
  /// The replay data of one stretch.
  struct Part {
    std::vector<Effect> effects;
    /// Per stream, the number of members that have ended when the stretch
    /// begins.
    std::array<uint32_t, numStreams> position = {};
    uint32_t tasks = 0; ///< number of tasks that end in it
    int64_t runs = 0;
  };
  /// The end of a task on which messages depend, or whose buffers they use.
  struct Step {
    uint32_t event;
    uint32_t task;
  };
  /// The progress of a member from an offset on.
  struct Rate {
    Time offset;
    uint32_t task;
    Progress progress; ///< `since` is an offset
  };
  struct Member {
    uint32_t task;
    uint32_t endEvent; ///< ~0 if the task ends after all events
    Time start, end;
    std::vector<uint32_t> dependencies; ///< indices into `members`
    bool needsMessages;
  };

  std::vector<Part> parts; ///< one per stretch
  std::vector<Step> steps;
  std::vector<Rate> rates; ///< ascending by offset
  std::vector<Member> members;
  Time duration = 0;
  /// Value of ClassPlans::pastOf for the work item for which the section was
  /// recorded.
  uint32_t past = 0;

  /// After all events: per stream, the number of members that have ended, and
  /// the streams that still run, as bits.
  std::array<uint32_t, numStreams> positionAtEnd = {};
  uint32_t runningAtEnd = 0;

  /// Returns the progress of a member that runs at an offset.
  Progress progressOf(uint32_t task, Time offset) const;
  /// Returns the offset at which a member starts.
  Time startOf(uint32_t task) const;
};

/// The replay that is in progress in a class, if any.
struct ActiveReplay {
  SectionReplay *replay = nullptr;
  /// Time at which the section started, or would have started.
  Time start = 0;
  uint32_t stretch = 0;
  uint32_t event = 0; ///< first event that is not yet accounted for
  uint32_t nextStep = 0;
  uint32_t streams = 0; ///< streams whose heads are in it, as bits
  uint32_t version = 0; ///< of its event in the queue
};

/// The recorded sections of all classes, and the conditions for their replay.
class SectionReplays {
public:
  SectionReplays() = default;
  SectionReplays(const EngineState &state, const EngineOptions &options,
                 bool enabled);

  /// A stretch at which a replay can begin.
  struct Place {
    SectionReplay *replay = nullptr; ///< null if there is none
    uint32_t stretch = 0;
  };
  /// Returns the stretch that begins with the kernel at the head of a stream,
  /// if it can be replayed now. The kernel is about to start.
  Place find(uint32_t stream) { return enabled ? findFor(stream) : Place(); }

  void visitState(StateVisitor &visitor, std::vector<ClassState> &classes);
  llvm::ArrayRef<std::unique_ptr<SectionReplay>> all() const { return replays; }

  /// Returns true if messages use a buffer of the micro-template. Uses of such
  /// a buffer are then accounted for at their exact times.
  bool isInMessages(uint32_t classIndex, uint32_t buffer) const {
    return plans[classIndex].inMessages[buffer];
  }
  /// Returns true if a stream is one of those for messages between stages.
  static bool isForMessages(Stream stream);

private:
  /// The replay of a section, as planned before the run.
  struct Plan {
    uint32_t firstKernel = ~0u; ///< ~0 if the section is never replayed
    bool recorded = false;
    std::unique_ptr<SectionReplay> pending; ///< has members only
    SectionReplay *replay = nullptr;
    /// Host time from the begin of the section to the launch of its last
    /// member.
    Time lastLaunched = 0;
  };
  /// The plans of the sections of one class.
  struct ClassPlans {
    std::vector<Plan> sections;
    /// Per template and task: true if the task *follows*, which means that it
    /// cannot start before the kernels of earlier work items have ended.
    std::vector<bool> follows[2];
    /// Streams, as bits, with some task that does not follow.
    uint32_t freeStreams = 0;
    /// Buffers of the micro-template that messages use.
    std::vector<bool> inMessages;
    /// Per task of the micro-template: the stretch that begins with it, or -1.
    std::vector<int32_t> stretchAt;
    /// Per work item: a number for the history of its micro-batch, which
    /// consists of the sections that ran before for this micro-batch and the
    /// variants in which it runs all sections. Items with equal numbers have
    /// equal counts of users of those buffers that no message uses.
    std::vector<uint32_t> pastOf;
    /// The last work item for which `hasMessages` returned true.
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
