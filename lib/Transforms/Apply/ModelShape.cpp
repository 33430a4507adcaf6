//===- ModelShape.cpp - layers and operations of a model ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelShape.h"

#include "Proteus/Support/PathPattern.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/BatchAnalysis.h"

#include <tuple>

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> proteus::findModel(ModuleOp module, StringRef wanted) {
  func::FuncOp function;
  SmallVector<func::FuncOp> models;
  for (auto candidate : module.getOps<func::FuncOp>()) {
    bool computes = candidate
                        .walk([](IterationSpaceOpInterface) {
                          return WalkResult::interrupt();
                        })
                        .wasInterrupted();
    if (computes)
      models.push_back(candidate);
    if (computes && candidate.getName() == wanted)
      function = candidate;
  }
  if (wanted.empty() && models.size() == 1)
    function = models.front();
  if (!function) {
    InFlightDiagnostic diagnostic = emitError(module.getLoc());
    if (models.empty())
      diagnostic << "there is no model in the module: no function has "
                    "operations that can be split";
    else if (wanted.empty())
      diagnostic << "there are " << models.size()
                 << " models; select one with model=@name";
    else
      diagnostic << "there is no model @" << wanted;
    for (func::FuncOp other : models)
      diagnostic.attachNote(other.getLoc()) << "there is @" << other.getName();
    return diagnostic;
  }
  return function;
}

ModelShape::ModelShape(func::FuncOp function) : function(function) {
  function.walk(
      [&](IterationSpaceOpInterface op) { operations.push_back(op); });
}

LogicalResult ModelShape::checkBatch(const plan::ResolvedPlan &plan) {
  BatchAnalysis batch(function);
  batched = llvm::any_of(operations, [&](Operation *op) {
    return batch.getIterator(op).has_value();
  });
  if (!batched && (plan.dp > 1 || plan.accumulation > 1))
    return function.emitOpError(
        "has no batch to split: no operation reads an argument with nn.role = "
        "\"input\"; use dp=1 and micro-batches=1");
  for (BlockArgument argument : function.getArguments()) {
    if (batch.getDimension(argument) != 0)
      continue;
    int64_t size = cast<RankedTensorType>(argument.getType()).getDimSize(0);
    if (size % (plan.dp * plan.accumulation) != 0)
      return function.emitOpError("the batch of '")
             << getArgumentPath(argument) << "', " << size
             << ", can't be cut into equal parts by dp=" << plan.dp
             << " times micro-batches=" << plan.accumulation
             << "; change the batch or the degrees";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

nn::RepeatOp proteus::getOutermostRepeat(Operation *op) {
  nn::RepeatOp outermost;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    outermost = repeat;
  return outermost;
}

double proteus::countRuns(Operation *op) {
  double runs = 1;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    runs *= static_cast<double>(repeat.getCount());
  return runs;
}

double proteus::countFlops(nn::IterationSpaceOpInterface op) {
  return op.getIterationSpace().numPoints() * op.getFlopsPerPoint() *
         op.getVisitedShare();
}

/// Adds the indices of layers to `indices`: `index` itself if it is a number,
/// or for `*` all iterations of the outermost repeat around `op`.
static void addIndices(Operation *op, StringRef index,
                       llvm::SetVector<int64_t> &indices) {
  int64_t number;
  if (!index.getAsInteger(10, number)) {
    indices.insert(number);
    return;
  }
  nn::RepeatOp outermost = getOutermostRepeat(op);
  if (!outermost)
    return;
  for (int64_t i = 0, e = outermost.getCount(); i < e; ++i)
    indices.insert(outermost.getFirst() + i);
}

void ModelShape::findLayers() {
  for (IterationSpaceOpInterface op : operations) {
    std::string path = nn::getPath(op);
    // If the path cannot be parsed, no pattern can select the operation, so it
    // has no position. Settings of the whole tree still apply to it.
    llvm::Expected<PathPattern> pattern = PathPattern::parse(path);
    if (!pattern) {
      llvm::consumeError(pattern.takeError());
      continue;
    }
    auto [prefix, tail] = StringRef(path).split('[');
    if (tail.empty()) {
      positions[op] = {"", "", path};
      continue;
    }
    auto [index, rest] = tail.split(']');
    positions[op] = {(prefix + "[*]").str(), index.str(),
                     rest.ltrim('.').str()};
  }
  // No position is added from here on, so keys of `layers` can refer to strings
  // of positions.
  for (auto [number, op] : llvm::enumerate(operations)) {
    auto found = positions.find(op);
    if (found == positions.end() || found->second.layers.empty())
      continue;
    const Position &position = found->second;
    Layers &group = layers[position.layers];
    if (group.operations.empty())
      group.first = number;
    group.last = number;
    group.hasProducts |= op.getKernelClass() == nn::KernelClass::Matrix;
    group.operations[position.path].push_back(op);
    addIndices(op, position.index, group.indices);
    group.work += std::max(countFlops(op), op.getIterationSpace().numPoints()) *
                  countRuns(op);
  }
}

/// Chooses the groups of layers that are cut into stages and recomputed: all
/// groups with matrix products or, if there are none, the group with the most
/// work. A stage is a contiguous part of the model. Therefore a group is only
/// recomputed, and not cut, if its operations are interleaved with those of a
/// group with more work.
void ModelShape::chooseLayers() {
  SmallVector<std::pair<StringRef, const Layers *>> byWork;
  for (auto &[pattern, group] : layers)
    byWork.push_back({pattern, &group});
  llvm::sort(byWork, [](const auto &a, const auto &b) {
    return std::make_tuple(b.second->hasProducts, b.second->work,
                           a.second->first) <
           std::make_tuple(a.second->hasProducts, a.second->work,
                           b.second->first);
  });
  SmallVector<const Layers *> cut;
  for (auto [pattern, group] : byWork) {
    if (!recomputedLayers.empty() && !group->hasProducts)
      break;
    recomputedLayers.insert(pattern);
    if (llvm::any_of(cut, [group = group](const Layers *other) {
          return group->first <= other->last && other->first <= group->last;
        }))
      continue;
    cut.push_back(group);
    stageLayers.push_back(pattern);
  }
  llvm::sort(stageLayers, [&](StringRef a, StringRef b) {
    return getLayers(a).first < getLayers(b).first;
  });
}

/// Fails if the model has too few layers for the stages, or no layers to
/// recompute with `recompute=full`.
LogicalResult ModelShape::checkLayers(const plan::ResolvedPlan &plan) {
  if (stageLayers.empty()) {
    if (plan.pp > 1)
      return function.emitOpError("has no repeated layers to cut into pp=")
             << plan.pp
             << " stages; use pp=1, an nn.repeat, or paths with an index "
                "(layers[0].fc)";
    if (plan.recompute == plan::Recompute::Full)
      return function.emitOpError(
          "has no repeated layers to recompute; use recompute=none, an "
          "nn.repeat, or paths with an index (layers[0].fc)");
    return success();
  }
  int64_t count = 0;
  std::string names;
  for (StringRef pattern : stageLayers) {
    int64_t own = getLayers(pattern).indices.size();
    count += own;
    names += ((names.empty() ? "" : " and ") + llvm::Twine(own) + " layers '" +
              pattern + "'")
                 .str();
  }
  if (plan.pp > count)
    return function.emitOpError("has ")
           << names << ", which can't be cut into pp=" << plan.pp
           << " stages; use pp=" << count << " or less";
  if (plan.virtualStages > count / plan.pp)
    return function.emitOpError("has ")
           << names << ", which can't be cut into pp=" << plan.pp
           << " times virtual-stages=" << plan.virtualStages
           << " runs; use virtual-stages=" << count / plan.pp << " or less";
  return success();
}

const ModelShape::Position *ModelShape::getPosition(Operation *op) const {
  auto found = positions.find(op);
  return found == positions.end() ? nullptr : &found->second;
}

LogicalResult ModelShape::examine(const plan::ResolvedPlan &plan) {
  if (failed(checkBatch(plan)))
    return failure();
  findLayers();
  chooseLayers();
  return checkLayers(plan);
}

//===----------------------------------------------------------------------===//
// Patterns of operations
//===----------------------------------------------------------------------===//

bool proteus::isElementWise(Operation *op) {
  // A multiplication of tensors of the same type is a gate. Additions do not
  // count, because they add a residual, which has a layout of its own.
  if (auto product = dyn_cast<nn::MulOp>(op))
    return product->getOperand(0).getType() == product->getOperand(1).getType();
  return isa<nn::ReluOp, nn::GeluOp, nn::SiluOp, nn::TanhOp, nn::SigmoidOp,
             nn::SwigluOp, nn::ScaleOp, nn::DropoutOp, nn::CastOp>(op);
}

int64_t proteus::outSize(nn::LinearOp linear) {
  return cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(0);
}

void proteus::collectReaders(Value value,
                             SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses())
    if (isElementWise(use.getOwner()))
      collectReaders(use.getOwner()->getResult(0), readers);
    else
      readers.push_back(&use);
}

SmallVector<nn::LinearOp> proteus::onlyLinearReaders(Value value) {
  SmallVector<OpOperand *> readers;
  collectReaders(value, readers);
  SmallVector<nn::LinearOp> linears;
  for (OpOperand *reader : readers) {
    auto linear = dyn_cast<nn::LinearOp>(reader->getOwner());
    if (!linear || reader->getOperandNumber() != 0)
      return {};
    linears.push_back(linear);
  }
  return linears;
}

nn::LinearOp proteus::producingLinear(Value value, int64_t parts) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto linear = dyn_cast<nn::LinearOp>(op))
      return linear;
    bool local = isElementWise(op) || isa<nn::ReshapeOp>(op);
    if (auto split = dyn_cast<nn::SplitOp>(op))
      local = split.getGroups() % parts == 0;
    else if (auto rope = dyn_cast<nn::RopeOp>(op))
      local = rope.getHeads() % parts == 0;
    if (!local)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

std::optional<int64_t> proteus::sequenceOf(IterationSpaceOpInterface op) {
  nn::IterationSpace space = op.getIterationSpace();
  std::optional<unsigned> iterator = space.find("seq");
  if (!iterator)
    return std::nullopt;
  return space.iterators[*iterator].size;
}
