//===- Differentiation.cpp - the backward pass of a model -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differentiation.h"
#include "KeepLayout.h"

#include "Proteus/Dialect/NN/Gradient.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Partitioning.h"
#include "Proteus/Transforms/SplitRepeat.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

Type proteus::withElementType(Type type, Type element) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(element);
}

bool proteus::isFloatTensor(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// On an nn.recompute under construction: how many of its results are outputs
/// of the module, which pruning leaves alone.
static constexpr llvm::StringLiteral kModuleOutputsAttr =
    "strategy.module_outputs";

static Type withLeadingDim(Type type, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), size);
  return RankedTensorType::get(shape, tensor.getElementType());
}

namespace {

//===----------------------------------------------------------------------===//
// What all blocks share
//===----------------------------------------------------------------------===//

/// Facts about the function that hold in all its blocks.
class StepContext {
public:
  StepContext(func::FuncOp function, TrainingAttr training)
      : training(training), initialValues(function) {
    for (BlockArgument argument : function.getArguments())
      if (getRole(argument) == Role::Parameter) {
        parameters.insert(argument);
        active.insert(argument);
      }
    markActive(function.front());
  }

  TrainingAttr training;
  /// Those of the forward pass.
  InitialValues initialValues;
  /// Repeats that were rebuilt. They are erased at the end, so that no new
  /// value takes the address of one that the maps know.
  SmallVector<Operation *> replaced;

  bool isActive(Value value) const { return active.contains(value); }
  bool isParameter(Value value) const { return parameters.contains(value); }

private:
  /// A value is active when a parameter reaches it. A carried value of a repeat
  /// is active when its initial value is, or what another iteration yields.
  void markActive(Block &block) {
    for (Operation &op : block) {
      if (auto repeat = dyn_cast<RepeatOp>(op)) {
        markActive(repeat);
        continue;
      }
      if (llvm::any_of(op.getOperands(), [&](Value v) { return isActive(v); }))
        for (Value result : op.getResults())
          markActive(result);
    }
  }

  void markActive(Value value) {
    if (isFloatTensor(value))
      active.insert(value);
  }

  void markActive(RepeatOp repeat) {
    for (auto [slice, stack] :
         llvm::zip(repeat.getSliceArgs(), repeat.getSliced())) {
      if (isActive(stack))
        active.insert(slice);
      if (isParameter(stack))
        parameters.insert(slice);
    }
    for (auto [init, argument] :
         llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
      if (isActive(init))
        markActive(argument);
    bool changed = true;
    while (changed) {
      markActive(repeat.getBody().front());
      changed = false;
      if (repeat.getCount() > 1)
        for (auto [argument, yielded] : llvm::zip(
                 repeat.getCarriedArgs(), repeat.getYield()->getOperands()))
          if (isActive(yielded) && !isActive(argument)) {
            markActive(argument);
            changed = true;
          }
    }
    for (auto [result, yielded] :
         llvm::zip(repeat.getResults(), repeat.getYield()->getOperands()))
      if (isActive(yielded))
        markActive(result);
  }

  DenseSet<Value> active;
  /// Parameters, and the slices of them that the bodies of repeats see.
  DenseSet<Value> parameters;
};

//===----------------------------------------------------------------------===//
// Differentiation of one block
//===----------------------------------------------------------------------===//

/// Walks the operations of a forward block in reverse and lets each build its
/// gradients at the insertion point of the backward block.
class BlockDifferentiator : public GradientScope, public OpBuilder::Listener {
public:
  BlockDifferentiator(StepContext &context, Block &forward, OpBuilder backward)
      : context(context), forward(forward), backward(backward) {
    this->backward.setListener(this);
  }

  LogicalResult run();

  OpBuilder &builder() override { return backward; }
  Value gradientOf(Value result) override { return gradients.lookup(result); }
  bool wants(Value operand) override { return context.isActive(operand); }
  Type gradientType(Value operand) override {
    Type element = context.training.getGradient();
    if (element && context.isParameter(operand))
      return withElementType(operand.getType(), element);
    return operand.getType();
  }
  void add(Value operand, Value gradient) override;
  Value saved(Value value) override;
  void correspond(Operation *backwardOp,
                  ArrayRef<std::pair<StringRef, StringRef>> names) override {
    inheritPartition(current, backwardOp, names);
  }

  /// A tensor of zeros in the type of the gradient of `value`.
  Value zeroGradient(Value value) {
    return FillOp::create(backward, value.getLoc(), gradientType(value), "zero",
                          llvm::APFloat(0.0));
  }

  /// Values that have a gradient, in the order in which they got it first.
  llvm::MapVector<Value, Value> gradients;

protected:
  /// A value that is kept from the forward pass.
  virtual Value kept(Value value) { return value; }

  StepContext &context;
  Block &forward;
  OpBuilder backward;

private:
  LogicalResult differentiate(RepeatOp repeat);
  RecomputeOp recomputeGroup(StringAttr group);
  Value keptOperand(Operation *op, Value value);

  /// Backward operations inherit the settings of the forward operation they
  /// belong to.
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (current)
      inheritAnnotations(current, op);
    // A sum of gradients follows the gradients.
    if (summing)
      op->removeDiscardableAttr(kOpAttr);
    setPhase(op, Phase::Backward);
  }

  Operation *current = nullptr;
  /// The operations of each group that is recomputed, in their order.
  DenseMap<StringAttr, SmallVector<Operation *>> recomputeMembers;
  /// Whether the operations being built only sum gradients up.
  bool summing = false;
  /// Recomputed values, by the group and the forward value.
  DenseMap<StringAttr, DenseMap<Value, Value>> recomputed;
  /// Operands that are kept in a layout of their own.
  DenseMap<std::pair<Operation *, Value>, Value> keptOperands;
};

/// The body of a repeat: forward values reach the backward body as slices of
/// stacks.
class RepeatDifferentiator : public BlockDifferentiator {
public:
  RepeatDifferentiator(StepContext &context, BlockDifferentiator &parent,
                       RepeatOp repeat, Block &backwardBody)
      : BlockDifferentiator(context, repeat.getBody().front(),
                            OpBuilder(repeat.getContext())),
        parent(parent), repeat(repeat), backwardBody(backwardBody) {
    // The block has no parent yet, so the builder is given the context first.
    backward.setInsertionPointToEnd(&backwardBody);
  }

  /// Forward values to stack, and stacks to slice in the backward body, each
  /// with the block argument that stands for it there.
  SmallVector<std::pair<Value, BlockArgument>> newStacks;
  SmallVector<std::pair<Value, BlockArgument>> oldStacks;

protected:
  Value kept(Value value) override {
    Region *region = value.getParentRegion();
    if (!repeat.getBody().isAncestor(region))
      return parent.saved(value);
    // A constant is written again rather than stacked.
    if (isConstant(value)) {
      Value &copy = slices[value];
      if (!copy) {
        backwardBody.push_front(value.getDefiningOp()->clone());
        copy = backwardBody.front().getResult(0);
      }
      return copy;
    }
    auto [entry, isNew] = slices.try_emplace(value);
    if (isNew) {
      BlockArgument slice =
          backwardBody.addArgument(value.getType(), value.getLoc());
      entry->second = slice;
      auto argument = dyn_cast<BlockArgument>(value);
      unsigned carried = repeat.getNumCarried();
      if (argument && argument.getArgNumber() >= carried)
        oldStacks.push_back(
            {repeat.getSliced()[argument.getArgNumber() - carried], slice});
      else
        newStacks.push_back({value, slice});
    }
    return entry->second;
  }

private:
  BlockDifferentiator &parent;
  RepeatOp repeat;
  Block &backwardBody;
  DenseMap<Value, Value> slices;
};

} // namespace

LogicalResult BlockDifferentiator::run() {
  // Differentiating a repeat replaces it, so the list is taken first.
  SmallVector<Operation *> operations;
  for (Operation &op : forward.without_terminator())
    operations.push_back(&op);
  for (Operation *op : operations)
    if (StringAttr group = getRecomputeGroup(op))
      recomputeMembers[group].push_back(op);
  for (Operation *op : llvm::reverse(operations)) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return gradients.count(result) && wants(result);
        }))
      continue;
    current = op;
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      if (failed(differentiate(repeat)))
        return failure();
      continue;
    }
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("has no gradient, but the loss depends on it; "
                             "use differentiable operations between the "
                             "parameters and the loss");
    auto layout =
        op->getAttrOfType<strategy::PartitionAttr>(kOutputGradientAttr);
    if (Value gradient = layout ? gradientOf(op->getResult(0)) : Value())
      gradients[op->getResult(0)] = buildKeep(backward, op, gradient, layout);
    if (failed(differentiable.buildGradients(*this)))
      return failure();
  }
  current = nullptr;
  return success();
}

void BlockDifferentiator::add(Value operand, Value gradient) {
  if (!wants(operand))
    return;
  summing = true;
  // A gradient that reaches a parameter without a kernel of its own still
  // accumulates in the type that gradients have.
  Type type = gradientType(operand);
  std::string path = current ? getOwnPath(current) : "loss";
  if (gradient.getType() != type)
    gradient =
        CastOp::create(backward, gradient.getLoc(), type, path, gradient);
  auto [entry, isNew] = gradients.insert({operand, gradient});
  if (!isNew)
    entry->second = AddOp::create(backward, gradient.getLoc(), type, path,
                                  entry->second, gradient);
  summing = false;
}

/// What the backward pass of `op` reads in place of its operand `value`: the
/// operand itself, or a form of it that the strategy keeps.
Value BlockDifferentiator::keptOperand(Operation *op, Value value) {
  auto [entry, isNew] = keptOperands.try_emplace({op, value}, value);
  if (!isNew)
    return entry->second;
  auto keep = [&](strategy::PartitionAttr partition) {
    // Behind the operation: it decides first how it reads the operand.
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    KeepOp result = buildKeep(builder, op, value, partition);
    setPhase(result, Phase::Forward);
    keptOperands[{op, value}] = result.getResult();
    return result;
  };
  if (auto inputs = op->getAttrOfType<ArrayAttr>(kInputsAttr))
    for (auto input : inputs.getAsRange<ArrayAttr>())
      if (op->getOperand(cast<IntegerAttr>(input[0]).getInt()) == value)
        return keep(cast<strategy::PartitionAttr>(input[1])).getResult();
  if (op->hasAttr(kKeepGatheredAttr) && context.isParameter(value)) {
    KeepOp result = keep(strategy::PartitionAttr::get(op->getContext(), {}));
    unsigned number = std::distance(op->operand_begin(),
                                    llvm::find(op->getOperands(), value));
    result->setDiscardableAttr(kKeepAsReadAttr,
                               backward.getI64IntegerAttr(number));
    return result.getResult();
  }
  return value;
}

Value BlockDifferentiator::saved(Value value) {
  Operation *op = value.getDefiningOp();
  auto group =
      op && op->getBlock() == &forward ? getRecomputeGroup(op) : StringAttr();
  // Work that is recomputed keeps the values that other work reads as well; a
  // value is recomputed only for the backward pass of its own group.
  if (!group || !current || getRecomputeGroup(current) != group)
    return kept(current && current->getBlock() == &forward
                    ? keptOperand(current, value)
                    : value);
  if (!recomputed.count(group))
    recomputeGroup(group);
  return recomputed[group].lookup(value);
}

/// Clones all operations of `group` into an nn.recompute before the first
/// backward operation that needs one of them. What turns out not to be needed
/// is pruned at the end.
RecomputeOp BlockDifferentiator::recomputeGroup(StringAttr group) {
  ArrayRef<Operation *> members = recomputeMembers[group];

  // A recomputed module reads tensors and has constants, and what is made from
  // nothing else, of its own.
  SetVector<Value> inputs, constants;
  std::function<void(Value)> addInput = [&](Value value) {
    if (!isConstant(value) && !context.initialValues.contains(value)) {
      inputs.insert(value);
      return;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      addInput(operand);
    constants.insert(value);
  };
  SmallVector<Value> outputs;
  auto isInside = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return def && def->getBlock() == &forward &&
           getRecomputeGroup(def) == group;
  };
  for (Operation *op : members) {
    for (Value operand : op->getOperands())
      if (!isInside(operand))
        addInput(operand);
    SetVector<Value> captured;
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, captured);
    for (Value value : captured)
      if (!isInside(value))
        addInput(value);
    llvm::append_range(outputs, op->getResults());
  }

  // The module runs its whole forward pass again, as frameworks do: what leaves
  // it is computed too, needed or not. Those results come first.
  auto leaves = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *top = forward.findAncestorOpInBlock(*user);
      return top && getRecomputeGroup(top) != group;
    });
  };
  SmallVector<Value> inner;
  llvm::copy_if(outputs, std::back_inserter(inner),
                [&](Value value) { return !leaves(value); });
  llvm::erase_if(outputs, [&](Value value) { return !leaves(value); });
  int64_t numOutputs = outputs.size();
  llvm::append_range(outputs, inner);

  SmallVector<Value> operands;
  for (Value input : inputs) {
    Value form = input;
    for (Operation *op : members)
      if (form == input && llvm::is_contained(op->getOperands(), input))
        form = keptOperand(op, input);
    operands.push_back(kept(form));
  }
  auto recompute =
      RecomputeOp::create(backward, members.front()->getLoc(), group.getValue(),
                          operands, TypeRange(outputs));
  recompute->setAttr(kModuleOutputsAttr,
                     backward.getI64IntegerAttr(numOutputs));
  Block &body = recompute.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  for (Value constant : constants) {
    Operation *copy = inside.clone(*constant.getDefiningOp(), mapping);
    if (!isConstant(constant))
      setPhase(copy, Phase::Backward);
  }
  for (Operation *op : members)
    setPhase(inside.clone(*op, mapping), Phase::Backward);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(inside, recompute.getLoc(), yielded);

  auto &values = recomputed[group];
  for (auto [output, result] : llvm::zip(outputs, recompute.getResults()))
    values[output] = result;
  return recompute;
}

/// Builds the backward repeat: it runs in reverse, carries the gradients of the
/// carried values, reads stacked forward values slice by slice, and stacks the
/// gradients of sliced operands.
LogicalResult BlockDifferentiator::differentiate(RepeatOp repeat) {
  Operation *yield = repeat.getYield();
  unsigned numCarried = repeat.getNumCarried();
  Region backwardRegion;
  Block &body = backwardRegion.emplaceBlock();
  RepeatDifferentiator inner(context, *this, repeat, body);
  inner.current = repeat;

  // Gradients that enter: of carried results, then of stacked results.
  SmallVector<Value> inits;
  SmallVector<unsigned> carriedIndices;
  for (unsigned i = 0; i < numCarried; ++i) {
    Value result = repeat.getCarriedResults()[i];
    Value gradient = gradientOf(result);
    if (!wants(repeat.getCarriedArgs()[i])) {
      // The only iteration of a repeat that starts from an input: the gradient
      // enters, but is not handed on.
      if (gradient)
        inner.add(yield->getOperand(i), gradient);
      continue;
    }
    inits.push_back(gradient ? gradient : zeroGradient(result));
    carriedIndices.push_back(i);
    BlockArgument argument =
        body.addArgument(inits.back().getType(), repeat.getLoc());
    inner.add(yield->getOperand(i), argument);
  }
  SmallVector<std::pair<Value, BlockArgument>> incomingStacks;
  for (auto [i, result] : llvm::enumerate(repeat.getStackedResults())) {
    Value gradient = gradientOf(result);
    if (!gradient)
      continue;
    Value slice = yield->getOperand(numCarried + i);
    BlockArgument argument =
        body.addArgument(inner.gradientType(slice), repeat.getLoc());
    incomingStacks.push_back({gradient, argument});
    inner.add(slice, argument);
  }
  if (failed(inner.run()))
    return failure();

  inner.current = repeat;
  // Gradients that leave: of carried values, of values the body captures
  // (accumulated over the iterations), and stacked ones of slices.
  OpBuilder &end = inner.builder();
  SmallVector<Value> yielded;
  for (unsigned i : carriedIndices) {
    Value gradient = inner.gradientOf(repeat.getCarriedArgs()[i]);
    yielded.push_back(
        gradient ? gradient : inner.zeroGradient(repeat.getCarriedArgs()[i]));
  }
  SmallVector<Value> captured;
  for (auto [value, gradient] : inner.gradients) {
    if (repeat.getBody().isAncestor(value.getParentRegion()))
      continue;
    captured.push_back(value);
    inits.push_back(zeroGradient(value));
    BlockArgument sum = body.addArgument(gradient.getType(), repeat.getLoc());
    yielded.push_back(AddOp::create(end, repeat.getLoc(), gradient.getType(),
                                    "accumulate", sum, gradient));
  }
  size_t numBackwardCarried = inits.size();
  SmallVector<Value> slicedWithGradient;
  for (auto [slice, stack] :
       llvm::zip(repeat.getSliceArgs(), repeat.getSliced()))
    if (Value gradient = inner.gradientOf(slice)) {
      slicedWithGradient.push_back(stack);
      yielded.push_back(gradient);
    }
  auto backwardYield = YieldOp::create(end, repeat.getLoc(), yielded);

  // The forward repeat stacks what the backward body reads.
  RepeatOp extended = repeat;
  if (!inner.newStacks.empty()) {
    SmallVector<Type> types(repeat.getResultTypes());
    SmallVector<Value> forwardYield(yield->getOperands());
    for (auto [value, slice] : inner.newStacks) {
      types.push_back(withLeadingDim(value.getType(), repeat.getCount()));
      forwardYield.push_back(value);
    }
    OpBuilder before(repeat);
    extended = RepeatOp::create(before, repeat.getLoc(), repeat.getPath(),
                                repeat.getFirst(), repeat.getCount(),
                                repeat.getReverse(), repeat.getCarried(),
                                repeat.getSliced(), types);
    extended->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
    extended.getBody().takeBody(repeat.getBody());
    yield->setOperands(forwardYield);
    context.replaced.push_back(repeat);
    for (auto [from, to] :
         llvm::zip(repeat.getResults(), extended.getResults()))
      from.replaceAllUsesWith(to);
  }

  // Order the arguments of the backward body: carried first, then slices.
  SmallVector<BlockArgument> slices;
  SmallVector<Value> sliced;
  for (auto &[stack, argument] : incomingStacks) {
    sliced.push_back(stack);
    slices.push_back(argument);
  }
  for (auto &[stack, argument] : inner.oldStacks) {
    sliced.push_back(saved(stack));
    slices.push_back(argument);
  }
  size_t firstNew = extended->getNumResults() - inner.newStacks.size();
  for (auto [i, entry] : llvm::enumerate(inner.newStacks)) {
    sliced.push_back(saved(extended->getResult(firstNew + i)));
    slices.push_back(entry.second);
  }
  SmallVector<BlockArgument> old(body.getArguments());
  SmallVector<BlockArgument> ordered;
  for (BlockArgument argument : old)
    if (!llvm::is_contained(slices, argument))
      ordered.push_back(argument);
  llvm::append_range(ordered, slices);
  for (BlockArgument argument : ordered)
    argument.replaceAllUsesWith(
        body.addArgument(argument.getType(), argument.getLoc()));
  body.eraseArguments(0, old.size());

  SmallVector<Type> types;
  for (size_t i = 0; i < numBackwardCarried; ++i)
    types.push_back(inits[i].getType());
  for (Value value : backwardYield.getValues().drop_front(numBackwardCarried))
    types.push_back(withLeadingDim(value.getType(), extended.getCount()));
  auto result = RepeatOp::create(backward, repeat.getLoc(), extended.getPath(),
                                 extended.getFirst(), extended.getCount(),
                                 !extended.getReverse(), inits, sliced, types);
  result.getBody().takeBody(backwardRegion);

  SmallVector<Value> targets;
  for (unsigned i : carriedIndices)
    targets.push_back(extended.getCarried()[i]);
  llvm::append_range(targets, captured);
  llvm::append_range(targets, slicedWithGradient);
  for (auto [target, gradient] : llvm::zip(targets, result.getResults()))
    add(target, gradient);
  return success();
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// Rebuilds `op` with the results in `keep`; yields are trimmed accordingly.
static Operation *withResults(Operation *op, ArrayRef<unsigned> keep) {
  Operation *yield = op->getRegion(0).front().getTerminator();
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (unsigned i : keep) {
    yielded.push_back(yield->getOperand(i));
    types.push_back(op->getResult(i).getType());
  }
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                       op->getAttrs());
  state.addRegion();
  Operation *replacement = builder.create(state);
  replacement->getRegion(0).takeBody(op->getRegion(0));
  yield->setOperands(yielded);
  for (auto [to, from] : llvm::enumerate(keep))
    op->getResult(from).replaceAllUsesWith(replacement->getResult(to));
  op->erase();
  return replacement;
}

void proteus::prune(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    operations.push_back(&op);
  for (Operation *op : llvm::reverse(operations)) {
    if (op->use_empty() && isMemoryEffectFree(op)) {
      op->erase();
      continue;
    }
    if (!isa<RepeatOp, RecomputeOp>(op))
      continue;
    auto repeat = dyn_cast<RepeatOp>(op);
    unsigned numCarried = repeat ? repeat.getNumCarried() : 0;
    unsigned numKept = numCarried;
    if (auto outputs = op->getAttrOfType<IntegerAttr>(kModuleOutputsAttr)) {
      numKept = outputs.getInt();
      op->removeDiscardableAttr(kModuleOutputsAttr);
    }
    SmallVector<unsigned> keep;
    for (OpResult result : op->getResults())
      if (result.getResultNumber() < numKept || !result.use_empty())
        keep.push_back(result.getResultNumber());
    if (keep.size() != op->getNumResults())
      op = withResults(op, keep);
    Block &body = op->getRegion(0).front();
    prune(body);
    for (int i = static_cast<int>(body.getNumArguments()) - 1;
         i >= static_cast<int>(numCarried); --i)
      if (body.getArgument(i).use_empty()) {
        body.eraseArgument(i);
        if (auto current = dyn_cast<RepeatOp>(op))
          current.getSlicedMutable().erase(i - numCarried);
        else
          op->eraseOperand(i);
      }
  }
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Where a repeat starts from a value that needs no gradient (an input), its
/// first iteration has less work in the backward pass than the others: it
/// becomes a repeat of its own. Where that is not possible the gradient is
/// computed for all, and not used.
static void peelFirstIterations(func::FuncOp function, TrainingAttr training) {
  RepeatOp irregular;
  do {
    StepContext context(function, training);
    irregular = {};
    for (auto repeat : function.getOps<RepeatOp>())
      for (auto [init, argument] :
           llvm::zip(repeat.getCarried(), repeat.getCarriedArgs()))
        if (!irregular && repeat.getCount() > 1 && context.isActive(argument) &&
            !context.isActive(init) && !whyNotSplittable(function, repeat))
          irregular = repeat;
    if (irregular) {
      int64_t last = static_cast<int64_t>(irregular.getCount()) - 1;
      splitRepeat(function, irregular, irregular.getReverse() ? last : 1);
    }
  } while (irregular);
}

FailureOr<DenseMap<Value, Value>>
proteus::differentiate(func::FuncOp function, TrainingAttr training) {
  peelFirstIterations(function, training);
  StepContext context(function, training);
  Operation *terminator = function.front().getTerminator();
  Value loss = terminator->getOperand(0);
  if (!context.isActive(loss))
    return function.emitOpError("the loss does not depend on any parameter");

  OpBuilder builder(terminator);
  // A scaled loss keeps small gradients above the smallest number of a narrow
  // type; the updates divide by the scale.
  double scale =
      training.getLossScale() ? training.getLossScale().getValueAsDouble() : 1;
  auto seed = FillOp::create(builder, loss.getLoc(), loss.getType(), "loss",
                             llvm::APFloat(scale));
  setPhase(seed, Phase::Backward);
  if (Operation *producer = loss.getDefiningOp())
    inheritAnnotations(producer, seed);
  BlockDifferentiator differentiator(context, function.front(), builder);
  differentiator.add(loss, seed);
  if (failed(differentiator.run()))
    return failure();
  for (Operation *op : context.replaced)
    op->erase();

  DenseMap<Value, Value> gradients;
  for (BlockArgument argument : function.getArguments())
    if (context.isParameter(argument))
      if (Value gradient = differentiator.gradientOf(argument))
        gradients[argument] = gradient;
  return gradients;
}
