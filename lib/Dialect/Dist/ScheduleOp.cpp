//===- ScheduleOp.cpp - verification of schedules -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace proteus::dist;

static bool isGradient(SectionKind kind) {
  return kind == SectionKind::Backward || kind == SectionKind::InputGradient ||
         kind == SectionKind::WeightGradient;
}

/// Calls `visit` with every forward work item and the number of (chunk,
/// micro-batch) pairs that are in flight while it runs, including the pair of
/// the item. Skips chunks without gradients.
static void
countOngoing(ArrayRef<Work> items,
             llvm::function_ref<void(const Work &, int64_t)> visit) {
  std::map<std::pair<int64_t, int64_t>, size_t> lastGradient;
  for (auto [index, work] : llvm::enumerate(items))
    if (isGradient(work.kind))
      lastGradient[{work.chunk, *work.micro}] = index;
  int64_t ongoing = 0;
  for (auto [index, work] : llvm::enumerate(items)) {
    if (!work.micro)
      continue;
    auto it = lastGradient.find({work.chunk, *work.micro});
    if (it == lastGradient.end())
      continue;
    if (work.kind == SectionKind::Forward)
      visit(work, ++ongoing);
    else if (it->second == index)
      --ongoing;
  }
}

int64_t ScheduleOp::maxOngoing(unsigned program) {
  int64_t most = 0;
  countOngoing(getWork(program), [&](const Work &, int64_t ongoing) {
    most = std::max(most, ongoing);
  });
  return most;
}

std::optional<Work> ScheduleOp::firstBeyond(unsigned program, int64_t limit) {
  std::optional<Work> first;
  countOngoing(getWork(program), [&](const Work &work, int64_t ongoing) {
    if (ongoing > limit && !first)
      first = work;
  });
  return first;
}

LogicalResult ScheduleOp::verify() {
  if (getPrograms().size() != getOrder().size())
    return emitOpError("has ") << getPrograms().size() << " programs and "
                               << getOrder().size() << " orders";
  SetVector<Attribute> distinct;
  for (Attribute program : getPrograms())
    if (!distinct.insert(program))
      return emitOpError("lists program ") << program << " twice";
  return success();
}

namespace {
/// Verifies the order of one program, item by item.
class OrderVerifier {
public:
  OrderVerifier(ScheduleOp schedule, ProgramOp program)
      : schedule(schedule), program(program) {}

  LogicalResult run(ArrayRef<Work> items) {
    for (const Work &work : items) {
      if (failed(verifyItem(work)))
        return failure();
      if (!done.insert(work))
        return error() << formatWork(work) << " is listed twice";
      if (failed(verifyPrecedence(work)))
        return failure();
    }
    return verifyComplete();
  }

private:
  InFlightDiagnostic error() {
    return schedule.emitOpError("order of @") << program.getSymName() << ": ";
  }

  int64_t getMicro() { return program.getMesh().getMicro(); }

  LogicalResult verifyItem(const Work &work) {
    SectionOp section = program.getSection(work.kind, work.chunk);
    if (!section)
      return error() << formatWork(work) << " names the '"
                     << stringifySectionKind(work.kind) << "' section of chunk "
                     << work.chunk << ", which the program does not have";
    if (section.getOnce() && work.micro)
      return error() << formatWork(work)
                     << " names a micro-batch of a section that runs once";
    if (!section.getOnce() && !work.micro)
      return error() << formatWork(work) << " names no micro-batch";
    if (work.micro && *work.micro >= getMicro())
      return error() << formatWork(work) << " is outside the " << getMicro()
                     << " micro-batches of the mesh";
    return success();
  }

  /// Checks that the section of kind `earlier`, for the same chunk and
  /// micro-batch, runs before `work`, if the program has such a section.
  LogicalResult verifyAfter(const Work &work, SectionKind earlier) {
    Work needed{earlier, work.chunk, work.micro};
    if (!program.getSection(earlier, work.chunk) || done.contains(needed))
      return success();
    return error() << formatWork(work) << " comes before "
                   << formatWork(needed);
  }

  /// Checks that `work` runs after the sections from which it uses values, for
  /// the same micro-batch. An item without a micro-batch needs no check,
  /// because it is an update, which runs after all items with a micro-batch.
  LogicalResult verifyUses(const Work &work) {
    if (!work.micro)
      return success();
    SectionOp section = program.getSection(work.kind, work.chunk);
    for (SectionOp producer : getProducers(section)) {
      Work needed{producer.getKind(), producer.getChunkNumber(), work.micro};
      if (!done.contains(needed))
        return error() << formatWork(work) << " uses values of "
                       << formatWork(needed) << " but comes before it";
    }
    return success();
  }

  /// Returns the sections from which `section` uses values.
  const SetVector<SectionOp> &getProducers(SectionOp section) {
    auto [entry, isNew] = producers.try_emplace(section);
    SetVector<SectionOp> &found = entry->second;
    if (isNew)
      section.getBody().walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (auto producer = operand.getDefiningOp<SectionOp>())
            found.insert(producer);
      });
    return found;
  }

  LogicalResult verifyPrecedence(const Work &work) {
    if (isGradient(work.kind) &&
        failed(verifyAfter(work, SectionKind::Forward)))
      return failure();
    if (work.kind == SectionKind::WeightGradient &&
        failed(verifyAfter(work, SectionKind::InputGradient)))
      return failure();
    if (work.kind != SectionKind::Update && updated)
      return error() << formatWork(work) << " comes after the update "
                     << formatWork(*updated);
    if (work.kind == SectionKind::Update)
      updated = work;
    return verifyUses(work);
  }

  LogicalResult verifyComplete() {
    for (SectionOp section : program.getSections()) {
      Work work{section.getKind(), section.getChunkNumber()};
      int64_t count = section.getOnce() ? 1 : getMicro();
      for (int64_t micro = 0; micro < count; ++micro) {
        if (!section.getOnce())
          work.micro = micro;
        if (!done.contains(work))
          return error() << formatWork(work) << " is missing";
      }
    }
    return success();
  }

  ScheduleOp schedule;
  ProgramOp program;
  WorkSet done;
  std::optional<Work> updated;
  DenseMap<Operation *, SetVector<SectionOp>> producers;
};
} // namespace

SmallVector<ProgramOp> ScheduleOp::lookupPrograms() {
  SmallVector<ProgramOp> programs;
  for (auto name : getPrograms().getAsRange<FlatSymbolRefAttr>())
    programs.push_back(
        SymbolTable::lookupNearestSymbolFrom<ProgramOp>(*this, name));
  return programs;
}

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  ProgramOp first;
  for (auto [index, attr] : llvm::enumerate(getPrograms())) {
    auto reference = cast<FlatSymbolRefAttr>(attr);
    auto program = symbolTable.lookupNearestSymbolFrom<ProgramOp>(
        getOperation(), reference);
    if (!program)
      return emitOpError("names ") << reference << ", which is no dist.program";
    if (!first)
      first = program;
    if (program.getMesh() != first.getMesh())
      return emitOpError("program ")
             << reference << " is on the mesh " << program.getMesh() << ", @"
             << first.getSymName() << " on " << first.getMesh();
    if (failed(OrderVerifier(*this, program).run(getWork(index))))
      return failure();
  }
  return success();
}
