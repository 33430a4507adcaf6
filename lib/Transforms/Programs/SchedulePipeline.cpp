//===- SchedulePipeline.cpp - the order of micro-batches --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Schedules.h"
#include "Proteus/Transforms/Programs/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#include <set>

namespace proteus {
#define GEN_PASS_DEF_SCHEDULEPIPELINE
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using dist::SectionKind;
using dist::Work;

static bool hasGradients(dist::ProgramOp program, int64_t chunk) {
  return program.getSection(SectionKind::Backward, chunk) ||
         program.getSection(SectionKind::InputGradient, chunk) ||
         program.getSection(SectionKind::WeightGradient, chunk);
}

/// Returns the work that a program does for an item of a listed order, or
/// nullopt if it does none. A listed order may contain items for which a
/// program has no section, because a chunk is empty or needs no gradients. If a
/// backward pass could not be split, the whole pass runs at its `I` item (input
/// gradients), and its `W` item (weight gradients) is dropped. An invalid item
/// is returned unchanged, because the verifier of the schedule reports it.
static std::optional<Work> resolve(dist::ProgramOp program, int64_t chunks,
                                   const Work &work) {
  bool isForward = work.kind == SectionKind::Forward;
  if (program.getSection(work.kind, work.chunk) || !work.micro ||
      *work.micro >= program.getMesh().getMicro() || work.chunk >= chunks ||
      work.kind == SectionKind::Update)
    return work;
  // Without training there are no gradients, so the item is invalid.
  if (!isForward && !program->hasAttr(nn::kTrainingAttr))
    return work;
  if (isForward || !hasGradients(program, work.chunk))
    return std::nullopt;
  // The backward pass is split, but the item is the whole pass, which is
  // invalid.
  if (!program.getSection(SectionKind::Backward, work.chunk))
    return work;
  if (work.kind == SectionKind::WeightGradient)
    return std::nullopt;
  return Work{SectionKind::Backward, work.chunk, work.micro};
}

/// Returns the work of a program in the order that the tree lists, without the
/// update. Fails if the list contains an item that is not a work item. Also
/// fails if an item that `resolve` drops or replaces is listed twice, or before
/// its input gradients.
static FailureOr<SmallVector<Work>>
listedOrder(dist::ProgramOp program, ArrayAttr items, int64_t chunks) {
  SmallVector<Work> order;
  std::set<Work> listed;
  auto error = [&](const Work &work) {
    return program.emitOpError("order: ") << dist::formatWork(work);
  };
  for (StringAttr item : items.getAsRange<StringAttr>()) {
    std::optional<Work> work = dist::parseWork(item);
    if (!work)
      return program.emitOpError("order: '")
             << item.getValue() << "' is no item of a schedule";
    std::optional<Work> own = resolve(program, chunks, *work);
    bool isNew = listed.insert(*work).second;
    // Items that are dropped or replaced do not reach the verifier of the
    // schedule, so they are checked here.
    if (!(own == work)) {
      if (!isNew)
        return error(*work) << " is listed twice";
      Work input{SectionKind::InputGradient, work->chunk, work->micro};
      if (work->kind == SectionKind::WeightGradient && !listed.count(input))
        return error(*work) << " comes before " << dist::formatWork(input);
    }
    if (own)
      order.push_back(*own);
  }
  return order;
}

/// Returns one work item per micro-batch for each section that runs per
/// micro-batch.
static SmallVector<Work> allWork(dist::ProgramOp program) {
  SmallVector<Work> work;
  for (dist::SectionOp section : program.getSections())
    if (!section.getOnce())
      for (int64_t micro = 0; micro < program.getMesh().getMicro(); ++micro)
        work.push_back({section.getKind(), section.getChunkNumber(), micro});
  return work;
}

static FailureOr<SmallVector<Work>> orderOf(dist::ProgramOp program,
                                            int64_t stage, int64_t stages) {
  dist::ScheduleRequestAttr request = program.getStepOrDefault().getSchedule();
  StageShape shape{stage, stages, request.getVirtualStages(),
                   program.getMesh().getMicro(), request.getMaxOngoing()};
  SmallVector<Work> order;
  if (ArrayAttr listed = request.getOrders()) {
    if (stage >= static_cast<int64_t>(listed.size()))
      return program.emitOpError("is stage ")
             << stage << ", but its step lists the orders of " << listed.size()
             << " stages";
    auto items =
        listedOrder(program, cast<ArrayAttr>(listed[stage]), shape.chunks);
    if (failed(items))
      return failure();
    order = std::move(*items);
  } else {
    const PipelineSchedule &rule = getSchedule(request.getOrder());
    if (std::optional<std::string> reason = rule.whyNot(shape))
      return program.emitOpError("order \"")
             << plan::stringifyScheduleOrder(request.getOrder())
             << "\" does not fit: " << *reason;
    order = allWork(program);
    llvm::sort(order, [&](const Work &a, const Work &b) {
      return rule.isBefore(shape, a, b);
    });
  }
  if (program.getSection(SectionKind::Update))
    order.push_back({SectionKind::Update, 0, std::nullopt});
  return order;
}

/// Fails if a listed order has more than `max_ongoing` pairs of chunk and
/// micro-batch in flight. The verifier of the schedule does not check this.
static LogicalResult checkOngoing(dist::ScheduleOp schedule, unsigned stage,
                                  dist::ProgramOp program) {
  dist::ScheduleRequestAttr request = program.getStepOrDefault().getSchedule();
  std::optional<int64_t> most = request.getMaxOngoing();
  if (!most || !request.getOrders() || schedule.maxOngoing(stage) <= *most)
    return success();
  return program.emitOpError("order of stage ")
         << stage << " has " << schedule.maxOngoing(stage)
         << " micro-batches in flight, first with "
         << dist::formatWork(*schedule.firstBeyond(stage, *most))
         << ", more than max_ongoing = " << *most;
}

namespace {
class SchedulePipeline
    : public proteus::impl::SchedulePipelineBase<SchedulePipeline> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<dist::ProgramOp> programs(module.getOps<dist::ProgramOp>());
    // An existing schedule is kept.
    if (!module.getOps<dist::ScheduleOp>().empty())
      return;
    if (programs.empty()) {
      module.emitError("there is no dist.program to schedule; run split-stages "
                       "first");
      return signalPassFailure();
    }
    Builder builder(&getContext());
    SmallVector<Attribute> names, orders;
    for (auto [stage, program] : llvm::enumerate(programs)) {
      names.push_back(FlatSymbolRefAttr::get(program.getSymNameAttr()));
      FailureOr<SmallVector<Work>> order =
          orderOf(program, stage, programs.size());
      if (failed(order))
        return signalPassFailure();
      orders.push_back(dist::OrderAttr::get(&getContext(), *order));
    }
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    auto schedule = dist::ScheduleOp::create(
        end, programs.front().getLoc(), "schedule", builder.getArrayAttr(names),
        builder.getArrayAttr(orders), /*sym_visibility=*/StringAttr());
    // Verify the schedule here, because an order that the tree lists may be
    // wrong.
    SymbolTableCollection symbols;
    if (failed(schedule.verifySymbolUses(symbols)))
      return signalPassFailure();
    for (auto [stage, program] : llvm::enumerate(programs))
      if (failed(checkOngoing(schedule, stage, program)))
        return signalPassFailure();
    for (dist::ProgramOp program : programs)
      program.setStepSettings(program.getStepOrDefault().withSchedule(
          dist::ScheduleRequestAttr::get(&getContext())));
  }
};
} // namespace
