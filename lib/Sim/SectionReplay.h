//===- SectionReplay.h - sections that run as before ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage does the same for every micro-batch: its forward section, its
// backward section. What its kernels and the collectives among its own ranks do
// within a section is a function of the section alone if
//
// - nothing of the class runs when the first kernel starts, and nothing but the
//   section can start before its last kernel ends,
// - all that the section needs from outside is there, and launched,
// - no message of the class disturbs kernels, and its links are its own or
//   never full.
//
// Such a section is simulated once, apart, and then replayed as a whole: one
// event per point in time at which others feel something of it, and one at its
// end, after which the state is that of a run task by task. Messages between
// stages go on meanwhile, on streams of their own.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_SECTIONREPLAY_H
#define PROTEUS_LIB_SIM_SECTIONREPLAY_H

#include "FlatWorkload.h"

#include "Proteus/Sim/Engine.h"

#include <memory>
#include <vector>

namespace proteus::sim {

struct EngineState;
struct ClassState;

/// A trace, and what it does to the frame of its micro-batch.
struct SectionReplay : SectionTrace {
  /// A task that belongs to the section and the dependencies it has in it.
  struct Member {
    uint32_t task;
    uint32_t dependencies;
  };
  /// A task that others wait for, or that uses a buffer they use.
  struct Step {
    Time offset; ///< of its end
    uint32_t task;
  };
  /// A task of another section that waits for members.
  struct Waiting {
    uint32_t task;
    uint32_t dependencies; ///< on members
    Time offset;           ///< of the end of the last of those
  };
  struct Use {
    uint32_t buffer;
    uint32_t before; ///< users when the section starts
    uint32_t within; ///< users in the section; 0 if they are told by steps
  };

  std::vector<Member> members;
  std::vector<Step> steps; ///< ascending offsets
  std::vector<Waiting> waiting;
  std::vector<Use> uses;
  uint32_t streams = 0; ///< of members, as bits
  int64_t runs = 0;
};

/// The section that a class replays, if any.
struct ActiveReplay {
  const SectionReplay *replay = nullptr;
  Time start = 0;
  uint32_t nextStep = 0;
};

class SectionReplays {
public:
  SectionReplays() = default;
  SectionReplays(const EngineState &state, const EngineOptions &options,
                 bool enabled);

  /// What the section does whose first kernel is at the head of a stream and
  /// about to start; null if it must be simulated.
  SectionReplay *find(uint32_t stream) {
    return enabled ? findFor(stream) : nullptr;
  }
  /// Does to the frame what remains to be done at the end of a section.
  void finish(ClassState &c, uint32_t slot) const;

  void visitState(StateVisitor &visitor, std::vector<ClassState> &classes);
  llvm::ArrayRef<std::unique_ptr<SectionReplay>> all() const { return replays; }

  /// Whether messages use a buffer of the micro-template: what sections do to
  /// it is told in time.
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
    SectionReplay *replay = nullptr; ///< null if recording showed it cannot be
    std::vector<SectionReplay::Member> members;
    uint32_t lastOrdinal = 0; ///< of the last member to be launched
  };
  struct ClassPlans {
    std::vector<Plan> sections;
    /// Per template and task: whether it cannot start before the kernels of an
    /// earlier work item have ended.
    std::vector<bool> follows[2];
    /// Buffers of the micro-template that messages use.
    std::vector<bool> inMessages;
  };

  SectionReplay *findFor(uint32_t stream);
  bool isAlone(uint32_t classIndex, uint32_t item) const;
  void planClass(uint32_t classIndex, const std::vector<bool> &disturbed);
  bool planSection(uint32_t classIndex, uint32_t section, Plan &plan,
                   const std::vector<bool> &disturbed) const;
  std::vector<bool> disturbedLinks() const;
  std::unique_ptr<SectionReplay> record(uint32_t classIndex, uint32_t section,
                                        uint32_t slot) const;
  void describeEffects(SectionReplay &replay, llvm::ArrayRef<Time> ends,
                       uint32_t slot) const;
  void tellMemory(SectionReplay &replay, uint32_t slot) const;

  const EngineState *state = nullptr;
  EngineOptions options;
  bool enabled = false;
  std::vector<ClassPlans> plans;
  std::vector<std::unique_ptr<SectionReplay>> replays;
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_SECTIONREPLAY_H
