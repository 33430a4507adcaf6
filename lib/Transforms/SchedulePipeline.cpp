//===- SchedulePipeline.cpp - the order of micro-batches --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus {
#define GEN_PASS_DEF_SCHEDULEPIPELINE
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using dist::SectionKind;
using dist::Work;

/// The order of one stage when at most `limit` micro-batches may be between
/// their forward and their backward: forwards until the limit is reached, then
/// a backward for every forward. With limit m this is GPipe; with limit p - s
/// for stage s of p it is 1F1B.
static SmallVector<Work> orderWithLimit(int64_t microBatches, int64_t limit) {
  SmallVector<Work> order;
  int64_t forwards = 0, backwards = 0;
  while (backwards < microBatches) {
    if (forwards < microBatches && forwards - backwards < limit)
      order.push_back({SectionKind::Forward, 0, forwards++});
    else
      order.push_back({SectionKind::Backward, 0, backwards++});
  }
  return order;
}

static SmallVector<Work> orderOf(dist::ProgramOp program, int64_t stage,
                                 int64_t stages) {
  int64_t microBatches = program.getMesh().getMicro();
  auto schedule = program->getAttrOfType<DictionaryAttr>(kScheduleAttr);
  auto name = schedule ? schedule.getAs<StringAttr>("order") : StringAttr();
  bool gpipe = name && name.getValue() == "gpipe";
  int64_t limit = gpipe ? microBatches : stages - stage;
  if (schedule)
    if (auto most = schedule.getAs<IntegerAttr>("max_ongoing"))
      limit = std::min(limit, most.getInt());

  bool hasBackward =
      static_cast<bool>(program.getSection(SectionKind::Backward));
  bool hasForward = static_cast<bool>(program.getSection(SectionKind::Forward));
  SmallVector<Work> order;
  if (hasForward && hasBackward)
    order = orderWithLimit(microBatches, limit);
  else if (hasForward || hasBackward)
    for (int64_t i = 0; i < microBatches; ++i)
      order.push_back(
          {hasForward ? SectionKind::Forward : SectionKind::Backward, 0, i});
  if (program.getSection(SectionKind::Update))
    order.push_back({SectionKind::Update, 0, std::nullopt});
  return order;
}

namespace {
class SchedulePipeline
    : public proteus::impl::SchedulePipelineBase<SchedulePipeline> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<dist::ProgramOp> programs(module.getOps<dist::ProgramOp>());
    // An order that the user wrote stands.
    if (programs.empty() || !module.getOps<dist::ScheduleOp>().empty())
      return;
    Builder builder(&getContext());
    SmallVector<Attribute> names, orders;
    for (auto [stage, program] : llvm::enumerate(programs)) {
      names.push_back(FlatSymbolRefAttr::get(program.getSymNameAttr()));
      orders.push_back(dist::OrderAttr::get(
          &getContext(), orderOf(program, stage, programs.size())));
      program->removeDiscardableAttr(kScheduleAttr);
      program->removeDiscardableAttr(kBucketAttr);
    }
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    dist::ScheduleOp::create(end, module.getLoc(), "schedule",
                             builder.getArrayAttr(names),
                             builder.getArrayAttr(orders),
                             /*sym_visibility=*/StringAttr());
  }
};
} // namespace
