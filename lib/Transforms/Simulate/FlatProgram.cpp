//===- FlatProgram.cpp - a program with repeats written out -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visits the sections of a program, and the body of a repeat once per
// iteration. Handles the operations that do not become tasks.
//
//===----------------------------------------------------------------------===//

#include "Flattener.h"

#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;

/// Largest number of tasks to which a repeat, with those around it, expands.
/// Every task takes memory, and a larger number is probably a mistake in the
/// input.
static constexpr int64_t maxTasks = 20000000;

Flattener::Flattener(dist::ProgramOp program, bool addsInPlace)
    : program(program), addsInPlace(addsInPlace) {
  flat.program = program;
  dist::OverlapAttr overlap = program.getStepOrDefault().getOverlap();
  tensorCollectivesBlock = overlap.getTensor() == plan::TensorOverlap::None;
  messagesBlock = !overlap.getMessages();
  reductions = overlap.getReductions();
}

LogicalResult Flattener::visitRepeat(nn::RepeatOp repeat) {
  unsigned numCarried = repeat.getNumCarried();
  int64_t count = repeat.getCount();
  int64_t body = repeat.getBody().front().getOperations().size();
  if (count > maxTasks / iterations / body)
    return repeat.emitOpError("runs ")
           << count << " times"
           << (iterations > 1
                   ? " in each of " + std::to_string(iterations) + " iterations"
                   : "")
           << "; a program of more than " << maxTasks
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
  iterations *= count;
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
  iterations /= count;
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

/// Returns true if `fill` is a zero that only serves as the initial value of
/// sums over the iterations of repeats. Such a zero is skipped, because layers
/// that are written out do not have such a zero.
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

/// Returns the value of `x` if `add` is `x + 0` or `0 + x` and the zero is an
/// empty sum (FlatValue::isEmptySum), else nullopt.
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
  // In other sections than the update, a fused collective has one bucket and is
  // a task like any other.
  if (auto fused = dyn_cast<dist::FusedReduceOp>(op); fused && once) {
    visitFusedReduce(fused);
    return success();
  }
  if (auto fused = dyn_cast<dist::FusedGatherOp>(op); fused && once) {
    visitFusedGather(fused);
    return success();
  }
  if (auto gather = dyn_cast<dist::AllGatherOp>(op);
      gather && gather->hasAttr(ProteusDialect::onceAttrName)) {
    visitGatherOnce(gather);
    return success();
  }
  // A join copies nothing, because every chunk is written directly to its part
  // of the result. A reader of the result therefore reads the buffers of all
  // chunks.
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
  // A view does no work: its result has the memory of its operand.
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

/// Orders the last section of the current list, and updates the indices of
/// producers in `values`. An update section keeps its order.
void Flattener::orderLastSection() {
  int64_t begin = list().sectionBegin.back();
  std::vector<uint32_t> renumbered =
      orderSection(list(), /*byLayer=*/!once, reductions);
  for (FlatValue &value : values)
    if (value.producedOnce == once && value.producer >= begin)
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
    orderLastSection();
    if (!once)
      makeResident(section);
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

FailureOr<FlatProgram> proteus::flatten(dist::ProgramOp program,
                                        bool addsInPlace) {
  return Flattener(program, addsInPlace).run();
}
