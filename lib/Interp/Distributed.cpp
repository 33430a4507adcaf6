//===- Distributed.cpp - a schedule of programs executed --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/Dist/Schedule.h"
#include "Proteus/Interp/Interpreter.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using dist::Axis;
using dist::AxisList;

/// Relative difference from which on replicas count as different.
static constexpr double replicaTolerance = 1e-9;

static const dist::Layout &layoutOf(Value value) {
  return dist::getLayout(value.getType()).getValue();
}

static AxisList axesOf(dist::MeshAttr mesh, ArrayAttr names) {
  return *dist::getAxes(mesh, names);
}

/// The minor axes of dimension `dim`, as many as a collective runs over, in the
/// order in which they shard it.
static ArrayRef<Axis> minorAxes(Value value, unsigned dim, size_t count) {
  return ArrayRef<Axis>(layoutOf(value).dims[dim]).take_back(count);
}

namespace {

/// Messages on their way, by tag and micro-batch (none in the update).
using Mailbox =
    std::map<std::pair<int64_t, std::optional<int64_t>>, RankTensors>;

/// The sections of one program for one micro-batch, or its update.
class Frame : public Executor {
public:
  Frame(RankGrid grid, std::optional<int64_t> micro, Mailbox &mailbox,
        ArrayRef<std::unique_ptr<Frame>> microBatches)
      : Executor(std::move(grid)), micro(micro), mailbox(mailbox),
        microBatches(microBatches) {}

protected:
  FailureOr<bool> visitOther(Operation *op) override;

private:
  LogicalResult visit(dist::AllReduceOp op);
  LogicalResult visit(dist::AllGatherOp op);
  LogicalResult visit(dist::ReduceScatterOp op);
  LogicalResult visit(dist::AllToAllOp op);
  LogicalResult visit(dist::SliceOp op);
  LogicalResult visit(dist::FusedReduceOp op);
  LogicalResult visit(dist::AccumulateOp op);
  LogicalResult visit(dist::SendOp op);
  LogicalResult visit(dist::RecvOp op);
  RankTensors reduceRange(dist::FusedReduceOp op, unsigned operand,
                          const RankTensors &input);

  std::optional<int64_t> micro;
  Mailbox &mailbox;
  /// For the update: what the sections of every micro-batch have computed.
  ArrayRef<std::unique_ptr<Frame>> microBatches;
};

} // namespace

LogicalResult Frame::visit(dist::AllReduceOp op) {
  return setChecked(op.getResult(),
                    allReduce(getGrid(), get(op.getInput()),
                              axesOf(op.getMesh(), op.getAxes()),
                              op.getReduction()));
}

LogicalResult Frame::visit(dist::AllGatherOp op) {
  return setChecked(
      op.getResult(),
      allGather(getGrid(), get(op.getInput()), op.getDim(),
                minorAxes(op.getInput(), op.getDim(), op.getAxes().size())));
}

LogicalResult Frame::visit(dist::ReduceScatterOp op) {
  return setChecked(
      op.getResult(),
      reduceScatter(getGrid(), get(op.getInput()), op.getDim(),
                    minorAxes(op.getResult(), op.getDim(), op.getAxes().size()),
                    op.getReduction()));
}

LogicalResult Frame::visit(dist::AllToAllOp op) {
  size_t count = op.getAxes().size();
  return setChecked(op.getResult(),
                    allToAll(getGrid(), get(op.getInput()), op.getFromDim(),
                             minorAxes(op.getInput(), op.getFromDim(), count),
                             op.getToDim(),
                             minorAxes(op.getResult(), op.getToDim(), count)));
}

LogicalResult Frame::visit(dist::SliceOp op) {
  return setChecked(
      op.getResult(),
      sliceParts(getGrid(), get(op.getInput()), op.getDim(),
                 minorAxes(op.getResult(), op.getDim(), op.getAxes().size())));
}

/// Reduces some iterations of an operand.
RankTensors Frame::reduceRange(dist::FusedReduceOp op, unsigned operand,
                               const RankTensors &input) {
  AxisList axes = axesOf(op.getMesh(), op.getAxes());
  if (op.getKind() == dist::CollectiveKind::AllReduce)
    return allReduce(getGrid(), input, axes, op.getReduction());
  // The dimension that the reduction shards is the one whose axes are new.
  const dist::Layout &result = layoutOf(op.getOutputs()[operand]);
  unsigned dim = *result.getShardedDim(axes.front());
  return reduceScatter(getGrid(), input, dim,
                       minorAxes(op.getOutputs()[operand], dim, axes.size()),
                       op.getReduction());
}

LogicalResult Frame::visit(dist::FusedReduceOp op) {
  // What no bucket reduces stays a value that can't be missed.
  std::vector<RankTensors> reduced(op.getInputs().size());
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    for (unsigned rank = 0; rank < getGrid().size(); ++rank)
      reduced[i].emplace_back(
          dist::localShape(cast<RankedTensorType>(output.getType()),
                           getGrid().getCoordinates(rank)),
          std::numeric_limits<double>::quiet_NaN());
  for (const auto &bucket : op.getBuckets().getValue().list)
    for (const dist::BucketRange &range : bucket) {
      bool stacked = op.getStacked()[range.operand];
      RankTensors part = get(op.getInputs()[range.operand]);
      if (stacked)
        for (Tensor &tensor : part)
          tensor = tensor.slice(0, range.from, range.to - range.from);
      part = reduceRange(op, range.operand, part);
      for (auto [tensor, target] :
           llvm::zip_equal(part, reduced[range.operand])) {
        Shape offset(tensor.getRank(), 0);
        if (stacked)
          offset[0] = range.from;
        target.insert(tensor, offset);
      }
    }
  for (auto [output, tensors] : llvm::zip_equal(op.getOutputs(), reduced))
    if (failed(setChecked(output, std::move(tensors))))
      return failure();
  return success();
}

LogicalResult Frame::visit(dist::AccumulateOp op) {
  if (micro)
    return op.emitOpError("can't be evaluated: the sum over micro-batches is "
                          "known in the update only");
  RankTensors sums;
  for (const std::unique_ptr<Frame> &frame : microBatches) {
    const RankTensors &part = frame->get(op.getInput());
    if (sums.empty()) {
      sums = part;
      continue;
    }
    for (auto [sum, tensor] : llvm::zip_equal(sums, part))
      for (int64_t i = 0; i < sum.size(); ++i)
        sum[i] += tensor[i];
  }
  return setChecked(op.getResult(), std::move(sums));
}

LogicalResult Frame::visit(dist::SendOp op) {
  auto [entry, isNew] =
      mailbox.try_emplace({op.getTag(), micro}, get(op.getValue()));
  if (!isNew)
    return op.emitOpError("sends the message with tag ")
           << op.getTag() << " twice";
  return success();
}

LogicalResult Frame::visit(dist::RecvOp op) {
  auto message = mailbox.find({op.getTag(), micro});
  assert(message != mailbox.end() && "a section starts when all is there");
  RankTensors tensors = std::move(message->second);
  mailbox.erase(message);
  if (tensors.size() != getGrid().size())
    return op.emitOpError("receives from ")
           << tensors.size() << " ranks, but its own stage has "
           << getGrid().size();
  return setChecked(op.getValue(), std::move(tensors));
}

FailureOr<bool> Frame::visitOther(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp,
            dist::AllToAllOp, dist::SliceOp, dist::FusedReduceOp,
            dist::AccumulateOp, dist::SendOp, dist::RecvOp>(
          [&](auto known) -> FailureOr<bool> {
            if (failed(visit(known)))
              return failure();
            return true;
          })
      .Default([](Operation *) { return false; });
}

namespace {

/// One program in the course of its schedule.
class ProgramRun {
public:
  ProgramRun(dist::ProgramOp program, Mailbox &mailbox,
             ArgumentValue arguments);

  /// Whether a section can start: all that it receives is there. An update can
  /// always start and waits where it is.
  bool isReady(const dist::Work &work);
  /// Executes a section; `false` if it has to wait for a message.
  FailureOr<bool> execute(const dist::Work &work);
  /// Where the update waits; null before it starts.
  Operation *getWaiting() const { return waiting; }
  /// The results, put together from what the ranks hold.
  FailureOr<std::vector<Tensor>> gatherResults();

private:
  void setArguments(Frame &frame, ArgumentValue arguments);
  LogicalResult enterUpdate();
  FailureOr<bool> runUpdate(Block &body);
  FailureOr<Tensor> gather(Value value);

  dist::ProgramOp program;
  Mailbox &mailbox;
  std::vector<std::unique_ptr<Frame>> microBatches;
  std::unique_ptr<Frame> update;
  Operation *waiting = nullptr;
};

} // namespace

ProgramRun::ProgramRun(dist::ProgramOp program, Mailbox &mailbox,
                       ArgumentValue arguments)
    : program(program), mailbox(mailbox) {
  const dist::Mesh &mesh = program.getMesh().getValue();
  auto fixed = program.getFixed();
  for (int64_t micro = 0; micro < mesh.micro; ++micro) {
    microBatches.push_back(
        std::make_unique<Frame>(RankGrid(mesh, fixed, micro), micro, mailbox,
                                ArrayRef<std::unique_ptr<Frame>>()));
    setArguments(*microBatches.back(), arguments);
  }
  update = std::make_unique<Frame>(RankGrid(mesh, fixed), std::nullopt, mailbox,
                                   microBatches);
  setArguments(*update, arguments);
}

void ProgramRun::setArguments(Frame &frame, ArgumentValue arguments) {
  for (BlockArgument argument : program.getArguments()) {
    Tensor whole = arguments(argument);
    auto type = cast<RankedTensorType>(argument.getType());
    RankTensors blocks;
    for (unsigned rank = 0; rank < frame.getGrid().size(); ++rank) {
      ArrayRef<int64_t> coordinates = frame.getGrid().getCoordinates(rank);
      blocks.push_back(whole.slice(dist::localOffset(type, coordinates),
                                   dist::localShape(type, coordinates)));
    }
    frame.set(argument, std::move(blocks));
  }
}

bool ProgramRun::isReady(const dist::Work &work) {
  if (!work.micro)
    return true;
  bool ready = true;
  program.getSection(work.kind, work.chunk).walk([&](dist::RecvOp recv) {
    ready &= mailbox.count({recv.getTag(), work.micro}) > 0;
  });
  return ready;
}

/// Hands what the sections of the micro-batches have computed to the update, as
/// far as it does not depend on the micro-batch.
LogicalResult ProgramRun::enterUpdate() {
  for (dist::SectionOp section : program.getSections()) {
    if (section.getOnce())
      continue;
    for (Value output : section.getOutputs()) {
      if (!layoutOf(output).isReplicated(dist::microAxis))
        continue;
      const RankTensors &first = microBatches.front()->get(output);
      for (size_t micro = 1; micro < microBatches.size(); ++micro)
        for (auto [rank, tensor] :
             llvm::enumerate(microBatches[micro]->get(output))) {
          Difference difference = largestDifference(first[rank], tensor);
          if (difference.relative > replicaTolerance)
            return section.emitOpError("computes a value of type ")
                   << output.getType() << " that differs between micro-batch 0"
                   << " (" << difference.first << ") and " << micro << " ("
                   << difference.second << ") on rank " << rank;
        }
      update->set(output, first);
    }
  }
  return success();
}

/// Runs the update up to a message that is not there yet. Updates exchange
/// numbers about all gradients, so each waits for others in the middle.
FailureOr<bool> ProgramRun::runUpdate(Block &body) {
  if (!waiting) {
    if (failed(enterUpdate()))
      return failure();
    waiting = &body.front();
  }
  for (; !waiting->hasTrait<OpTrait::IsTerminator>();
       waiting = waiting->getNextNode()) {
    auto recv = dyn_cast<dist::RecvOp>(waiting);
    if (recv && !mailbox.count({recv.getTag(), std::nullopt}))
      return false;
    if (failed(update->run(waiting)))
      return failure();
  }
  return true;
}

FailureOr<bool> ProgramRun::execute(const dist::Work &work) {
  dist::SectionOp section = program.getSection(work.kind, work.chunk);
  Frame &frame = work.micro ? *microBatches[*work.micro] : *update;
  Block &body = section.getBody().front();
  if (work.micro) {
    if (failed(frame.run(body)))
      return failure();
  } else {
    FailureOr<bool> done = runUpdate(body);
    if (failed(done) || !*done)
      return done;
  }
  for (auto [output, yielded] :
       llvm::zip_equal(section.getOutputs(), section.getYielded()))
    frame.alias(output, yielded);
  return true;
}

/// Puts a value together. Replicas must agree; partial values are reduced.
FailureOr<Tensor> ProgramRun::gather(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  const dist::Layout &layout = layoutOf(value);
  // The first copy of every distinct block, by its coordinates with those of
  // replicating axes at zero.
  using Coordinates = std::vector<int64_t>;
  std::map<Coordinates, Tensor> blocks;
  auto add = [&](const Frame &frame) -> LogicalResult {
    for (auto [rank, tensor] : llvm::enumerate(frame.get(value))) {
      Coordinates key(frame.getGrid().getCoordinates(rank));
      for (Axis axis = 0; axis < key.size(); ++axis)
        if (layout.isReplicated(axis))
          key[axis] = 0;
      auto [entry, isNew] = blocks.try_emplace(key, tensor);
      if (isNew)
        continue;
      Difference difference = largestDifference(entry->second, tensor);
      if (difference.relative > replicaTolerance)
        return emitError(value.getLoc(), "replicas of a value of type ")
               << type << " differ: rank " << rank << " at "
               << formatIndex(frame.getGrid().getCoordinates(rank)) << " holds "
               << difference.second << " at "
               << formatIndex(
                      delinearise(tensor.getShape(), difference.position))
               << ", the first replica " << difference.first;
    }
    return success();
  };
  if (update->has(value)) {
    if (failed(add(*update)))
      return failure();
  } else {
    for (const std::unique_ptr<Frame> &frame : microBatches)
      if (failed(add(*frame)))
        return failure();
  }
  // The value is the sum of the maxima, so those come first.
  for (dist::ReductionKind kind :
       {dist::ReductionKind::Max, dist::ReductionKind::Sum}) {
    std::map<Coordinates, Tensor> reduced;
    for (auto &[key, tensor] : blocks) {
      Coordinates whole = key;
      for (Axis axis : layout.getPartial(kind))
        whole[axis] = 0;
      auto [entry, isNew] = reduced.try_emplace(whole, tensor);
      for (int64_t i = 0; !isNew && i < tensor.size(); ++i) {
        double &sum = entry->second[i];
        sum = kind == dist::ReductionKind::Sum ? sum + tensor[i]
                                               : std::max(sum, tensor[i]);
      }
    }
    blocks = std::move(reduced);
  }
  Tensor whole(type.getShape(), std::numeric_limits<double>::quiet_NaN());
  for (auto &[key, tensor] : blocks)
    whole.insert(tensor, dist::localOffset(type, key));
  return whole;
}

FailureOr<std::vector<Tensor>> ProgramRun::gatherResults() {
  std::vector<Tensor> results;
  for (Value value : program.getBody().front().getTerminator()->getOperands()) {
    FailureOr<Tensor> whole = gather(value);
    if (failed(whole))
      return failure();
    results.push_back(std::move(*whole));
  }
  return results;
}

/// Runs the orders of all programs, each until it waits for a message.
static LogicalResult runSchedule(dist::ScheduleOp schedule,
                                 std::vector<ProgramRun> &runs) {
  std::vector<size_t> next(runs.size(), 0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto [stage, run] : llvm::enumerate(runs)) {
      ArrayRef<dist::Work> order = schedule.getWork(stage);
      while (next[stage] < order.size() && run.isReady(order[next[stage]])) {
        Operation *before = run.getWaiting();
        FailureOr<bool> done = run.execute(order[next[stage]]);
        if (failed(done))
          return failure();
        progress |= *done || run.getWaiting() != before;
        if (!*done)
          break;
        ++next[stage];
      }
    }
  }
  SmallVector<size_t> stuck;
  for (size_t stage = 0; stage < runs.size(); ++stage)
    if (next[stage] != schedule.getWork(stage).size())
      stuck.push_back(stage);
  if (stuck.empty())
    return success();
  InFlightDiagnostic diagnostic = schedule.emitOpError(
      "can't run to its end: every stage that is left waits for a message");
  for (size_t stage : stuck)
    diagnostic.attachNote()
        << "stage " << stage << " waits before "
        << dist::formatWork(schedule.getWork(stage)[next[stage]]);
  return diagnostic;
}

FailureOr<std::vector<std::vector<Tensor>>>
proteus::interp::interpret(dist::ScheduleOp schedule, ArgumentValue arguments) {
  Mailbox mailbox;
  std::vector<ProgramRun> runs;
  for (auto name : schedule.getPrograms().getAsRange<FlatSymbolRefAttr>())
    runs.emplace_back(
        SymbolTable::lookupNearestSymbolFrom<dist::ProgramOp>(schedule, name),
        mailbox, arguments);
  if (failed(runSchedule(schedule, runs)))
    return failure();
  if (!mailbox.empty())
    return schedule.emitOpError("ends with ")
           << mailbox.size() << " messages that nobody receives, tag "
           << mailbox.begin()->first.first << " first";
  std::vector<std::vector<Tensor>> results;
  for (ProgramRun &run : runs) {
    FailureOr<std::vector<Tensor>> own = run.gatherResults();
    if (failed(own))
      return failure();
    results.push_back(std::move(*own));
  }
  return results;
}
