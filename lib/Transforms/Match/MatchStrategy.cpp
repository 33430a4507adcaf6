//===- MatchStrategy.cpp - pass that matches a strategy tree ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferStages.h"
#include "RefineMesh.h"
#include "TreeMatcher.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Common/Schedules.h"
#include "Proteus/Transforms/Common/TreeSettings.h"
#include "Proteus/Transforms/Match/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

namespace proteus {
#define GEN_PASS_DEF_MATCHSTRATEGY
#include "Proteus/Transforms/Match/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using namespace proteus::match;

/// Emits an error unless the model is a single block with valid arguments and
/// operations. The verifiers of nn operations check neither arguments nor
/// operations of other dialects, so both are checked here.
LogicalResult TreeMatcher::checkModel() {
  if (function.isDeclaration())
    return function.emitOpError("is the model of @")
           << tree.getSymName() << " but has no body";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("a model must be a single block");
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return function.emitOpError("argument ")
             << argument.getArgNumber()
             << " must be a tensor of static shape, got " << argument.getType();
    if (failed(nn::verifyElementCount(argument.getLoc(), type)))
      return failure();
  }
  WalkResult result = function.walk([&](nn::IterationSpaceOpInterface op) {
    return WalkResult(nn::verifyIterationSpace(op, op.getIterationSpace()));
  });
  return failure(result.wasInterrupted());
}

/// Returns the work items that the tree lists for each stage of an explicit
/// schedule.
FailureOr<ArrayAttr> TreeMatcher::readOrders(int64_t numStages) {
  SmallVector<Attribute> orders(numStages);
  for (auto order : tree.getBody().getOps<strategy::OrderOp>()) {
    int64_t stage = order.getStage();
    if (stage >= numStages)
      return order.emitOpError("lists the work of stage ")
             << stage << ", but there are " << numStages
             << (pipelineAxis.empty() ? " stages: nothing is placed along an "
                                        "axis"
                                      : " stages");
    orders[stage] = order.getItems();
  }
  for (auto [stage, order] : llvm::enumerate(orders))
    if (!order)
      return tree.getSchedule().emitOpError("is \"explicit\", but stage ")
             << stage << " has no order; add order stage " << stage << " [...]";
  return ArrayAttr::get(context, orders);
}

/// Returns the schedule that the tree requests, or the default schedule if it
/// requests none.
FailureOr<dist::ScheduleRequestAttr> TreeMatcher::readSchedule() {
  strategy::ScheduleOp op = tree.getSchedule();
  if (!op)
    return dist::ScheduleRequestAttr::get(context);
  if (static_cast<int64_t>(op.getMicroBatches()) > dist::maxMicroBatches)
    return op.emitOpError("micro_batches = ")
           << op.getMicroBatches() << " is more than " << dist::maxMicroBatches
           << ", the most that can be scheduled";
  int64_t numStages = getNumStages(), numChunks = getNumChunks();
  if (pipelineAxis.empty() && numChunks > 1)
    return op.emitOpError("virtual_stages = ")
           << numChunks << " without stages; cut layers with stages, or leave "
           << "virtual_stages out";
  std::optional<int64_t> maxOngoing;
  if (std::optional<uint64_t> most = op.getMaxOngoing())
    maxOngoing = *most;
  if (op.isExplicit()) {
    FailureOr<ArrayAttr> orders = readOrders(numStages);
    if (failed(orders))
      return failure();
    return dist::ScheduleRequestAttr::get(
        context, plan::ScheduleOrder::OneForwardOneBackward, maxOngoing,
        numChunks, *orders);
  }
  plan::ScheduleOrder order = op.getOrderKind();
  StageShape shape{0, numStages, numChunks,
                   static_cast<int64_t>(op.getMicroBatches()), maxOngoing};
  if (std::optional<std::string> reason = getSchedule(order).whyNot(shape))
    return op.emitOpError("order \"") << plan::stringifyScheduleOrder(order)
                                      << "\" does not fit: " << *reason;
  return dist::ScheduleRequestAttr::get(context, order, maxOngoing, numChunks,
                                        ArrayAttr());
}

/// Returns the schedule, buckets and overlap that the tree sets. Later passes
/// apply them to programs.
FailureOr<dist::StepAttr> TreeMatcher::readStep() {
  FailureOr<dist::ScheduleRequestAttr> schedule = readSchedule();
  if (failed(schedule))
    return failure();
  dist::BucketingAttr buckets;
  if (strategy::BucketOp op = tree.getBucket())
    buckets = dist::BucketingAttr::get(
        context, op.getSize(), op.getFirst(), op.getPerLayer(),
        op.getReductionKind(), op.getGather(), op.getGatherPerParameter(),
        op.getByOperation(), op.getAllReduce());
  auto overlap = dist::OverlapAttr::get(context);
  if (strategy::OverlapOp op = tree.getOverlap())
    overlap = dist::OverlapAttr::get(
        context, op.getTensorKind(), op.getChunks(),
        op.getMessages().value_or(true), op.getReductions().value_or(2));
  return dist::StepAttr::get(context, *schedule, buckets, overlap);
}

LogicalResult TreeMatcher::run() {
  if (failed(checkModel()) || failed(collect(tree)) ||
      failed(findPipelineAxis()) || failed(assignModulesToStages()) ||
      failed(splitRepeats()) || failed(annotate()) || failed(placeArguments()))
    return failure();
  argumentAttrs.apply(function);
  if (failed(reportUnused()))
    return failure();

  strategy::MeshOp meshOp = tree.getMesh();
  dist::Mesh mesh;
  for (auto axis : meshOp.getAxes().getAsRange<strategy::AxisAttr>()) {
    mesh.names.push_back(axis.getName().str());
    mesh.sizes.push_back(axis.getSize());
  }
  if (strategy::ScheduleOp schedule = tree.getSchedule())
    mesh.micro = schedule.getMicroBatches();
  for (int64_t device : meshOp.getDeviceIds())
    mesh.devices.push_back(device);
  FailureOr<dist::StepAttr> step = readStep();
  if (failed(step))
    return failure();
  if (*step != dist::StepAttr::get(context))
    function->setAttr(kStepAttr, *step);
  function->setAttr(kMeshAttr, dist::MeshAttr::get(context, mesh));
  function->setAttr(kTreeAttr, FlatSymbolRefAttr::get(tree));
  if (tree.getScatterGather())
    function->setAttr(kScatterGatherAttr, UnitAttr::get(context));
  if (pipelineAxis.empty())
    return success();
  function->setAttr(kPipelineAxisAttr, StringAttr::get(context, pipelineAxis));
  return inferStages(function, getNumStages(), getNumChunks());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class MatchStrategy : public proteus::impl::MatchStrategyBase<MatchStrategy> {
public:
  using MatchStrategyBase::MatchStrategyBase;
  void runOnOperation() override;

private:
  strategy::TreeOp selectTree();
  LogicalResult applyStack(strategy::TreeOp tree, func::FuncOp function);
};
} // namespace

/// Returns the tree that the option `strategy` selects. Without the option,
/// returns the only tree of the module. Emits an error if there is no such
/// tree.
strategy::TreeOp MatchStrategy::selectTree() {
  ModuleOp module = getOperation();
  SmallVector<strategy::TreeOp> trees(module.getOps<strategy::TreeOp>());
  StringRef wanted = StringRef(strategy).ltrim('@');
  if (!wanted.empty()) {
    for (strategy::TreeOp tree : trees)
      if (tree.getSymName() == wanted)
        return tree;
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "there is no strategy tree @") << wanted;
    for (strategy::TreeOp tree : trees)
      diagnostic.attachNote(tree.getLoc()) << "there is @" << tree.getSymName();
    return {};
  }
  if (trees.size() == 1)
    return trees.front();
  InFlightDiagnostic diagnostic =
      trees.empty() ? emitError(module.getLoc(),
                                "there is no strategy.tree in the module; "
                                "write one that splits the model")
                    : emitError(module.getLoc(), "there are ")
                          << trees.size()
                          << " strategy trees; select one with strategy=@name";
  for (strategy::TreeOp tree : trees)
    diagnostic.attachNote(tree.getLoc()) << "there is @" << tree.getSymName();
  return {};
}

/// Adds the decisions of the stack of the module to `tree`, unless the tree
/// states them already. Emits a remark with the decisions that cannot be added,
/// because they concern the model or the splits of the tree.
LogicalResult MatchStrategy::applyStack(strategy::TreeOp tree,
                                        func::FuncOp function) {
  FailureOr<machine::Stack> resolved = resolveStack(getOperation());
  if (failed(resolved))
    return failure();
  if (resolved->name.empty())
    return success();
  std::vector<std::string> left = addStackSettings(tree, *resolved, function);
  if (!left.empty())
    tree.emitRemark("stack '")
        << resolved->name << "' also decides " << llvm::join(left, ", ")
        << ", which the model and the tree decide here";
  return success();
}

/// Emits an error if the cluster lacks a device of the mesh. A mesh of n
/// devices without a list of devices has the devices 0 to n - 1.
static LogicalResult checkDevices(strategy::MeshOp mesh,
                                  const machine::Cluster &cluster) {
  int64_t last = mesh.getNumDevices() - 1;
  if (auto devices = mesh.getDevices())
    last = *llvm::max_element(*devices);
  if (last < cluster.numDevices())
    return success();
  return mesh.emitOpError("names device ")
         << last << ", but the cluster '" << cluster.name << "' has "
         << cluster.numDevices() << " devices (0 to "
         << cluster.numDevices() - 1 << "); use a smaller mesh or more nodes";
}

void MatchStrategy::runOnOperation() {
  strategy::TreeOp tree = selectTree();
  if (!tree)
    return signalPassFailure();
  writeMachineOptions(getOperation(), cluster, stack);
  FailureOr<machine::Cluster> machine = resolveCluster(getOperation());
  if (failed(machine))
    return signalPassFailure();
  if (failed(checkDevices(tree.getMesh(), *machine)))
    return signalPassFailure();
  auto function =
      getOperation().lookupSymbol<func::FuncOp>(tree.getModelAttr());
  if (function->hasAttr(kMeshAttr)) {
    function.emitOpError("was matched with a strategy before");
    return signalPassFailure();
  }
  if (failed(applyStack(tree, function)))
    return signalPassFailure();
  if (failed(refineMesh(tree)) || failed(TreeMatcher(tree, function).run()))
    signalPassFailure();
}
