//===- VerifyPrograms.cpp - consistency of programs -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Verify/VerifyPrograms.h"

#include "Proteus/Dialect/Dist/Layout.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;
using namespace proteus;

namespace {
/// The two ends of a message between programs.
struct Message {
  dist::SendOp send;
  dist::RecvOp recv;
  unsigned sender = 0, receiver = 0;
};
} // namespace

static std::map<int64_t, Message>
collectMessages(ArrayRef<dist::ProgramOp> programs) {
  std::map<int64_t, Message> messages;
  for (unsigned stage = 0; stage < programs.size(); ++stage) {
    dist::ProgramOp program = programs[stage];
    program.walk([&](Operation *op) {
      if (auto send = dyn_cast<dist::SendOp>(op)) {
        messages[send.getTag()].send = send;
        messages[send.getTag()].sender = stage;
      } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
        messages[recv.getTag()].recv = recv;
        messages[recv.getTag()].receiver = stage;
      }
    });
  }
  return messages;
}

/// Returns true if the programs are the stages of one pipeline, in order.
static bool verifyStages(ArrayRef<dist::ProgramOp> programs) {
  bool valid = true;
  std::optional<dist::Axis> pipelineAxis;
  for (unsigned stage = 0; stage < programs.size(); ++stage) {
    dist::ProgramOp program = programs[stage];
    auto fixed = program.getFixed();
    if (fixed.size() > 1) {
      program.emitOpError("is fixed along ")
          << fixed.size() << " axes; a pipeline lies along one";
      valid = false;
      continue;
    }
    const dist::Mesh &mesh = program.getMesh().getValue();
    if (!fixed.empty()) {
      if (pipelineAxis && *pipelineAxis != fixed.front().first) {
        program.emitOpError("lies along the axis '")
            << mesh.getName(fixed.front().first)
            << "', but the pipeline along '" << mesh.getName(*pipelineAxis)
            << "'";
        valid = false;
        continue;
      }
      pipelineAxis = fixed.front().first;
    }
    int64_t stages = fixed.empty() ? 1 : mesh.getSize(fixed.front().first);
    int64_t position = fixed.empty() ? 0 : fixed.front().second;
    if (stages != static_cast<int64_t>(programs.size()) ||
        position != static_cast<int64_t>(stage)) {
      program.emitOpError("is at position ")
          << position << " of " << stages << ", but is program " << stage
          << " of " << programs.size()
          << "; every position of the pipeline axis needs one program, in "
             "order";
      valid = false;
    }
  }
  return valid;
}

/// Returns true if no two sends, and no two receives, have the same tag.
static bool verifyTags(ArrayRef<dist::ProgramOp> programs) {
  bool valid = true;
  std::map<std::pair<int64_t, bool>, Operation *> ends;
  auto check = [&](Operation *op, int64_t tag, bool send) {
    auto [entry, isNew] = ends.try_emplace({tag, send}, op);
    if (isNew)
      return;
    InFlightDiagnostic diagnostic = op->emitOpError("the tag ")
                                    << tag << " is in use";
    diagnostic.attachNote(entry->second->getLoc()) << "used here as well";
    valid = false;
  };
  for (dist::ProgramOp program : programs)
    program.walk([&](Operation *op) {
      if (auto send = dyn_cast<dist::SendOp>(op))
        check(op, send.getTag(), true);
      else if (auto recv = dyn_cast<dist::RecvOp>(op))
        check(op, recv.getTag(), false);
    });
  return valid;
}

/// Returns the type of `value` without the fixed coordinates in its layout.
/// Fixed coordinates name the stage, so they differ between the two ends of a
/// message.
static Type typeAnywhere(Value value) {
  dist::LayoutAttr layout = dist::getLayout(value.getType());
  return dist::withLayout(cast<RankedTensorType>(value.getType()),
                          layout.withFixed({}));
}

/// Returns true if every reduction across stages is in the update section of
/// all its stages, with the same list of stages and the same type.
static bool verifyStageReductions(ArrayRef<dist::ProgramOp> programs) {
  bool valid = true;
  std::map<int64_t, std::map<unsigned, dist::StageReduceOp>> reductions;
  for (unsigned stage = 0; stage < programs.size(); ++stage) {
    dist::ProgramOp program = programs[stage];
    program.walk([&](dist::StageReduceOp op) {
      auto section = dyn_cast<dist::SectionOp>(op->getParentOp());
      if (!section || !section.getOnce()) {
        op.emitOpError("must be directly in the update section");
        valid = false;
      }
      if (!reductions[op.getTag()].try_emplace(stage, op).second) {
        op.emitOpError("the tag ")
            << op.getTag() << " is in use in stage " << stage;
        valid = false;
      }
    });
  }
  for (auto &[tag, members] : reductions) {
    dist::StageReduceOp first = members.begin()->second;
    for (auto &[stage, op] : members) {
      if (op.getStages() != first.getStages() ||
          typeAnywhere(op.getInput()) != typeAnywhere(first.getInput())) {
        InFlightDiagnostic diagnostic =
            op.emitOpError("the reduction with tag ")
            << tag << " differs from that of stage " << members.begin()->first;
        diagnostic.attachNote(first.getLoc()) << "which is here";
        valid = false;
      }
      if (!llvm::is_contained(op.getStages(), static_cast<int64_t>(stage))) {
        op.emitOpError("the reduction with tag ")
            << tag << " leaves out its own stage " << stage;
        valid = false;
      }
    }
    for (int64_t stage : first.getStages())
      if (!members.count(stage)) {
        first.emitOpError("the reduction with tag ")
            << tag << " is missing in stage " << stage;
        valid = false;
      }
  }
  return valid;
}

bool proteus::verifyPrograms(ArrayRef<dist::ProgramOp> programs) {
  if (!verifyStages(programs) || !verifyTags(programs) ||
      !verifyStageReductions(programs))
    return false;
  bool valid = true;
  for (auto &[tag, message] : collectMessages(programs)) {
    if (!message.send || !message.recv) {
      Operation *end = message.send ? message.send.getOperation()
                                    : message.recv.getOperation();
      end->emitOpError("the message with tag ") << tag << " has no other end";
      valid = false;
      continue;
    }
    if (message.sender == message.receiver) {
      message.send.emitOpError("the message with tag ")
          << tag << " stays in stage " << message.sender;
      valid = false;
      continue;
    }
    if (message.send.getStage() != message.receiver ||
        message.recv.getStage() != message.sender) {
      message.send.emitOpError("the message with tag ")
          << tag << " goes to stage " << message.send.getStage()
          << " but is received by stage " << message.receiver << " from stage "
          << message.recv.getStage();
      valid = false;
    }
    if (typeAnywhere(message.send.getValue()) !=
        typeAnywhere(message.recv.getValue())) {
      message.send.emitOpError("the message with tag ")
          << tag << " is sent as " << message.send.getValue().getType()
          << " but received as " << message.recv.getValue().getType();
      valid = false;
    }
  }
  return valid;
}

bool proteus::verifySchedule(dist::ScheduleOp schedule) {
  SmallVector<dist::ProgramOp> programs = schedule.lookupPrograms();
  // For each section, the sections that send messages to it. All of these must
  // run for a micro-batch before the section runs for the same micro-batch.
  using Section = std::tuple<unsigned, dist::SectionKind, int64_t>;
  auto sectionOf = [](unsigned stage, Operation *message) -> Section {
    auto section = message->getParentOfType<dist::SectionOp>();
    return {stage, section.getKind(), section.getChunkNumber()};
  };
  std::map<Section, std::set<Section>> before;
  for (auto &[tag, message] : collectMessages(programs)) {
    // Skip messages between updates. The updates of all stages run at the same
    // time and exchange scalars of the gradients, such as norms, so none of
    // them has to end before another one starts.
    if (message.recv->getParentOfType<dist::SectionOp>().getOnce() &&
        message.send->getParentOfType<dist::SectionOp>().getOnce())
      continue;
    before[sectionOf(message.receiver, message.recv)].insert(
        sectionOf(message.sender, message.send));
  }
  std::vector<dist::WorkSet> done(programs.size());
  std::vector<size_t> next(programs.size(), 0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (unsigned stage = 0; stage < programs.size(); ++stage) {
      ArrayRef<dist::Work> order = schedule.getWork(stage);
      while (next[stage] < order.size()) {
        dist::Work work = order[next[stage]];
        bool ready = llvm::all_of(
            before[{stage, work.kind, work.chunk}], [&](const Section &other) {
              auto [sender, kind, chunk] = other;
              return done[sender].contains({kind, chunk, work.micro});
            });
        if (!ready)
          break;
        done[stage].insert(work);
        ++next[stage];
        progress = true;
      }
    }
  }
  SmallVector<unsigned> stuck;
  for (unsigned stage = 0; stage < programs.size(); ++stage)
    if (next[stage] != schedule.getWork(stage).size())
      stuck.push_back(stage);
  if (stuck.empty())
    return true;
  InFlightDiagnostic diagnostic = schedule.emitOpError(
      "can't run to its end: the orders of the stages wait for each other");
  for (unsigned stage : stuck)
    diagnostic.attachNote(dist::ProgramOp(programs[stage]).getLoc())
        << "stage " << stage << " waits before "
        << dist::formatWork(schedule.getWork(stage)[next[stage]]);
  return false;
}
