//===- SectionReplay.h - sections that run as before ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage does the same for every micro-batch: its forward section, its
// backward section. They are simulated once, apart, and replayed from then on.
//
// A replay may begin where a kernel starts and nothing else of the class runs,
// if all that the rest of the section needs from outside is there and launched.
// What follows then depends on nothing before and, until a message of the class
// starts, on nothing outside: the links of its collectives are its own or never
// full. Such places cut the section into *stretches*. While a replay lasts, the
// queue holds one event, for the next time at which a message may feel
// something of it. When a message starts, the class is brought to the state in
// which it would be, goes on task by task, and returns to the replay at the
// next stretch after the message.
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

/// Hears how kernels and flows proceed whenever their speed changes.
class RateLog {
public:
  virtual ~RateLog();
  virtual void onKernel(const Progress &progress) = 0;
  virtual void onFlow(uint32_t collective, const Progress &progress) = 0;
};

/// A trace, and what it does to the frame of its micro-batch. A *member* is a
/// task of the section that is in the trace.
struct SectionReplay : SectionTrace {
  /// What a stretch does to what is left of the frame behind it.
  struct Effect {
    uint32_t counter; ///< in the frame
    uint32_t amount;
    Time offset; ///< of the last of the ends that count
  };
  struct Part {
    std::vector<Effect> effects;
    /// Per stream: the members in front of its head at the beginning.
    std::array<uint32_t, numStreams> position = {};
    uint32_t tasks = 0; ///< that end in it
    int64_t runs = 0;
  };
  /// The end of a task that messages wait for, or whose buffers they use.
  struct Step {
    uint32_t event;
    uint32_t task;
  };
  /// The speed of a member from an offset on.
  struct Rate {
    Time offset;
    uint32_t task;
    Progress progress; ///< `since` is an offset
  };
  struct Member {
    uint32_t task;
    uint32_t endEvent; ///< none if it ends behind all events
    Time start, end;
    std::vector<uint32_t> dependencies; ///< members, by their number
    bool needsMessages;
  };

  std::vector<Part> parts; ///< as `stretches`
  std::vector<Step> steps;
  std::vector<Rate> rates; ///< ascending offsets
  std::vector<Member> members;
  Time duration = 0;
  /// Of the work item that it was recorded for.
  uint32_t past = 0;

  /// Behind all events: members in front of each head, and streams that run.
  std::array<uint32_t, numStreams> positionAtEnd = {};
  uint32_t runningAtEnd = 0;

  /// How a member that runs at an offset proceeds.
  Progress progressOf(uint32_t task, Time offset) const;
  /// When a member starts.
  Time startOf(uint32_t task) const;
};

/// The section that a class replays, if any.
struct ActiveReplay {
  SectionReplay *replay = nullptr;
  Time start = 0; ///< when its first kernel started, or would have
  uint32_t stretch = 0;
  uint32_t event = 0; ///< all before it have been told
  uint32_t nextStep = 0;
  uint32_t streams = 0; ///< whose heads are in it, as bits
  uint32_t version = 0; ///< of the event in the queue
};

class SectionReplays {
public:
  SectionReplays() = default;
  SectionReplays(const EngineState &state, const EngineOptions &options,
                 bool enabled);

  /// Where a replay can begin.
  struct Place {
    SectionReplay *replay = nullptr; ///< null: nowhere
    uint32_t stretch = 0;
  };
  /// Asks for the kernel at the head of a stream, which is about to start.
  Place find(uint32_t stream) { return enabled ? findFor(stream) : Place(); }

  void visitState(StateVisitor &visitor, std::vector<ClassState> &classes);
  llvm::ArrayRef<std::unique_ptr<SectionReplay>> all() const { return replays; }

  /// Whether messages use a buffer of the micro-template: what sections do to
  /// it is done in time.
  bool isInMessages(uint32_t classIndex, uint32_t buffer) const {
    return plans[classIndex].inMessages[buffer];
  }
  /// Messages between stages run on streams of their own.
  static bool isForMessages(Stream stream);

private:
  /// What is known of a section before the run.
  struct Plan {
    uint32_t firstKernel = ~0u; ///< no task if it is never replayed
    bool recorded = false;
    std::unique_ptr<SectionReplay> pending; ///< with members only
    SectionReplay *replay = nullptr;
    /// When the last member is launched, from the begin of the section.
    Time lastLaunched = 0;
  };
  struct ClassPlans {
    std::vector<Plan> sections;
    /// Per template and task: whether it cannot start before the kernels of an
    /// earlier work item have ended.
    std::vector<bool> follows[2];
    /// Streams, as bits, on which some task does not follow.
    uint32_t freeStreams = 0;
    /// Buffers of the micro-template that messages use.
    std::vector<bool> inMessages;
    /// Per task of the micro-template: the stretch it begins, or -1.
    std::vector<int32_t> stretchAt;
    /// Per work item: a number for the sections of its micro-batch that run
    /// before it and for those that run in another way. Items with the same one
    /// find the same users of buffers that no message uses.
    std::vector<uint32_t> pastOf;
    /// The work item for which `hasMessages` has been found to hold.
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
