//===- TreeSettings.cpp - plan fields in a strategy tree ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/TreeSettings.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Plan/PlanBuckets.h"
#include "Proteus/Plan/PlanFields.h"

using namespace mlir;
using namespace proteus;
using plan::ParallelPlan;

/// Returns the first operation of type `OpT` anywhere in the tree, or null.
template <typename OpT> static OpT findAnywhere(strategy::TreeOp tree) {
  OpT found;
  tree.walk([&](OpT op) {
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *proteus::findSetting(strategy::TreeOp tree,
                                const plan::Field &field) {
  StringRef name = field.member;
  auto ifSet = [](auto op, bool isSet) -> Operation * {
    return op && isSet ? op.getOperation() : nullptr;
  };
  strategy::ScheduleOp schedule = tree.getSchedule();
  if (name == "accumulation")
    return schedule;
  if (name == "schedule")
    return ifSet(schedule, schedule && schedule.getOrder());
  if (name == "virtualStages")
    return ifSet(schedule, schedule && schedule.getVirtualStages());
  strategy::BucketOp bucket = tree.getBucket();
  if (name == "gradientReduction")
    return ifSet(bucket, bucket && bucket.getReduction());
  if (name == "bucketRule")
    return ifSet(bucket, bucket && (bucket.getSize() || bucket.getFirst() ||
                                    bucket.getPerLayer()));
  if (name == "bucketSize")
    return ifSet(bucket, bucket && (bucket.getSize() || bucket.getPerLayer()));
  if (name == "firstBucketSize")
    return ifSet(bucket, bucket && (bucket.getFirst() || bucket.getPerLayer()));
  if (name == "gatherBucketSize" || name == "gatherPerParameter")
    return ifSet(bucket, bucket && (bucket.getGather() ||
                                    bucket.getGatherPerParameter()));
  if (name == "allReduceGradients")
    return ifSet(bucket, bucket && bucket.getAllReduce());
  strategy::OverlapOp overlap = tree.getOverlap();
  if (name == "tensorOverlap" || name == "overlapChunks")
    return ifSet(overlap, overlap && overlap.getTensor());
  if (name == "overlapMessages")
    return ifSet(overlap, overlap && overlap.getMessages());
  if (name == "reductionsInFlight")
    return ifSet(overlap, overlap && overlap.getReductions());
  if (name == "scatterMessages")
    return tree.getScatterGather();
  if (name == "offloadWeight" || name == "offloadState" ||
      name == "offloadActivation")
    return findAnywhere<strategy::OffloadOp>(tree);
  if (name == "prefetch" || name == "reshardAfterForward")
    return findAnywhere<strategy::PrefetchOp>(tree);
  if (name == "recompute")
    if (auto recompute = findAnywhere<strategy::RecomputeOp>(tree))
      return recompute;
  return tree.getMesh();
}

int64_t proteus::getGradientBytes(func::FuncOp function) {
  auto bytesOf = [](Type type) -> int64_t {
    return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
  };
  if (auto training =
          function->getAttrOfType<nn::TrainingAttr>(nn::kTrainingAttr))
    if (Type gradient = training.getGradient())
      return bytesOf(gradient);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<StringAttr>(i, nn::kRoleAttr);
    if (role && nn::parseRole(role) == nn::Role::Parameter)
      return bytesOf(getElementTypeOrSelf(function.getArgumentTypes()[i]));
  }
  return bytesOf(Float32Type::get(function.getContext()));
}

namespace {
/// Writes the fields of one plan that are settings of the step, such as the
/// schedule and the buckets, into one tree.
class SettingWriter {
public:
  SettingWriter(strategy::TreeOp tree, const ParallelPlan &plan)
      : tree(tree), stated(plan), builder(tree.getContext()),
        loc(tree.getLoc()) {
    // New settings are inserted after the mesh and the existing settings.
    last = tree.getMesh();
    for (Operation *op : {static_cast<Operation *>(tree.getSchedule()),
                          static_cast<Operation *>(tree.getBucket()),
                          static_cast<Operation *>(tree.getScatterGather()),
                          static_cast<Operation *>(tree.getOverlap())})
      if (op && last->isBeforeInBlock(op))
        last = op;
  }

  void writeSchedule();
  void writeBuckets(int64_t elementBytes);
  void writeOverlap();
  void writeStorage();

private:
  /// Creates an operation of type `OpT` after the last setting.
  template <typename OpT> OpT create() {
    builder.setInsertionPointAfter(last);
    OperationState state(loc, OpT::getOperationName());
    auto op = cast<OpT>(builder.create(state));
    last = op;
    return op;
  }
  IntegerAttr integer(std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  }

  strategy::TreeOp tree;
  const ParallelPlan &stated;
  OpBuilder builder;
  Location loc;
  Operation *last;
};
} // namespace

void SettingWriter::writeSchedule() {
  if (!stated.accumulation && !stated.schedule && !stated.virtualStages)
    return;
  strategy::ScheduleOp op = tree.getSchedule();
  if (!op) {
    op = create<strategy::ScheduleOp>();
    op.setMicroBatches(stated.accumulation.value_or(1));
  }
  if (stated.schedule)
    op.setOrder(plan::stringifyScheduleOrder(*stated.schedule));
  if (stated.virtualStages)
    op.setVirtualStagesAttr(integer(stated.virtualStages));
}

void SettingWriter::writeBuckets(int64_t elementBytes) {
  plan::ResolvedPlan resolved = plan::resolve(stated);
  plan::Buckets buckets = plan::bucketsOf(resolved, elementBytes);
  bool isLate =
      resolved.gradientReduction != plan::GradientReduction::Overlapped;
  if (!buckets.areStated() && !isLate && !stated.gatherBucketSize &&
      !resolved.gatherPerParameter && !resolved.allReduceGradients)
    return;
  strategy::BucketOp op = tree.getBucket();
  if (!op)
    op = create<strategy::BucketOp>();
  if (buckets.size)
    op.setSizeAttr(integer(buckets.size));
  if (buckets.first)
    op.setFirstAttr(integer(buckets.first));
  if (buckets.perLayer)
    op.setPerLayer(true);
  // A bucket without sizes states its reduction, even the default one.
  if (isLate || !buckets.areStated())
    op.setReduction(
        plan::stringifyGradientReduction(resolved.gradientReduction));
  if (stated.gatherBucketSize)
    op.setGatherAttr(integer(stated.gatherBucketSize));
  if (resolved.gatherPerParameter)
    op.setGatherPerParameter(true);
  if (resolved.allReduceGradients)
    op.setAllReduce(true);
}

void SettingWriter::writeOverlap() {
  if (stated.scatterMessages == true && !tree.getScatterGather())
    create<strategy::ScatterGatherOp>();
  if (!stated.tensorOverlap && !stated.overlapMessages &&
      !stated.reductionsInFlight)
    return;
  strategy::OverlapOp op = tree.getOverlap();
  if (!op)
    op = create<strategy::OverlapOp>();
  if (stated.tensorOverlap)
    op.setTensor(plan::stringifyTensorOverlap(*stated.tensorOverlap));
  if (stated.overlapChunks)
    op.setChunksAttr(integer(stated.overlapChunks));
  if (stated.overlapMessages)
    op.setMessages(*stated.overlapMessages);
  if (stated.reductionsInFlight)
    op.setReductionsAttr(integer(stated.reductionsInFlight));
}

void SettingWriter::writeStorage() {
  plan::ResolvedPlan resolved = plan::resolve(stated);
  // Insert prefetch and offload after all other settings of the tree and before
  // its nodes.
  for (Operation &op : tree.getBody().front())
    if (!isa<strategy::NodeOp>(op))
      last = &op;
  if (stated.prefetch || !resolved.reshardAfterForward) {
    auto op = create<strategy::PrefetchOp>();
    op.setDepthAttr(integer(stated.prefetch));
    if (!resolved.reshardAfterForward)
      op.setReshardAfterForward(false);
  }
  if (resolved.offloadWeight || resolved.offloadState ||
      resolved.offloadActivation) {
    auto op = create<strategy::OffloadOp>();
    op.setWeight(resolved.offloadWeight);
    op.setState(resolved.offloadState);
    op.setActivation(resolved.offloadActivation);
  }
}

void proteus::writeStepSettings(strategy::TreeOp tree, const ParallelPlan &plan,
                                int64_t elementBytes) {
  SettingWriter writer(tree, plan);
  writer.writeSchedule();
  writer.writeBuckets(elementBytes);
  writer.writeOverlap();
  writer.writeStorage();
}

void proteus::addSettings(strategy::TreeOp tree, ParallelPlan plan,
                          func::FuncOp model) {
  // The bucket sizes of some rules depend on the number of replicas, which
  // follows from the mesh.
  for (auto axis : tree.getMesh().getAxes().getAsRange<strategy::AxisAttr>()) {
    if (axis.getName() == "dp")
      plan.dp = axis.getSize();
    if (axis.getName() == "cp")
      plan.cp = axis.getSize();
  }
  writeStepSettings(tree, plan, getGradientBytes(model));
}

/// Returns true if a decision of a stack about `field` can be added to a tree:
/// `field` is a setting of the step and does not depend on the splits of the
/// tree.
static bool isStepSetting(const plan::Field &field) {
  return llvm::is_contained({"tensorOverlap", "overlapMessages",
                             "scatterMessages", "gradientReduction",
                             "bucketRule"},
                            StringRef(field.member));
}

std::vector<std::string> proteus::addStackSettings(strategy::TreeOp tree,
                                                   const machine::Stack &stack,
                                                   func::FuncOp model) {
  std::vector<std::string> left;
  if (tree->getDiscardableAttr(kStackAttr))
    return left;
  tree->setDiscardableAttr(kStackAttr,
                           StringAttr::get(tree.getContext(), stack.name));
  ParallelPlan open;
  for (const plan::Field &field : plan::fields()) {
    std::optional<std::string> value = field.get(stack.plan.plan);
    if (!value || *value == field.defaultText)
      continue;
    if (!isStepSetting(field))
      left.push_back(field.stackKey + "=" + *value);
    else if (!findSetting(tree, field))
      llvm::cantFail(field.set(open, *value));
  }
  if (stack.plan.zeroPerParameter)
    left.push_back("zero_one_by_one=true");
  llvm::append_range(left, stack.modelDecisions());
  addSettings(tree, open, model);
  return left;
}
