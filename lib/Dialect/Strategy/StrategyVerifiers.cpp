//===- StrategyVerifiers.cpp - verifiers of the strategy dialect ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of the strategy dialect. First, the verifier of each setting checks
// the properties that do not depend on other settings. Then the verifier of the
// tree checks the properties that involve several settings. The verifier of the
// tree can assume that each setting is valid, for example that names of axes
// can be parsed.
//
//===----------------------------------------------------------------------===//

#include "AttrSyntax.h"

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Dialect/Strategy/SubAxis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <set>

using namespace mlir;
using namespace proteus;
using namespace proteus::strategy;

/// Returns the name of a tree or node for messages, such as `tree @megatron` or
/// `node "head"`.
static std::string describe(Operation *scope) {
  if (auto node = dyn_cast<NodeOp>(scope))
    return ("node \"" + node.getPattern() + "\"").str();
  return ("tree @" + cast<TreeOp>(scope).getSymName()).str();
}

/// Fails with an error if `op`, a setting for the whole model, is not directly
/// in a tree.
static LogicalResult verifyInTree(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa_and_present<TreeOp>(parent))
    return success();
  StringRef name = op->getName().stripDialect();
  InFlightDiagnostic diag = op->emitOpError() << name << " belongs to the tree";
  auto node = dyn_cast_if_present<NodeOp>(parent);
  if (!node)
    return diag << "; put it directly into a strategy.tree";
  diag << "; move it out of " << describe(node);
  if (TreeOp tree = node.getTree())
    diag.attachNote(tree.getLoc()) << describe(tree) << " is here";
  return diag;
}

static LogicalResult verifyAtLeastOne(Operation *op, StringRef name,
                                      std::optional<int64_t> value) {
  if (!value || *value >= 1)
    return success();
  return op->emitOpError() << name << " = " << *value
                           << " is too small; it must be at least 1";
}

//===----------------------------------------------------------------------===//
// Verification of single settings
//===----------------------------------------------------------------------===//

LogicalResult NodeOp::verify() {
  llvm::Expected<PathPattern> pattern = PathPattern::parse(getPattern());
  if (pattern)
    return success();
  return emitOpError() << "has the malformed pattern \"" << getPattern()
                       << "\": " << llvm::toString(pattern.takeError());
}

static LogicalResult verifyMeshAxes(MeshOp mesh) {
  if (mesh.getAxes().empty())
    return mesh.emitOpError(
        "has no axes; write at least one, such as [dp = 8]");

  int64_t count = 1;
  llvm::SmallDenseSet<StringAttr> names;
  for (auto axis : mesh.getAxes().getAsRange<AxisAttr>()) {
    StringRef name = axis.getName();
    int64_t size = axis.getSize();
    if (name == dist::microAxisName)
      return mesh.emitOpError() << "axis name '" << name
                                << "' is reserved for micro-batches; rename it";
    if (name == ringWord || name == zigzagWord)
      return mesh.emitOpError()
             << "axis name '" << name
             << "' is reserved for the distribution of parts; rename it";
    if (!names.insert(axis.getName()).second)
      return mesh.emitOpError()
             << "axis '" << name << "' is given twice; axis names are distinct";
    if (size < 1)
      return mesh.emitOpError() << "axis '" << name << "' has size " << size
                                << "; a size must be at least 1";
    if (size > dist::maxMeshDevices / count)
      return mesh.emitOpError()
             << "axis '" << name << "' of size " << size << " times " << count
             << " devices of the axes before it exceeds the limit of "
             << dist::maxMeshDevices << " devices";
    count *= size;
  }
  return success();
}

static LogicalResult verifyMeshDevices(MeshOp mesh) {
  std::optional<ArrayRef<int64_t>> devices = mesh.getDevices();
  if (!devices)
    return success();
  auto expected = static_cast<size_t>(mesh.getNumDevices());
  if (devices->size() != expected)
    return mesh.emitOpError()
           << "lists " << devices->size() << " devices, but the axes have "
           << expected << " positions; list one device for each";

  // A DenseSet can't be used: it reserves two values of the key type, and both
  // are valid device ids.
  std::set<int64_t> seen;
  for (int64_t device : *devices) {
    if (device < 0)
      return mesh.emitOpError() << "lists the negative device " << device
                                << "; device ids start at 0";
    if (!seen.insert(device).second)
      return mesh.emitOpError() << "lists device " << device
                                << " twice; a device has one position";
  }
  return success();
}

/// Fails with an error if `word` is given and is not a case of `Enum`. `word`
/// is the value of the attribute `name`. The error lists all cases. It also
/// lists `other`, if this is not empty: a further valid word, which the caller
/// itself must accept before it calls this function.
template <typename Enum>
static LogicalResult verifyWord(Operation *op, StringRef name,
                                std::optional<StringRef> word,
                                StringRef other = "") {
  if (!word || plan::symbolizeEnum<Enum>(*word))
    return success();
  InFlightDiagnostic diag = op->emitOpError("unknown ")
                            << name << " \"" << *word << "\"; known are ";
  StringRef separator;
  for (uint32_t i = 0;; ++i) {
    StringRef known = plan::stringifyEnum(static_cast<Enum>(i));
    if (known.empty())
      break;
    diag << separator << '"' << known << '"';
    separator = ", ";
  }
  if (!other.empty())
    diag << ", \"" << other << '"';
  return diag;
}

LogicalResult MeshOp::verify() {
  if (failed(verifyInTree(*this)) || failed(verifyMeshAxes(*this)))
    return failure();
  return verifyMeshDevices(*this);
}

LogicalResult ScheduleOp::verify() {
  if (failed(verifyInTree(*this)) ||
      failed(verifyAtLeastOne(*this, "micro_batches", getMicroBatches())) ||
      failed(verifyAtLeastOne(*this, "max_ongoing", getMaxOngoing())) ||
      failed(verifyAtLeastOne(*this, "virtual_stages", getVirtualStages())))
    return failure();
  if (isExplicit())
    return success();
  return verifyWord<plan::ScheduleOrder>(*this, "order", getOrder(),
                                         explicitOrder);
}

/// Returns true if `text` is a work item: a letter (F, B, I or W), the number
/// of a micro-batch and, optionally, `.` and the number of a chunk. Examples
/// are `F3` and `B3.1`.
static bool isWorkItem(StringRef text) {
  auto isNumber = [](StringRef digits) {
    uint32_t number;
    return !digits.getAsInteger(10, number);
  };
  if (text.empty() || !StringRef("FBIW").contains(text.front()))
    return false;
  auto [micro, chunk] = text.drop_front().split('.');
  return isNumber(micro) && (!text.contains('.') || isNumber(chunk));
}

LogicalResult OrderOp::verify() {
  if (failed(verifyInTree(*this)))
    return failure();
  if (static_cast<int64_t>(getStage()) < 0)
    return emitOpError("stage ")
           << static_cast<int64_t>(getStage()) << " is negative";
  for (StringAttr item : getItems().getAsRange<StringAttr>())
    if (!isWorkItem(item))
      return emitOpError("stage ")
             << getStage() << ": '" << item.getValue()
             << "' is no item; write F, B, I or W, the micro-batch, and .c for "
                "a chunk other than 0";
  return success();
}

LogicalResult BucketOp::verify() {
  if (failed(verifyInTree(*this)))
    return failure();
  bool hasBuckets = getSize() || getFirst() || getPerLayer();
  if (!hasBuckets && !getReduction())
    return emitOpError("has no size; give 'size', 'first' or both, in bytes, "
                       "or 'per_layer', or 'reduction'");
  if (failed(verifyWord<plan::GradientReduction>(*this, "reduction",
                                                 getReduction())))
    return failure();
  if (hasBuckets && getReductionKind() == plan::GradientReduction::PerParameter)
    return emitOpError("reduction = \"per-parameter\" has no buckets; leave "
                       "'size', 'first' and 'per_layer' out");
  if (getGather() && getGatherPerParameter())
    return emitOpError("'gather_per_parameter' has no buckets; leave 'gather' "
                       "out");
  if (failed(verifyAtLeastOne(*this, "size", getSize())) ||
      failed(verifyAtLeastOne(*this, "first", getFirst())))
    return failure();
  return verifyAtLeastOne(*this, "gather", getGather());
}

LogicalResult ScatterGatherOp::verify() { return verifyInTree(*this); }

LogicalResult OverlapOp::verify() {
  if (failed(verifyInTree(*this)))
    return failure();
  if (!getTensor() && !getMessages() && !getReductions())
    return emitOpError(
        "sets nothing; give 'tensor', 'messages' or 'reductions'");
  if (failed(verifyAtLeastOne(*this, "reductions", getReductions())))
    return failure();
  if (failed(verifyWord<plan::TensorOverlap>(*this, "tensor", getTensor())))
    return failure();
  if (!getChunks())
    return success();
  if (getTensorKind() != plan::TensorOverlap::Chunked)
    return emitOpError("'chunks' is the number of chunks of tensor = \"")
           << plan::stringifyEnum(plan::TensorOverlap::Chunked)
           << "\"; leave it out";
  if (static_cast<int64_t>(*getChunks()) < 2)
    return emitOpError("chunks = ") << static_cast<int64_t>(*getChunks())
                                    << " is too small; it must be at least 2";
  return success();
}

/// Returns the name of the key of a part for messages, such as `iterator 'out'`
/// or `dimension 0`.
static std::string describeKey(PartAttr part) {
  if (part.isDimension())
    return "dimension " + std::to_string(part.getDimension());
  return ("iterator '" + part.getIterator() + "'").str();
}

/// Returns true if the item belongs to a parameter.
static bool isOfParameter(ItemAttr item) {
  return item.getKind() == ItemKind::Weight ||
         item.getKind() == ItemKind::Gradient ||
         item.getKind() == ItemKind::State;
}

static LogicalResult verifyKey(SplitOp split, PartAttr part) {
  if ((part.getRing() || part.getZigzag()) &&
      split.getItem().getKind() != ItemKind::Op)
    return split.emitOpError() << "splits " << describeKey(part) << " by '"
                               << (part.getRing() ? ringWord : zigzagWord)
                               << "', which applies to 'op' only; memory items "
                                  "are split into contiguous parts";
  if (part.isFlat() && !isOfParameter(split.getItem()))
    return split.emitOpError() << "names '" << part.getIterator()
                               << "', which applies to 'weight', 'gradient' "
                                  "and 'state' only; split "
                                  "an iterator or a dimension";
  if (!part.isDimension())
    return success();
  if (split.getItem().getKind() == ItemKind::Op)
    return split.emitOpError()
           << "names " << describeKey(part)
           << ", but 'op' takes iterator names; split a memory item, such as "
              "'weight', by dimension";
  if (part.getDimension() < 0)
    return split.emitOpError()
           << "names " << describeKey(part) << "; dimensions start at 0";
  return success();
}

LogicalResult SplitOp::verify() {
  ArrayRef<PartAttr> parts = getPartition().getParts();
  if (parts.empty())
    return emitOpError("has an empty partition; write at least one arrow, such "
                       "as [batch -> dp]");

  llvm::SmallDenseSet<Attribute> keys;
  bool hasFlat = false;
  SmallVector<std::pair<StringAttr, PartAttr>> users;
  for (PartAttr part : parts) {
    if (failed(verifyKey(*this, part)))
      return failure();
    if (!keys.insert(part.getKey()).second)
      return emitOpError() << describeKey(part)
                           << " is given twice; list all its axes in one arrow";
    if (part.isFlat() && std::exchange(hasFlat, true))
      return emitOpError() << "names '" << kFlatKey << "' and '" << kFlatRowsKey
                           << "'; use one of them";
    for (StringAttr axis : part.getAxes()) {
      for (auto [other, user] : users) {
        // An iterator with `ring` may use the axes of an iterator without
        // `ring`, because the parts of the former do not stay on a device: they
        // travel along these axes.
        if (part.getRing() != user.getRing())
          continue;
        if (other == axis)
          return emitOpError()
                 << "axis '" << axis.getValue() << "' is used twice, for "
                 << describeKey(user) << " and for " << describeKey(part)
                 << "; an axis splits one key, once";
        if (AxisUse::get(other).overlaps(AxisUse::get(axis)))
          return emitOpError()
                 << "'" << other.getValue() << "' for " << describeKey(user)
                 << " and '" << axis.getValue() << "' for " << describeKey(part)
                 << " overlap; use parts of the axis that do not, such as "
                 << "'d:(1)2' and 'd:(2)4'";
      }
      users.push_back({axis, part});
    }
  }
  return success();
}

LogicalResult AtOp::verify() {
  if (getCoordinates().empty())
    return emitOpError(
        "has no coordinates; write at least one, such as [pp = 0]");
  SmallVector<CoordinateAttr> given;
  for (auto coordinate : getCoordinates().getAsRange<CoordinateAttr>()) {
    for (CoordinateAttr other : given) {
      if (other.getAxis() == coordinate.getAxis())
        return emitOpError()
               << "axis '" << coordinate.getAxis().getValue()
               << "' is given twice, at " << other.getPosition() << " and at "
               << coordinate.getPosition() << "; give one position";
      if (AxisUse::get(other.getAxis())
              .overlaps(AxisUse::get(coordinate.getAxis())))
        return emitOpError()
               << "'" << other.getAxis().getValue() << "' and '"
               << coordinate.getAxis().getValue()
               << "' overlap; give one position for each part of an axis";
    }
    given.push_back(coordinate);
  }
  return success();
}

LogicalResult StagesOp::verify() {
  if (!isa_and_present<NodeOp>((*this)->getParentOp()))
    return emitOpError("stages belongs to a node; it cuts the modules that the "
                       "node's pattern matches");
  if (std::optional<std::string> problem = AxisUse::check(getAxis()))
    return emitOpError() << *problem;
  if (std::optional<ArrayRef<int64_t>> counts = getCounts())
    for (auto [run, count] : llvm::enumerate(*counts))
      if (count < 0)
        return emitOpError() << "gives run " << run << " " << count
                             << " modules, expected at least 0";
  return success();
}

LogicalResult PrefetchOp::verify() {
  if (!getDepth() && !getReshardAfterForward() && !getOnce())
    return emitOpError("sets nothing; give 'depth', 'reshard_after_forward' or "
                       "'once'");
  if (getReshardAfterForward() && getOnce())
    return emitOpError("'once' keeps the gathered parameters for the whole "
                       "step; leave 'reshard_after_forward' out");
  if (getDepth() && static_cast<int64_t>(*getDepth()) < 0)
    return emitOpError("depth = ")
           << static_cast<int64_t>(*getDepth())
           << " is negative; 0 gathers a layer's parameters when it starts";
  return success();
}

LogicalResult OffloadOp::verify() {
  bool items = getWeight() || getState() || getActivation();
  if (items == getNone())
    return emitOpError(items ? "names items and 'none'; keep one of them"
                             : "names no item; name 'weight', 'state' or "
                               "'activation', or 'none'");
  return success();
}

//===----------------------------------------------------------------------===//
// Verification of the whole tree
//===----------------------------------------------------------------------===//

/// Key of a setting that a tree or node may have only once: the name of the
/// operation and, for a split, its item. The item is null for other operations.
/// For example, a node may have `split op` and `split weight`, but not two of
/// `split op`.
using SettingKey = std::pair<OperationName, ItemAttr>;

/// Returns the name of a setting for messages, such as `schedule` or `split of
/// 'input 1'`.
static std::string describe(SettingKey key) {
  auto [name, item] = key;
  if (!item)
    return name.stripDialect().str();
  std::string text = stringifyItemKind(item.getKind()).str();
  if (std::optional<int64_t> operand = item.getOperand())
    text += " " + std::to_string(*operand);
  return "split of '" + text + "'";
}

/// Fails with an error if a tree or node has both `at` and `stages`.
static LogicalResult verifyPlacement(Operation *scope) {
  Block &body = scope->getRegion(0).front();
  auto positions = body.getOps<AtOp>();
  auto stages = body.getOps<StagesOp>();
  if (positions.empty() || stages.empty())
    return success();
  InFlightDiagnostic diag = (*stages.begin())->emitOpError()
                            << "places " << describe(scope)
                            << " a second time; use either at or stages";
  diag.attachNote((*positions.begin())->getLoc())
      << "the other placement is here";
  return diag;
}

/// Checks the settings that are directly in a tree or node. Fails with an error
/// if a setting occurs twice, if an operation belongs to another dialect, or if
/// there are both `at` and `stages`. Several operations `node` and `order` are
/// allowed, and several operations `split` with different items.
static LogicalResult verifyScope(Operation *scope) {
  llvm::SmallDenseMap<SettingKey, Operation *> settings;
  bool valid = true;
  for (Operation &op : scope->getRegion(0).getOps()) {
    if (isa<NodeOp, OrderOp>(op))
      continue;
    if (op.getName().getDialectNamespace() !=
        StrategyDialect::getDialectNamespace()) {
      op.emitError() << "'" << op.getName() << "' does not belong in "
                     << describe(scope)
                     << "; a strategy holds operations of the strategy dialect "
                        "only";
      valid = false;
      continue;
    }
    auto split = dyn_cast<SplitOp>(op);
    SettingKey key(op.getName(), split ? split.getItem() : ItemAttr());
    auto [first, isNew] = settings.try_emplace(key, &op);
    if (isNew)
      continue;
    InFlightDiagnostic diag = op.emitOpError()
                              << "is the second " << describe(key) << " of "
                              << describe(scope) << "; keep one of them";
    diag.attachNote(first->second->getLoc()) << "the first is here";
    valid = false;
  }
  return success(valid && succeeded(verifyPlacement(scope)));
}

/// Fails with an error if the mesh does not have the axis that `text` names. If
/// `text` names a sub-axis, also fails if its prefix times its size does not
/// divide the size of the axis.
static LogicalResult verifyAxis(Operation *op, StringRef text, MeshOp mesh) {
  AxisUse use = *AxisUse::parse(text);
  StringRef axis = use.axis;
  if (std::optional<int64_t> size = mesh.getAxisSize(axis)) {
    if (!use.sub || *size % (use.sub->prefix * use.sub->size) == 0)
      return success();
    InFlightDiagnostic diag =
        op->emitOpError() << "'" << text << "' does not divide axis '" << axis
                          << "' of size " << *size
                          << "; the product of prefix and size must divide it";
    diag.attachNote(mesh.getLoc()) << "the mesh is here";
    return diag;
  }
  InFlightDiagnostic diag = op->emitOpError() << "unknown axis '" << axis
                                              << "'; the axes of the mesh are ";
  llvm::interleaveComma(
      mesh.getAxes().getAsRange<AxisAttr>(), diag,
      [&](AxisAttr known) { diag << known.getName().getValue(); });
  diag.attachNote(mesh.getLoc()) << "the mesh is here";
  return diag;
}

static LogicalResult verifyAxes(SplitOp split, MeshOp mesh) {
  for (PartAttr part : split.getPartition().getParts())
    for (StringAttr axis : part.getAxes())
      if (failed(verifyAxis(split, axis, mesh)))
        return failure();
  return success();
}

static LogicalResult verifyAxes(AtOp at, MeshOp mesh) {
  for (auto coordinate : at.getCoordinates().getAsRange<CoordinateAttr>()) {
    StringRef axis = coordinate.getAxis();
    if (failed(verifyAxis(at, axis, mesh)))
      return failure();
    int64_t position = coordinate.getPosition();
    AxisUse use = AxisUse::get(coordinate.getAxis());
    int64_t size = use.sub ? use.sub->size : mesh.getAxisSize(axis).value_or(0);
    if (position >= 0 && position < size)
      continue;
    InFlightDiagnostic diag = at.emitOpError()
                              << "position " << position << " is outside axis '"
                              << axis << "' of size " << size
                              << "; positions are 0 to " << size - 1;
    diag.attachNote(mesh.getLoc()) << "the mesh is here";
    return diag;
  }
  return success();
}

static LogicalResult verifyAxes(StagesOp stages, MeshOp mesh) {
  return verifyAxis(stages, stages.getAxis(), mesh);
}

/// Fails with an error if the sub-axes of an axis do not come from one
/// factorization of the axis. A sub-axis `d:(p)s` cuts axis d at `p` and at
/// `p * s`. Of any two cuts of an axis, one must divide the other. For example,
/// `d:(1)2` and `d:(1)3` exclude each other, because neither 2 nor 3 divides
/// the other.
static LogicalResult verifyCuts(TreeOp tree) {
  struct Cut {
    int64_t at;
    StringAttr use;
    Operation *op;
  };
  llvm::MapVector<StringRef, SmallVector<Cut>> cuts;
  bool valid = true;
  forEachAxisUse(tree, [&](Operation *op, StringAttr text) {
    AxisUse use = AxisUse::get(text);
    if (!use.sub || !valid)
      return;
    SmallVector<Cut> &others = cuts[use.axis];
    for (int64_t at : {use.sub->prefix, use.sub->prefix * use.sub->size}) {
      auto *other = llvm::find_if(others, [&](const Cut &cut) {
        return cut.at % at != 0 && at % cut.at != 0;
      });
      if (other != others.end() && valid) {
        InFlightDiagnostic diag = op->emitOpError()
                                  << "'" << text.getValue() << "' cuts axis '"
                                  << use.axis << "' at " << at << " and '"
                                  << other->use.getValue() << "' cuts it at "
                                  << other->at
                                  << ", and neither divides the other; use "
                                     "sub-axes whose cuts divide each other";
        diag.attachNote(other->op->getLoc()) << "the other sub-axis is here";
        valid = false;
      }
      others.push_back({at, text, op});
    }
  });
  return success(valid);
}

/// Fails with an error if the schedule is explicit and there is no `order`
/// operation, if the schedule is not explicit and there is an `order`
/// operation, or if a stage has two `order` operations.
static LogicalResult verifyOrders(TreeOp tree) {
  ScheduleOp schedule = tree.getSchedule();
  bool isExplicit = schedule && schedule.isExplicit();
  std::map<int64_t, OrderOp> stages;
  for (auto order : tree.getBody().getOps<OrderOp>()) {
    if (!isExplicit)
      return order.emitOpError("lists the work of a stage, but the schedule "
                               "does not have order = \"explicit\"");
    auto [first, isNew] = stages.try_emplace(order.getStage(), order);
    if (isNew)
      continue;
    InFlightDiagnostic diag = order.emitOpError("is the second of stage ")
                              << order.getStage() << "; keep one of them";
    diag.attachNote(first->second.getLoc()) << "the first is here";
    return diag;
  }
  if (isExplicit && stages.empty())
    return schedule.emitOpError("is \"explicit\", but no stage has an order; "
                                "add order stage 0 [F0, B0, ...] and so on");
  return success();
}

LogicalResult TreeOp::verifyRegions() {
  MeshOp mesh = getMesh();
  if (!mesh)
    return emitOpError("has no mesh; add one, such as mesh [dp = 8]");

  // The walk continues after an error, so that the errors of all settings are
  // reported.
  bool valid = true;
  (*this)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<TreeOp, NodeOp>([](auto scope) { return verifyScope(scope); })
            .Case<SplitOp, AtOp, StagesOp>(
                [&](auto setting) { return verifyAxes(setting, mesh); })
            .Default(success());
    valid &= succeeded(result);
  });
  valid &= succeeded(verifyOrders(*this));
  return success(valid && succeeded(verifyCuts(*this)));
}

LogicalResult TreeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Operation *model = symbolTable.lookupNearestSymbolFrom(*this, getModelAttr());
  if (!model)
    return emitOpError() << "is for @" << getModel()
                         << ", which is not defined; define func.func @"
                         << getModel() << " in the same module";
  if (isa<func::FuncOp>(model))
    return success();
  InFlightDiagnostic diag =
      emitOpError() << "is for @" << getModel() << ", which is a '"
                    << model->getName() << "'; a strategy is for a func.func";
  diag.attachNote(model->getLoc()) << "@" << getModel() << " is defined here";
  return diag;
}
