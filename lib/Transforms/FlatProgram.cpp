//===- FlatProgram.cpp - a program with repeats written out -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatProgram.h"

#include "FlatOrder.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Annotations.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace proteus;

/// Tasks are held in memory one by one; more than this is a mistake.
static constexpr int64_t maxTasks = 20000000;

namespace {

/// A value of the flat program: one tensor, or a stack of them, one per
/// iteration of a repeat.
struct FlatValue {
  /// Iterations of a stack; empty for a single tensor.
  std::vector<uint32_t> slices;
  /// The task that makes it available, in the micro- or the once-list.
  int32_t producer = -1;
  bool producedOnce = false;
  /// The buffer that holds it in the list of its producer; -1 if the memory is
  /// resident.
  int32_t buffer = -1;
  /// For an argument of the program or a slice of one: its number among what is
  /// resident, and how many such slices there are.
  int32_t argument = -1;
  int64_t pieces = 1;
  /// The start of a sum over iterations: nothing is there yet.
  bool isEmptySum = false;
};

class Flattener {
public:
  explicit Flattener(dist::ProgramOp program) : program(program) {
    flat.program = program;
    if (auto overlap = program->getAttrOfType<DictionaryAttr>(
            ProteusDialect::overlapAttrName)) {
      auto tensor = overlap.getAs<StringAttr>("tensor");
      tensorCollectivesBlock = tensor && tensor.getValue() == "none";
      auto messages = overlap.getAs<BoolAttr>("messages");
      messagesBlock = messages && !messages.getValue();
    }
  }

  FailureOr<FlatProgram> run();

private:
  LogicalResult visit(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitRepeat(nn::RepeatOp repeat);
  LogicalResult visitRecompute(nn::RecomputeOp recompute);
  void visitFusedReduce(dist::FusedReduceOp fused);
  void visitFusedGather(dist::FusedGatherOp fused);
  void visitTask(Operation *op);
  void visitGatherOnce(dist::AllGatherOp gather);
  /// Whether kernels behind a communication wait for it.
  bool blocks(Operation *op) const;
  std::optional<uint32_t> onlyTerm(nn::AddOp add) const;
  void addArguments();
  void dropGathered();
  void makeResident(dist::SectionOp section);
  void orderSection(size_t begin);

  uint32_t addValue(FlatValue value) {
    values.push_back(std::move(value));
    return values.size() - 1;
  }
  /// Slice `i` of a value; a resident stack is its own slice.
  uint32_t sliceOf(uint32_t value, int64_t i) {
    return values[value].slices.empty() ? value : values[value].slices[i];
  }
  /// What stands for the slices of a value in a repeat of `count` iterations.
  uint32_t slicesOf(uint32_t value, int64_t count) {
    if (values[value].argument < 0)
      return value;
    FlatValue slices = values[value];
    slices.pieces *= count;
    int64_t &pieces = flat.resident[slices.argument].pieces;
    pieces = std::max(pieces, slices.pieces);
    return addValue(std::move(slices));
  }
  /// Whether a value lies in several buffers, which nothing can overwrite as
  /// one.
  bool isInChunks(uint32_t value) {
    return llvm::any_of(values[value].slices, [&](uint32_t slice) {
      return values[slice].buffer >= 0;
    });
  }
  /// All single tensors of a value.
  void leaves(uint32_t value, SmallVectorImpl<uint32_t> &result) {
    if (values[value].slices.empty()) {
      result.push_back(value);
      return;
    }
    for (uint32_t slice : values[value].slices)
      leaves(slice, result);
  }
  /// Makes `task` read `value`.
  void read(FlatTask &task, uint32_t value);
  FlatList &list() { return once ? flat.once : flat.micro; }
  std::string labelOf(Operation *op) const {
    return (prefix + nn::getOwnPath(op));
  }

  dist::ProgramOp program;
  FlatProgram flat;
  std::vector<FlatValue> values;
  DenseMap<Value, uint32_t> environment;
  /// Path of the iterations around the current operation.
  std::string prefix;
  bool once = false;
  sim::Phase phase = sim::Phase::Forward;
  /// Bucket tasks to run right after a task of the micro-list.
  BucketTasks bucketTasks;
  bool tensorCollectivesBlock = false, messagesBlock = false;
  /// Resident memory that is part of what was gathered once.
  llvm::SmallDenseSet<int32_t> gatheredArguments;
};

} // namespace

void Flattener::read(FlatTask &task, uint32_t value) {
  SmallVector<uint32_t> tensors;
  leaves(value, tensors);
  for (uint32_t tensor : tensors) {
    const FlatValue &info = values[tensor];
    if (info.producer >= 0) {
      auto &list =
          once && !info.producedOnce ? task.dependsOnMicro : task.dependsOn;
      if (!llvm::is_contained(list, static_cast<uint32_t>(info.producer)))
        list.push_back(info.producer);
    }
    if (info.buffer >= 0 && info.producedOnce == once &&
        !llvm::is_contained(task.reads, static_cast<uint32_t>(info.buffer)))
      task.reads.push_back(info.buffer);
  }
}

/// The operand into whose memory `result` is written, if any.
static Value inPlaceOperand(OpResult result) {
  Operation *op = result.getOwner();
  if (isa<dist::AllReduceOp, dist::StageReduceOp>(op))
    return op->getOperand(0);
  // An update returns its operands but the gradient, in order.
  if (isa<nn::SGDOp, nn::AdamOp, nn::EmbeddingBagUpdateOp>(op)) {
    unsigned number = result.getResultNumber();
    return op->getOperand(number == 0 ? 0 : number + 1);
  }
  // A step of a ring goes on with what the last one has made.
  if (auto block = dyn_cast<nn::AttentionBlockOp>(op);
      block && !block.getSoFar().empty())
    return block.getSoFar()[result.getResultNumber()];
  if (auto block = dyn_cast<nn::AttentionBlockGradOp>(op);
      block && result.getResultNumber() == 0)
    return block.getQueryGradientSoFar();
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op)) {
    Value init = destinations.getTiedOpOperand(result)->get();
    // An empty tensor has no memory yet, and what others read is not
    // overwritten.
    Operation *producer = init.getDefiningOp();
    if (producer && producer->getNumOperands() > 0 && init.hasOneUse())
      return init;
  }
  return {};
}

sim::Stream proteus::getStream(Operation *op) {
  if (isa<dist::FetchOp>(op))
    return sim::Stream::HostToDevice;
  if (isa<dist::OffloadOp>(op))
    return sim::Stream::DeviceToHost;
  if (isa<dist::ShiftOp>(op))
    return sim::Stream::ContextParallel;
  // Activations and gradients travel independently: the stages may have them in
  // different orders.
  if (isa<dist::SendOp, dist::RecvOp>(op)) {
    bool forward = op->getParentOfType<dist::SectionOp>().getKind() ==
                   dist::SectionKind::Forward;
    if (isa<dist::SendOp>(op))
      return forward ? sim::Stream::PipelineSend
                     : sim::Stream::PipelineSendGradient;
    return forward ? sim::Stream::PipelineReceive
                   : sim::Stream::PipelineReceiveGradient;
  }
  if (!isa<dist::CollectiveOpInterface>(op))
    return sim::Stream::Compute;
  auto purpose = op->getAttrOfType<dist::PurposeAttr>("purpose");
  if (purpose && purpose.getValue() != dist::Purpose::Activation)
    return sim::Stream::DataParallel;
  return sim::Stream::TensorParallel;
}

bool Flattener::blocks(Operation *op) const {
  if (isa<dist::SendOp>(op))
    return messagesBlock;
  return tensorCollectivesBlock && getStream(op) == sim::Stream::TensorParallel;
}

void Flattener::visitTask(Operation *op) {
  FlatTask task;
  task.op = op;
  task.label = labelOf(op);
  task.phase = phase;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      read(task, environment.lookup(operand));
  FlatList &target = list();
  uint32_t number = target.tasks.size();
  bool isBlocking = blocks(op);
  // What blocks waits for the kernels in front of it: they run in order, so the
  // last one will do.
  if (isBlocking)
    for (uint32_t other = number; other-- > target.sectionBegin.back();)
      if (target.tasks[other].waits ||
          getStream(target.tasks[other].op) == sim::Stream::Compute) {
        if (!llvm::is_contained(task.dependsOn, other))
          task.dependsOn.push_back(other);
        break;
      }
  for (OpResult result : op->getResults()) {
    FlatValue value;
    value.producer = number;
    value.producedOnce = once;
    auto purpose = op->getAttrOfType<dist::PurposeAttr>("purpose");
    bool forParameter =
        purpose && purpose.getValue() == dist::Purpose::Parameter;
    // What the update gathers or moves to the host is resident memory.
    bool gathersParameter = once && forParameter && !isa<dist::FetchOp>(op);
    Value memory = inPlaceOperand(result);
    if (memory && isInChunks(environment.lookup(memory)))
      memory = {};
    if (memory) {
      value.buffer = values[environment.lookup(memory)].buffer;
    } else if (!gathersParameter) {
      FlatBuffer buffer;
      buffer.value = result;
      buffer.name = task.label;
      bool forward =
          phase == sim::Phase::Forward || phase == sim::Phase::Recompute;
      if (forParameter)
        buffer.owner = sim::MemoryOwner::Communication;
      else
        buffer.owner = forward ? sim::MemoryOwner::Activations
                               : sim::MemoryOwner::Temporaries;
      value.buffer = target.buffers.size();
      task.allocates.push_back(value.buffer);
      target.buffers.push_back(std::move(buffer));
    }
    environment[result] = addValue(std::move(value));
  }
  target.tasks.push_back(std::move(task));
  if (!isBlocking)
    return;
  FlatTask wait;
  wait.op = op;
  wait.label = labelOf(op);
  wait.phase = phase;
  wait.waits = true;
  wait.dependsOn = {number};
  target.tasks.push_back(std::move(wait));
}

/// A parameter is gathered for the forward pass of the first micro-batch; from
/// then on it is there. The part that the device stores lies within it.
void Flattener::visitGatherOnce(dist::AllGatherOp gather) {
  const FlatValue input = values[environment.lookup(gather.getInput())];
  FlatValue whole;
  if (phase == sim::Phase::Forward) {
    FlatTask task;
    task.op = gather;
    task.label = labelOf(gather);
    task.phase = phase;
    task.firstOnly = true;
    // Another gathering may have gone before.
    if (input.producer >= 0)
      task.dependsOn = {static_cast<uint32_t>(input.producer)};
    whole.producer = flat.micro.tasks.size();
    flat.micro.tasks.push_back(std::move(task));
    if (input.argument >= 0)
      gatheredArguments.insert(input.argument);
    FlatBuffer buffer;
    buffer.value = gather.getResult();
    buffer.name = labelOf(gather);
    buffer.owner = sim::MemoryOwner::Parameters;
    whole.argument = flat.resident.size();
    flat.resident.push_back(std::move(buffer));
  }
  environment[gather.getResult()] = addValue(std::move(whole));
}

/// Forgets the memory of arguments that lies within other memory.
void Flattener::dropGathered() {
  std::vector<FlatBuffer> kept;
  for (auto [i, buffer] : llvm::enumerate(flat.resident))
    if (!gatheredArguments.contains(static_cast<int32_t>(i)))
      kept.push_back(std::move(buffer));
  flat.resident = std::move(kept);
}

LogicalResult Flattener::visitRepeat(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  int64_t count = repeat.getCount();
  int64_t body = repeat.getBody().front().getOperations().size();
  if (count > maxTasks / body)
    return repeat.emitOpError("runs ")
           << count << " times; a program of more than " << maxTasks
           << " tasks can't be simulated";
  SmallVector<uint32_t> carried;
  for (Value init : repeat.getCarried())
    carried.push_back(environment.lookup(init));
  SmallVector<uint32_t> sliced;
  for (Value stack : repeat.getSliced())
    sliced.push_back(slicesOf(environment.lookup(stack), count));
  unsigned numStacks = repeat.getStackedResults().size();
  SmallVector<std::vector<uint32_t>> stacks(numStacks,
                                            std::vector<uint32_t>(count));
  std::string outer = prefix;
  for (int64_t step = 0; step < count; ++step) {
    int64_t i = repeat.getReverse() ? count - 1 - step : step;
    prefix = outer + repeat.getPath().str() + "[" +
             std::to_string(repeat.getFirst() + i) + "].";
    for (auto [argument, value] : llvm::zip(repeat.getCarriedArgs(), carried))
      environment[argument] = value;
    for (auto [argument, value] : llvm::zip(repeat.getSliceArgs(), sliced))
      environment[argument] = sliceOf(value, i);
    if (failed(visit(repeat.getBody().front())))
      return failure();
    for (auto [j, yielded] :
         llvm::enumerate(repeat.getYield()->getOperands())) {
      uint32_t value = environment.lookup(yielded);
      if (j < numCarried)
        carried[j] = value;
      else
        stacks[j - numCarried][i] = value;
    }
  }
  prefix = outer;
  for (auto [result, value] : llvm::zip(repeat.getCarriedResults(), carried))
    environment[result] = value;
  for (auto [result, slices] : llvm::zip(repeat.getStackedResults(), stacks)) {
    FlatValue stack;
    stack.slices = std::move(slices);
    environment[result] = addValue(std::move(stack));
  }
  return success();
}

LogicalResult Flattener::visitRecompute(nn::RecomputeOp recompute) {
  for (auto [input, argument] :
       llvm::zip(recompute.getInputs(), recompute.getBody().getArguments()))
    environment[argument] = environment.lookup(input);
  sim::Phase outer = phase;
  phase = sim::Phase::Recompute;
  LogicalResult result = visit(recompute.getBody().front());
  phase = outer;
  for (auto [yielded, result] :
       llvm::zip(recompute.getYield()->getOperands(), recompute.getResults()))
    environment[result] = environment.lookup(yielded);
  return result;
}

/// Every bucket becomes a task of the section that computes its members, right
/// after the last of them. The reduced gradients take the place of the
/// unreduced ones.
void Flattener::visitFusedReduce(dist::FusedReduceOp fused) {
  SmallVector<std::vector<uint32_t>> reduced;
  for (auto [i, input] : llvm::enumerate(fused.getInputs()))
    reduced.emplace_back(fused.getNumIterations(i));
  for (auto [number, bucket] :
       llvm::enumerate(fused.getBuckets().getValue().list)) {
    FlatTask task;
    task.op = fused;
    task.bucket = number;
    task.label = "bucket " + std::to_string(number);
    task.phase = sim::Phase::Backward;
    uint32_t last = 0;
    uint32_t id = bucketTasks.size();
    uint32_t numTasks = flat.micro.tasks.size();
    for (const dist::BucketRange &range : bucket) {
      uint32_t input = environment.lookup(fused.getInputs()[range.operand]);
      bool stacked = fused.getStacked()[range.operand];
      for (int64_t i = range.from; i < range.to; ++i) {
        uint32_t member = stacked ? sliceOf(input, i) : input;
        int32_t producer = values[member].producer;
        if (producer >= 0) {
          uint32_t number = producer;
          // What another bucket has reduced is there when that one is.
          uint32_t behind =
              number < numTasks ? number : bucketTasks[number - numTasks].first;
          last = std::max(last, behind);
          if (!llvm::is_contained(task.dependsOn, number))
            task.dependsOn.push_back(number);
        }
        FlatValue value;
        // Tasks of buckets get their place at the end; until then they are
        // numbered behind all others.
        value.producer = numTasks + id;
        reduced[range.operand][i] = addValue(std::move(value));
      }
    }
    bucketTasks.push_back({last, std::move(task)});
  }
  for (auto [i, output] : llvm::enumerate(fused.getOutputs())) {
    if (!fused.getStacked()[i]) {
      environment[output] = reduced[i].front();
      continue;
    }
    FlatValue stack;
    stack.slices = std::move(reduced[i]);
    environment[output] = addValue(std::move(stack));
  }
}

/// Every bucket is a task of the update. What it gathers takes its place in the
/// memory of the parameters.
void Flattener::visitFusedGather(dist::FusedGatherOp fused) {
  for (auto [number, bucket] :
       llvm::enumerate(fused.getBuckets().getValue().list)) {
    FlatTask task;
    task.op = fused;
    task.bucket = number;
    task.label = "gather " + std::to_string(number);
    task.phase = phase;
    for (const dist::BucketRange &range : bucket) {
      uint32_t input = environment.lookup(fused.getInputs()[range.operand]);
      bool stacked = fused.getStacked()[range.operand];
      for (int64_t i = range.from; i < range.to; ++i)
        read(task, stacked ? sliceOf(input, i) : input);
    }
    list().tasks.push_back(std::move(task));
  }
  for (Value output : fused.getOutputs())
    environment[output] = addValue(FlatValue());
}

/// Whether `fill` gives nothing but the start of sums over the iterations of
/// repeats. Layers that are written out have no such start.
static bool startsSums(nn::FillOp fill) {
  return fill.getValue().isZero() && !fill->use_empty() &&
         llvm::all_of(fill->getUses(), [](OpOperand &use) {
           auto repeat = dyn_cast<nn::RepeatOp>(use.getOwner());
           if (!repeat || use.getOperandNumber() >= repeat.getNumCarried())
             return false;
           BlockArgument sum =
               repeat.getBody().getArgument(use.getOperandNumber());
           return sum.hasOneUse() && isa<nn::AddOp>(*sum.user_begin());
         });
}

/// What is left of an addition to an empty sum: the other operand.
std::optional<uint32_t> Flattener::onlyTerm(nn::AddOp add) const {
  for (auto [sum, term] :
       {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}})
    if (values[environment.lookup(sum)].isEmptySum)
      return environment.lookup(term);
  return std::nullopt;
}

LogicalResult Flattener::visit(Operation *op) {
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    return visitRepeat(repeat);
  if (auto recompute = dyn_cast<nn::RecomputeOp>(op))
    return visitRecompute(recompute);
  if (auto fused = dyn_cast<dist::FusedReduceOp>(op)) {
    visitFusedReduce(fused);
    return success();
  }
  if (auto fused = dyn_cast<dist::FusedGatherOp>(op)) {
    visitFusedGather(fused);
    return success();
  }
  if (auto gather = dyn_cast<dist::AllGatherOp>(op);
      gather && gather->hasAttr(ProteusDialect::onceAttrName)) {
    visitGatherOnce(gather);
    return success();
  }
  // Chunks that were written to their places: who reads the whole reads all.
  if (auto join = dyn_cast<dist::JoinOp>(op)) {
    FlatValue whole;
    for (Value input : join.getInputs())
      whole.slices.push_back(environment.lookup(input));
    environment[join.getResult()] = addValue(std::move(whole));
    return success();
  }
  if (auto fill = dyn_cast<nn::FillOp>(op); fill && startsSums(fill)) {
    FlatValue sum;
    sum.isEmptySum = true;
    environment[fill.getResult()] = addValue(std::move(sum));
    return success();
  }
  if (auto add = dyn_cast<nn::AddOp>(op))
    if (std::optional<uint32_t> term = onlyTerm(add)) {
      environment[add.getResult()] = *term;
      return success();
    }
  // No work: the result is the operand seen differently.
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
  bool view =
      isa<dist::AccumulateOp, dist::SliceOp, dist::ChunkOp, dist::RestrictOp>(
          op) ||
      (kernel && kernel.getKernelClass() == nn::KernelClass::View);
  if (view) {
    uint32_t source = op->getNumOperands() > 0
                          ? environment.lookup(op->getOperand(0))
                          : addValue(FlatValue());
    for (Value result : op->getResults())
      environment[result] = source;
    return success();
  }
  if (kernel ||
      isa<dist::CollectiveOpInterface, dist::OffloadOp, dist::FetchOp>(op)) {
    visitTask(op);
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::ConstantLike>())
    return success();
  return op->emitOpError("can't be simulated: it is neither a kernel nor a "
                         "collective; run lower-strategy first");
}

LogicalResult Flattener::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

void Flattener::addArguments() {
  for (BlockArgument argument : program.getArguments()) {
    FlatBuffer buffer;
    buffer.value = argument;
    buffer.name = getArgumentPath(argument);
    switch (getRole(argument).value_or(nn::Role::Input)) {
    case nn::Role::Input:
      buffer.owner = sim::MemoryOwner::Activations;
      break;
    case nn::Role::Parameter:
      buffer.owner = sim::MemoryOwner::Parameters;
      break;
    case nn::Role::State:
      buffer.owner = isMasterCopy(argument) ? sim::MemoryOwner::MasterWeights
                                            : sim::MemoryOwner::OptimizerState;
      break;
    }
    FlatValue value;
    value.argument = flat.resident.size();
    environment[argument] = addValue(std::move(value));
    flat.resident.push_back(std::move(buffer));
  }
}

/// What a section hands to the update or to the outside lives for the whole
/// step: gradients accumulate in place.
void Flattener::makeResident(dist::SectionOp section) {
  llvm::BitVector dropped(flat.micro.buffers.size());
  for (auto [yielded, result] :
       llvm::zip(section.getYielded(), section.getOutputs())) {
    bool leaves = llvm::any_of(result.getUsers(), [](Operation *user) {
      auto reader = user->getParentOfType<dist::SectionOp>();
      return !reader || reader.getOnce();
    });
    if (!leaves)
      continue;
    SmallVector<uint32_t> tensors;
    this->leaves(environment.lookup(yielded), tensors);
    bool backward = section.getKind() != dist::SectionKind::Forward;
    FlatBuffer buffer;
    buffer.value = yielded;
    buffer.owner =
        backward ? sim::MemoryOwner::Gradients : sim::MemoryOwner::Activations;
    if (Operation *producer = yielded.getDefiningOp())
      buffer.name = nn::getOwnPath(producer);
    buffer.pieces = tensors.size();
    flat.resident.push_back(std::move(buffer));
    for (uint32_t tensor : tensors) {
      int32_t &frame = values[tensor].buffer;
      if (frame >= 0)
        dropped.set(frame);
      frame = -1;
    }
  }
  if (dropped.none())
    return;
  auto isDropped = [&](uint32_t buffer) { return dropped.test(buffer); };
  for (FlatTask &task : flat.micro.tasks) {
    llvm::erase_if(task.allocates, isDropped);
    llvm::erase_if(task.reads, isDropped);
  }
}

/// Orders the section that ends the micro-list; `begin` is where it begins.
void Flattener::orderSection(size_t begin) {
  std::vector<uint32_t> renumbered = placeByLayer(flat.micro, begin);
  for (FlatValue &value : values)
    if (!value.producedOnce && value.producer >= static_cast<int64_t>(begin))
      value.producer = renumbered[value.producer - begin];
}

FailureOr<FlatProgram> Flattener::run() {
  addArguments();
  for (dist::SectionOp section : program.getSections()) {
    once = section.getOnce();
    phase = once ? sim::Phase::Update
                 : (section.getKind() == dist::SectionKind::Forward
                        ? sim::Phase::Forward
                        : sim::Phase::Backward);
    list().sectionBegin.push_back(list().tasks.size());
    list().sections.push_back({section.getKind(), section.getChunkNumber()});
    if (failed(visit(section.getBody().front())))
      return failure();
    if (!once) {
      orderSection(list().sectionBegin.back());
      makeResident(section);
    }
    for (auto [yielded, result] :
         llvm::zip(section.getYielded(), section.getOutputs()))
      environment[result] = environment.lookup(yielded);
  }
  flat.micro.sectionBegin.push_back(flat.micro.tasks.size());
  flat.once.sectionBegin.push_back(flat.once.tasks.size());
  dropGathered();
  placeBuckets(flat, std::move(bucketTasks));
  placePrefetches(flat);
  return std::move(flat);
}

FailureOr<FlatProgram> proteus::flatten(dist::ProgramOp program) {
  return Flattener(program).run();
}
