//===- Distributed.cpp - execution of a schedule of programs ----*- C++ -*-===//
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
#include "Proteus/Interp/Place.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using dist::Axis;
using dist::AxisList;

/// Maximum relative difference between replicas that count as equal.
static constexpr double replicaTolerance = 1e-9;

static const dist::Layout &layoutOf(Value value) {
  return dist::getLayout(value.getType()).getValue();
}

static AxisList axesOf(dist::MeshAttr mesh, ArrayAttr names) {
  return *dist::getAxes(mesh, names);
}

/// Returns the last `count` of the axes that shard dimension `dim` of `value`.
/// A collective runs over these minor axes. The result is marked as a zigzag if
/// the dimension is sharded in a zigzag.
static AxisList minorAxes(Value value, unsigned dim, size_t count) {
  const AxisList &all = layoutOf(value).getAxes(dim);
  AxisList minor(ArrayRef<Axis>(all).take_back(count));
  minor.zigzag = all.zigzag;
  return minor;
}

namespace {

/// Messages that are sent and not yet received, by tag and micro-batch (nullopt
/// in the update).
using Mailbox =
    std::map<std::pair<int64_t, std::optional<int64_t>>, RankTensors>;

/// Contributions of stages to reductions across stages (`dist.stage_reduce`),
/// by tag and stage.
using Meetings = std::map<int64_t, std::map<int64_t, RankTensors>>;

/// Executor of a part of a program: the forward and backward sections for one
/// micro-batch, or the update section.
class Frame : public Executor<double> {
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
  LogicalResult visit(dist::PermuteOp op);
  LogicalResult visit(dist::BroadcastOp op);
  LogicalResult visit(dist::ScatterOp op);
  LogicalResult visit(dist::GatherOp op);
  LogicalResult visit(dist::RestrictOp op);
  LogicalResult visit(dist::ExchangeOp op);
  RankTensors scatter(Value input, Value result, unsigned dim,
                      ArrayRef<Axis> axes);
  RankTensors gather(Value input, Value result, unsigned dim, size_t count);
  RankTensors cut(const RankTensors &input, Value result, unsigned dim,
                  size_t count);
  RankTensors collect(const RankTensors &input, Value operand, Value result,
                      unsigned dim, size_t count);
  LogicalResult visit(dist::SliceOp op);
  LogicalResult visit(dist::ChunkOp op);
  LogicalResult visit(dist::JoinOp op);
  LogicalResult visit(dist::ShiftOp op);
  LogicalResult visit(dist::FusedReduceOp op);
  LogicalResult visit(dist::FusedGatherOp op);
  LogicalResult visit(dist::OffloadOp op);
  LogicalResult visit(dist::FetchOp op);
  LogicalResult visit(dist::AccumulateOp op);
  LogicalResult visit(dist::SendOp op);
  LogicalResult visit(dist::RecvOp op);
  RankTensors runRange(dist::FusedReduceOp op, unsigned operand,
                       const RankTensors &input);
  RankTensors runRange(dist::FusedGatherOp op, unsigned operand,
                       const RankTensors &input);
  template <typename OpT> LogicalResult runBuckets(OpT op);

  std::optional<int64_t> micro;
  Mailbox &mailbox;
  /// In the frame of the update: the frames of all micro-batches. Empty in
  /// other frames.
  ArrayRef<std::unique_ptr<Frame>> microBatches;
};

} // namespace

/// Cuts `input` along dimension `dim` of `result`, or along its flat cut, over
/// the last `count` of the axes that shard it. `input` may have fewer leading
/// elements than `result`.
RankTensors Frame::cut(const RankTensors &input, Value result, unsigned dim,
                       size_t count) {
  AxisList axes = minorAxes(result, dim, count);
  const dist::Layout &layout = layoutOf(result);
  if (dim < layout.dims.size())
    return sliceParts(getGrid(), input, dim, axes);
  return sliceFlat(
      getGrid(), input, axes, layout.flat.leading,
      dist::flatPartSize(dist::getLayout(result.getType()).getMesh().getValue(),
                         layout, dist::tensorTypeOf(result).getShape()));
}

/// Collects dimension `dim` of `operand`, or the parts of its flat cut, over
/// the last `count` of the axes that shard it. `input` are the tensors of
/// `operand`, or of some of its leading elements.
RankTensors Frame::collect(const RankTensors &input, Value operand,
                           Value result, unsigned dim, size_t count) {
  AxisList axes = minorAxes(operand, dim, count);
  const dist::Layout &layout = layoutOf(operand);
  if (dim < layout.dims.size())
    return allGather(getGrid(), input, dim, axes);
  SmallVector<Shape> shapes;
  for (unsigned rank = 0; rank < getGrid().size(); ++rank)
    shapes.push_back(dist::localShape(dist::tensorTypeOf(result),
                                      getGrid().getCoordinates(rank)));
  return gatherFlat(getGrid(), input, axes, layout.flat.leading, shapes);
}

LogicalResult Frame::visit(dist::AllReduceOp op) {
  return setChecked(op.getResult(),
                    allReduce(getGrid(), get(op.getInput()),
                              axesOf(op.getMesh(), op.getAxes()),
                              op.getReduction()));
}

LogicalResult Frame::visit(dist::AllGatherOp op) {
  return setChecked(op.getResult(),
                    collect(get(op.getInput()), op.getInput(), op.getResult(),
                            op.getCut(), op.getAxes().size()));
}

LogicalResult Frame::visit(dist::ReduceScatterOp op) {
  RankTensors sums =
      allReduce(getGrid(), get(op.getInput()),
                axesOf(op.getMesh(), op.getAxes()), op.getReduction());
  return setChecked(op.getResult(), cut(sums, op.getResult(), op.getCut(),
                                        op.getAxes().size()));
}

LogicalResult Frame::visit(dist::AllToAllOp op) {
  size_t count = op.getAxes().size();
  return setChecked(op.getResult(),
                    allToAll(getGrid(), get(op.getInput()), op.getFromDim(),
                             minorAxes(op.getInput(), op.getFromDim(), count),
                             op.getToDim(),
                             minorAxes(op.getResult(), op.getToDim(), count)));
}

LogicalResult Frame::visit(dist::PermuteOp op) {
  return setChecked(op.getResult(),
                    permute(getGrid(), get(op.getInput()),
                            axesOf(op.getMesh(), op.getAxes()),
                            layoutOf(op.getInput()), layoutOf(op.getResult())));
}

/// In each group along `axes`, broadcasts the tensor of the root to all ranks.
/// The root is the rank at the coordinates that `layout` fixes on these axes.
static RankTensors spread(const RankGrid &grid, const RankTensors &tensors,
                          const dist::Layout &layout, ArrayRef<Axis> axes) {
  SmallVector<int64_t> root;
  for (Axis axis : axes)
    root.push_back(*layout.getFixedCoordinate(axis));
  return broadcast(grid, tensors, axes, root);
}

LogicalResult Frame::visit(dist::BroadcastOp op) {
  return setChecked(op.getResult(), spread(getGrid(), get(op.getInput()),
                                           layoutOf(op.getInput()),
                                           axesOf(op.getMesh(), op.getAxes())));
}

RankTensors Frame::scatter(Value input, Value result, unsigned dim,
                           ArrayRef<Axis> axes) {
  return sliceParts(getGrid(),
                    spread(getGrid(), get(input), layoutOf(input), axes), dim,
                    minorAxes(result, dim, axes.size()));
}

/// Sets `tensors` to NaN on the ranks that do not hold `value`, so that an
/// erroneous read is noticed.
static void forget(const RankGrid &grid, Value value, RankTensors &tensors) {
  for (unsigned rank = 0; rank < grid.size(); ++rank)
    if (!layoutOf(value).isHeldAt(grid.getCoordinates(rank)))
      tensors[rank] = Tensor(tensors[rank].getShape(),
                             std::numeric_limits<double>::quiet_NaN());
}

RankTensors Frame::gather(Value input, Value result, unsigned dim,
                          size_t count) {
  RankTensors tensors =
      allGather(getGrid(), get(input), dim, minorAxes(input, dim, count));
  forget(getGrid(), result, tensors);
  return tensors;
}

LogicalResult Frame::visit(dist::ScatterOp op) {
  return setChecked(op.getResult(),
                    scatter(op.getInput(), op.getResult(), op.getDim(),
                            axesOf(op.getMesh(), op.getAxes())));
}

LogicalResult Frame::visit(dist::GatherOp op) {
  return setChecked(op.getResult(), gather(op.getInput(), op.getResult(),
                                           op.getDim(), op.getAxes().size()));
}

LogicalResult Frame::visit(dist::RestrictOp op) {
  RankTensors tensors = get(op.getInput());
  forget(getGrid(), op.getResult(), tensors);
  return setChecked(op.getResult(), std::move(tensors));
}

LogicalResult Frame::visit(dist::ExchangeOp op) {
  AxisList axes = axesOf(op.getMesh(), op.getAxes());
  for (auto [index, input, output] :
       llvm::enumerate(op.getInputs(), op.getOutputs())) {
    unsigned dim = op.getDim(index);
    if (failed(
            setChecked(output, op.isScattered(index)
                                   ? scatter(input, output, dim, axes)
                                   : gather(input, output, dim, axes.size()))))
      return failure();
  }
  return success();
}

LogicalResult Frame::visit(dist::SliceOp op) {
  return setChecked(op.getResult(), cut(get(op.getInput()), op.getResult(),
                                        op.getCut(), op.getAxes().size()));
}

/// Returns the length of a group of dist.chunk along dimension `dim` of
/// `whole`, and the length of a slice of the group. The dimension consists of
/// `groups` equal groups, and each group of `count` equal slices.
static std::pair<int64_t, int64_t> runOf(RankedTensorType whole, int64_t dim,
                                         int64_t groups, int64_t count) {
  int64_t run = whole.getDimSize(dim) / groups;
  return {run, run / count};
}

LogicalResult Frame::visit(dist::ChunkOp op) {
  unsigned dim = op.getDim();
  auto [run, length] =
      runOf(op.getInput().getType(), dim, op.getGroups(), op.getCount());
  RankTensors chunks;
  for (const Tensor &whole : get(op.getInput())) {
    // The verifier of dist.chunk ensures that every rank holds whole groups.
    std::vector<Tensor> pieces;
    for (int64_t at = 0; at < whole.getDim(dim); at += run)
      pieces.push_back(whole.slice(dim, at + op.getIndex() * length, length));
    SmallVector<const Tensor *> list;
    for (const Tensor &piece : pieces)
      list.push_back(&piece);
    chunks.push_back(Tensor::concat(list, dim));
  }
  return setChecked(op.getResult(), std::move(chunks));
}

LogicalResult Frame::visit(dist::JoinOp op) {
  unsigned dim = op.getDim();
  int64_t length =
      runOf(op.getType(), dim, op.getGroups(), op.getInputs().size()).second;
  RankTensors wholes;
  for (unsigned rank = 0; rank < getGrid().size(); ++rank) {
    std::vector<Tensor> pieces;
    int64_t held = get(op.getInputs().front())[rank].getDim(dim);
    for (int64_t at = 0; at < held; at += length)
      for (Value input : op.getInputs())
        pieces.push_back(get(input)[rank].slice(dim, at, length));
    SmallVector<const Tensor *> list;
    for (const Tensor &piece : pieces)
      list.push_back(&piece);
    wholes.push_back(Tensor::concat(list, dim));
  }
  return setChecked(op.getResult(), std::move(wholes));
}

LogicalResult Frame::visit(dist::ShiftOp op) {
  for (auto [input, output] : llvm::zip_equal(op.getInputs(), op.getOutputs()))
    if (failed(setChecked(output, shiftParts(getGrid(), get(input),
                                             minorAxes(input, op.getDim(),
                                                       op.getAxes().size())))))
      return failure();
  return success();
}

/// Reduces operand number `operand` over the group of each rank. `input`
/// contains the tensors of the operand; if the operand is stacked, only the
/// iterations of one range of a bucket.
RankTensors Frame::runRange(dist::FusedReduceOp op, unsigned operand,
                            const RankTensors &input) {
  AxisList axes = axesOf(op.getMesh(), op.getAxes());
  if (op.getKind() == dist::CollectiveKind::AllReduce)
    return allReduce(getGrid(), input, axes, op.getReduction());
  // A reduce-scatter shards one dimension of the result, or its block, over
  // `axes`.
  const dist::Layout &result = layoutOf(op.getOutputs()[operand]);
  unsigned dim = *result.getShardedDim(axes.front());
  return cut(allReduce(getGrid(), input, axes, op.getReduction()),
             op.getOutputs()[operand], dim, axes.size());
}

/// Gathers operand number `operand` in the group of each rank. `input` contains
/// the tensors of the operand; if the operand is stacked, only the iterations
/// of one range of a bucket.
RankTensors Frame::runRange(dist::FusedGatherOp op, unsigned operand,
                            const RankTensors &input) {
  Value value = op.getInputs()[operand];
  AxisList axes = axesOf(op.getMesh(), op.getAxes());
  unsigned dim = *layoutOf(value).getShardedDim(axes.front());
  return collect(input, value, op.getOutputs()[operand], dim, axes.size());
}

/// Executes a fused collective bucket by bucket.
template <typename OpT> LogicalResult Frame::runBuckets(OpT op) {
  // Elements that no bucket contains stay NaN, so that a missing element is
  // noticed.
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
      part = runRange(op, range.operand, part);
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

LogicalResult Frame::visit(dist::FusedReduceOp op) { return runBuckets(op); }

LogicalResult Frame::visit(dist::FusedGatherOp op) { return runBuckets(op); }

LogicalResult Frame::visit(dist::OffloadOp op) {
  return setChecked(op.getResult(), get(op.getInput()));
}

LogicalResult Frame::visit(dist::FetchOp op) {
  return setChecked(op.getResult(), get(op.getInput()));
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
  assert(message != mailbox.end() &&
         "a section starts when its messages have arrived");
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
            dist::AllToAllOp, dist::PermuteOp, dist::BroadcastOp,
            dist::ScatterOp, dist::GatherOp, dist::RestrictOp, dist::ExchangeOp,
            dist::SliceOp, dist::ChunkOp, dist::JoinOp, dist::ShiftOp,
            dist::FusedReduceOp, dist::FusedGatherOp, dist::OffloadOp,
            dist::FetchOp, dist::AccumulateOp, dist::SendOp, dist::RecvOp>(
          [&](auto known) -> FailureOr<bool> {
            if (failed(visit(known)))
              return failure();
            return true;
          })
      .Default([](Operation *) { return false; });
}

namespace {

/// Execution of one program, section by section in the order of the schedule.
class ProgramRun {
public:
  ProgramRun(dist::ProgramOp program, int64_t stage, Mailbox &mailbox,
             Meetings &meetings, ArgumentValue arguments);

  /// Returns true if the section of `work` can start, that is, if all messages
  /// that it receives have been sent. An update can always start, because
  /// `execute` stops before an operation of the update that must wait.
  bool isReady(const dist::Work &work);
  /// Progress of a section in one call of `execute`: nothing executed, some
  /// operations executed, or the end of the section reached.
  enum class Progress { None, Some, Done };
  /// Executes the section of `work`. An update is executed up to the next
  /// operation that must wait: a receive of a message that has not been sent,
  /// or a reduction across stages to which another stage has not yet
  /// contributed.
  FailureOr<Progress> execute(const dist::Work &work);
  /// Returns the results of the program, assembled from the blocks of the
  /// ranks.
  FailureOr<std::vector<Tensor>> gatherResults();

private:
  void setArguments(Frame &frame, ArgumentValue arguments);
  LogicalResult enterUpdate();
  FailureOr<Progress> continueUpdate(dist::SectionOp section);
  void finish(dist::SectionOp section, Frame &frame);
  bool reduce(dist::StageReduceOp op);
  FailureOr<Tensor> gather(Value value);

  dist::ProgramOp program;
  int64_t stage;
  Mailbox &mailbox;
  Meetings &meetings;
  /// Next operation of the update; null before its start.
  Operation *next = nullptr;
  std::vector<std::unique_ptr<Frame>> microBatches;
  std::unique_ptr<Frame> update;
};

} // namespace

ProgramRun::ProgramRun(dist::ProgramOp program, int64_t stage, Mailbox &mailbox,
                       Meetings &meetings, ArgumentValue arguments)
    : program(program), stage(stage), mailbox(mailbox), meetings(meetings) {
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
      // A rank that does not hold the argument gets NaN, so that an erroneous
      // read is noticed.
      if (!layoutOf(argument).isHeldAt(coordinates)) {
        blocks.emplace_back(dist::localShape(type, coordinates),
                            std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      blocks.push_back(Place(type, coordinates).cut(whole));
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

/// Copies the section outputs that do not depend on the micro-batch to the
/// frame of the update. Emits an error if one of them differs between
/// micro-batches.
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

void ProgramRun::finish(dist::SectionOp section, Frame &frame) {
  for (auto [output, yielded] :
       llvm::zip_equal(section.getOutputs(), section.getYielded()))
    frame.alias(output, yielded);
}

/// Contributes the input of this stage to a reduction across stages. If all
/// stages have contributed, sets the result to the sum and returns true.
/// Otherwise returns false.
bool ProgramRun::reduce(dist::StageReduceOp op) {
  auto &parts = meetings[op.getTag()];
  parts.try_emplace(stage, update->get(op.getInput()));
  if (parts.size() < op.getStages().size())
    return false;
  RankTensors sums;
  for (auto &[other, part] : parts) {
    if (sums.empty()) {
      sums = part;
      continue;
    }
    for (auto [sum, tensor] : llvm::zip_equal(sums, part))
      for (int64_t i = 0; i < sum.size(); ++i)
        sum[i] += tensor[i];
  }
  update->set(op.getResult(), std::move(sums));
  return true;
}

FailureOr<ProgramRun::Progress>
ProgramRun::continueUpdate(dist::SectionOp section) {
  Progress progress = Progress::None;
  if (!next) {
    if (failed(enterUpdate()))
      return failure();
    next = &section.getBody().front().front();
    progress = Progress::Some;
  }
  for (; !next->hasTrait<OpTrait::IsTerminator>(); next = next->getNextNode()) {
    // Stages exchange norms, overflow flags and gradients of tied parameters in
    // their updates. An update may therefore have to wait for other stages at
    // several operations.
    auto recv = dyn_cast<dist::RecvOp>(next);
    if (recv && !mailbox.count({recv.getTag(), std::nullopt}))
      return progress;
    if (auto reduction = dyn_cast<dist::StageReduceOp>(next)) {
      if (!reduce(reduction))
        return progress;
    } else if (failed(update->run(next))) {
      return failure();
    }
    progress = Progress::Some;
  }
  finish(section, *update);
  return Progress::Done;
}

FailureOr<ProgramRun::Progress> ProgramRun::execute(const dist::Work &work) {
  dist::SectionOp section = program.getSection(work.kind, work.chunk);
  if (!work.micro)
    return continueUpdate(section);
  Frame &frame = *microBatches[*work.micro];
  if (failed(frame.run(section.getBody().front())))
    return failure();
  finish(section, frame);
  return Progress::Done;
}

/// Returns the whole tensor of a value, assembled from the blocks of the ranks.
/// Performs the reductions that are pending on the value. Emits an error if
/// replicas differ.
FailureOr<Tensor> ProgramRun::gather(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  const dist::Layout &layout = layoutOf(value);
  // The first replica of every block, by the coordinates of its rank.
  // Coordinates on axes over which the value is replicated are set to 0, so
  // that all replicas have the same key.
  using Coordinates = std::vector<int64_t>;
  std::map<Coordinates, Tensor> blocks;
  auto add = [&](const Frame &frame) -> LogicalResult {
    for (auto [rank, tensor] : llvm::enumerate(frame.get(value))) {
      Coordinates key(frame.getGrid().getCoordinates(rank));
      if (!layout.isHeldAt(key))
        continue;
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
  // If the value is partial in maxima and in sums, it is a sum of maxima, so
  // maxima are reduced first.
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
    Place(type, key).paste(tensor, whole);
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

/// Executes all programs to their ends. In each round every program runs until
/// it has to wait for another stage. Stops if no program makes progress in a
/// round, and then emits an error if a program has not reached its end.
static LogicalResult runSchedule(dist::ScheduleOp schedule,
                                 std::vector<ProgramRun> &runs) {
  std::vector<size_t> next(runs.size(), 0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto [stage, run] : llvm::enumerate(runs)) {
      ArrayRef<dist::Work> order = schedule.getWork(stage);
      while (next[stage] < order.size() && run.isReady(order[next[stage]])) {
        auto made = run.execute(order[next[stage]]);
        if (failed(made))
          return failure();
        progress |= *made != ProgramRun::Progress::None;
        if (*made != ProgramRun::Progress::Done)
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
      "can't run to its end: every unfinished stage waits for a message");
  for (size_t stage : stuck)
    diagnostic.attachNote()
        << "stage " << stage << " waits before "
        << dist::formatWork(schedule.getWork(stage)[next[stage]]);
  return diagnostic;
}

FailureOr<std::vector<std::vector<Tensor>>>
proteus::interp::interpret(dist::ScheduleOp schedule, ArgumentValue arguments) {
  Mailbox mailbox;
  Meetings meetings;
  std::vector<ProgramRun> runs;
  for (dist::ProgramOp program : schedule.lookupPrograms())
    runs.emplace_back(program, runs.size(), mailbox, meetings, arguments);
  if (failed(runSchedule(schedule, runs)))
    return failure();
  if (!mailbox.empty())
    return schedule.emitOpError("ends with ")
           << mailbox.size() << " messages that are never received, tag "
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
