//===- FuseGradients.cpp - gradient buckets ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuses the reductions of gradients of a program into buckets, and likewise the
// gathers of updated parameters. A bucket is filled in the order in which its
// members become ready. The pass derives this order from the order of the
// operations in the sections, counting each iteration of a repeat.
//
//===----------------------------------------------------------------------===//

#include "ProgramUtils.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Plan/PlanEnums.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Programs/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {
#define GEN_PASS_DEF_FUSEGRADIENTS
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {

/// A collective of the update section that can join a bucket: the reduction of
/// a gradient, or the gather of an updated parameter.
struct Member {
  dist::CollectiveOpInterface op;
  Value input;
  /// The section that computes `input`.
  dist::SectionOp section;
  /// For each iteration, the number of operations that the sections of the
  /// program have run when `input` is ready. A value that is not stacked has
  /// one iteration.
  SmallVector<int64_t> ready;
  /// For each iteration, the layer to which it belongs, such as `layers[3]`, or
  /// an empty text outside the layers.
  SmallVector<std::string> layers;
  bool stacked = false;
  /// If this is the second reduction of a gradient, the bytes of the first
  /// reduction. These bytes then also fill the buckets of the second reduction,
  /// so that both reductions have the same buckets.
  std::optional<int64_t> firstBytes;

  /// Returns the bytes that all iterations of the member add to buckets.
  int64_t bytes() { return firstBytes.value_or(dist::localBytes(buffer())); }

  /// Returns the type of the input or the result, whichever is larger: the
  /// result of a gather, the input of a reduction.
  RankedTensorType buffer() {
    Value value = isa<dist::AllGatherOp>(op) ? op->getResult(0) : input;
    return cast<RankedTensorType>(value.getType());
  }
};

/// One iteration of one member, which goes into one bucket.
struct Slice {
  int64_t ready;
  int64_t operand;
  int64_t iteration;
  int64_t bytes;
  dist::SectionOp section;
  StringRef layer;
};

/// The sizes at which buckets close, and the time at which they are reduced.
struct BucketRule {
  int64_t first; ///< bytes of the first bucket
  int64_t size;  ///< bytes of every other bucket
  /// True if a bucket also closes at the end of a layer.
  bool perLayer = false;
  /// True if every gradient of every layer has a bucket of its own.
  bool perParameter = false;
  /// True if buckets are reduced only after the last gradient of their section.
  bool afterBackward = false;
  /// True if all gradients of one operation count as ready at the same time.
  bool byOperation = false;
};

} // namespace

/// Returns the number of operations that run for `op`: those of all iterations
/// of a repeat, or 1 for any other operation.
static int64_t expandedSize(Operation *op) {
  if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
    int64_t body = 0;
    for (Operation &inner : repeat.getBody().front())
      body += expandedSize(&inner);
    return body * static_cast<int64_t>(repeat.getCount());
  }
  return 1;
}

namespace {
/// Finds the position of an operation: the number of operations of its block
/// that run before it, counting each iteration of a repeat. Computes the
/// positions of a block once.
class Positions {
public:
  int64_t get(Operation *op) {
    auto [entry, isNew] = blocks.try_emplace(op->getBlock());
    if (isNew) {
      int64_t position = 0;
      for (Operation &other : *op->getBlock()) {
        entry->second[&other] = position;
        position += expandedSize(&other);
      }
    }
    return entry->second.lookup(op);
  }

  /// Returns the number of operations that run before a section, if all
  /// sections of the program run in textual order.
  int64_t getBegin(dist::SectionOp section) {
    auto [entry, isNew] = begins.try_emplace(section, 0);
    if (isNew)
      for (dist::SectionOp other :
           cast<dist::ProgramOp>(section->getParentOp()).getSections()) {
        if (other == section)
          break;
        for (Operation &op : other.getBody().front())
          entry->second += expandedSize(&op);
      }
    return entry->second;
  }

private:
  DenseMap<Block *, DenseMap<Operation *, int64_t>> blocks;
  DenseMap<Operation *, int64_t> begins;
};
} // namespace

/// Returns the last kernel of the sequence of kernels with the path of `op`
/// that begins at `op`. The sequence ends before the first kernel with another
/// path. Operations that are not kernels do not end it. Returns `op` if it is
/// not a kernel.
static Operation *lastOfPath(Operation *op) {
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
  if (!kernel)
    return op;
  std::string path = nn::getPath(op);
  Operation *last = op;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (!isa<nn::IterationSpaceOpInterface>(next))
      continue;
    if (nn::getPath(next) != path)
      break;
    last = next;
  }
  return last;
}

/// Returns the layer of iteration `i` of `repeat`.
static std::string layerOfIteration(nn::RepeatOp repeat, int64_t i) {
  return layerOf(nn::getPath(repeat) + "[" +
                 std::to_string(repeat.getFirst() + i) + "]");
}

/// Returns the kernel that computes the value which `op` converts to another
/// layout, or `op` if it is not a conversion. A gradient is ready at the
/// position of this kernel. The position of the conversion is not used, because
/// it changes if the iterations of a repeat are written out.
static Operation *sourceOf(Operation *op) {
  while (isa_and_nonnull<dist::DistDialect>(op->getDialect()) &&
         op->getNumOperands() == 1) {
    Operation *producer = op->getOperand(0).getDefiningOp();
    if (!producer || producer->getBlock() != op->getBlock())
      break;
    op = producer;
  }
  return op;
}

/// Returns the kernel that computes `value`. With `byOperation`, returns the
/// last kernel that computes a gradient of the same operation. Returns null if
/// no operation of the block computes `value`.
static Operation *readyAfter(Value value, bool byOperation) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<nn::RepeatOp>(op))
    return op;
  op = sourceOf(op);
  return byOperation ? lastOfPath(op) : op;
}

/// Returns the number of operations of its block that have run when `value` is
/// ready. A value that a repeat carries is ready when the last iteration has
/// computed it. Stores the layer that computes the value in `layer`.
static int64_t readyIn(Value value, Positions &positions, bool byOperation,
                       std::string &layer) {
  Operation *op = readyAfter(value, byOperation);
  if (!op)
    return 0;
  auto repeat = dyn_cast<nn::RepeatOp>(op);
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (!repeat || number >= repeat.getNumCarried()) {
    layer = repeat ? "" : layerOf(nn::getPath(op));
    return positions.get(op) + expandedSize(op);
  }
  int64_t count = repeat.getCount();
  int64_t inside = readyIn(repeat.getYield()->getOperand(number), positions,
                           byOperation, layer);
  if (!isa<nn::RepeatOp>(repeat->getParentOp()))
    layer = layerOfIteration(repeat, repeat.getReverse() ? 0 : count - 1);
  return positions.get(op) + (count - 1) * (expandedSize(op) / count) + inside;
}

/// Finds the positions at which the iterations of `yielded`, a value of a
/// section, are ready. Stores them, with the section and the layers, in
/// `reduction`. A stacked result of a repeat becomes ready iteration by
/// iteration, in the order in which the repeat runs.
///
/// With `byOperation`, all gradients of an operation are ready at once, after
/// the last kernel that computes one of them.
static void findReady(Value yielded, Positions &positions, bool byOperation,
                      Member &reduction) {
  Operation *around = yielded.getParentBlock()->getParentOp();
  reduction.section = dyn_cast<dist::SectionOp>(around);
  if (!reduction.section)
    reduction.section = around->getParentOfType<dist::SectionOp>();
  int64_t base = reduction.section ? positions.getBegin(reduction.section) : 0;
  auto repeat = yielded.getDefiningOp<nn::RepeatOp>();
  unsigned number = repeat ? cast<OpResult>(yielded).getResultNumber() : 0;
  if (!repeat || number < repeat.getNumCarried()) {
    std::string layer;
    reduction.ready = {base + readyIn(yielded, positions, byOperation, layer)};
    reduction.layers = {layer};
    return;
  }
  base += positions.get(repeat);
  int64_t count = repeat.getCount();
  int64_t body = expandedSize(repeat) / count;
  Operation *inner =
      readyAfter(repeat.getYield()->getOperand(number), byOperation);
  int64_t offset = inner ? positions.get(inner) + expandedSize(inner) : 0;
  reduction.stacked = true;
  for (int64_t i = 0; i < count; ++i) {
    int64_t step = repeat.getReverse() ? count - 1 - i : i;
    reduction.ready.push_back(base + step * body + offset);
    reduction.layers.push_back(layerOfIteration(repeat, i));
  }
}

/// Returns the reduction, sum or maximum, of an all-reduce or reduce-scatter.
static dist::ReductionKind reductionOf(dist::CollectiveOpInterface op) {
  if (auto reduce = dyn_cast<dist::AllReduceOp>(*op))
    return reduce.getReduction();
  return cast<dist::ReduceScatterOp>(*op).getReduction();
}

/// Returns `op` as a member of a bucket if it reduces a gradient that a section
/// has computed; otherwise returns nullopt.
static std::optional<Member> asReduction(Operation &op, Positions &positions,
                                         bool byOperation) {
  if (!isa<dist::AllReduceOp, dist::ReduceScatterOp>(op))
    return std::nullopt;
  Member reduction;
  reduction.op = cast<dist::CollectiveOpInterface>(op);
  if (reduction.op.getPurpose() != dist::Purpose::Gradient)
    return std::nullopt;
  reduction.input = op.getOperand(0);
  Value source = reduction.input;
  if (auto accumulate = source.getDefiningOp<dist::AccumulateOp>())
    source = accumulate.getInput();
  auto result = dyn_cast<OpResult>(source);
  if (!result || !isa<dist::SectionOp>(result.getOwner()))
    return std::nullopt;
  auto section = cast<dist::SectionOp>(result.getOwner());
  findReady(section.getYielded()[result.getResultNumber()], positions,
            byOperation, reduction);
  return reduction;
}

/// Returns `op` as a member of a bucket if it gathers a parameter that the
/// update section has updated; otherwise returns nullopt.
static std::optional<Member> asGathering(Operation &op, Positions &positions) {
  auto gather = dyn_cast<dist::AllGatherOp>(op);
  if (!gather || gather.getPurpose() != dist::Purpose::Parameter)
    return std::nullopt;
  Operation *producer = gather.getInput().getDefiningOp();
  if (!producer || !isa<nn::RepeatOp, nn::IterationSpaceOpInterface>(producer))
    return std::nullopt;
  Member gathering;
  gathering.op = cast<dist::CollectiveOpInterface>(op);
  gathering.input = gather.getInput();
  findReady(gathering.input, positions, /*byOperation=*/false, gathering);
  return gathering;
}

/// Fills buckets with `members` in the order in which they become ready. A
/// bucket closes according to `rule`, and at the end of a section. Gradients of
/// two sections do not share a bucket, because any time may pass between the
/// last micro-batch of one section and the last micro-batch of the other
/// section.
static dist::Buckets fillBuckets(MutableArrayRef<Member> members,
                                 const BucketRule &rule) {
  SmallVector<Slice> slices;
  for (auto [operand, member] : llvm::enumerate(members)) {
    int64_t bytes = member.bytes() / static_cast<int64_t>(member.ready.size());
    for (auto [iteration, ready] : llvm::enumerate(member.ready))
      slices.push_back({ready, static_cast<int64_t>(operand),
                        static_cast<int64_t>(iteration), bytes, member.section,
                        member.layers[iteration]});
  }
  llvm::sort(slices, [](const Slice &a, const Slice &b) {
    return std::tie(a.ready, a.operand, a.iteration) <
           std::tie(b.ready, b.operand, b.iteration);
  });
  dist::Buckets buckets;
  int64_t filled = 0;
  bool open = false;
  dist::SectionOp section;
  StringRef layer;
  for (const Slice &member : slices) {
    open &=
        section == member.section && (!rule.perLayer || layer == member.layer);
    section = member.section;
    layer = member.layer;
    if (!open) {
      buckets.list.emplace_back();
      filled = 0;
      open = true;
    }
    auto &bucket = buckets.list.back();
    // Extend a range if it contains the preceding or the following iteration of
    // the same operand. Otherwise add a new range.
    auto neighbour = llvm::find_if(bucket, [&](dist::BucketRange &range) {
      return range.operand == member.operand &&
             (range.from == member.iteration + 1 ||
              range.to == member.iteration);
    });
    if (neighbour == bucket.end())
      bucket.push_back(
          {member.operand, member.iteration, member.iteration + 1});
    else if (neighbour->from == member.iteration + 1)
      neighbour->from = member.iteration;
    else
      neighbour->to = member.iteration + 1;
    filled += member.bytes;
    if (rule.perParameter ||
        filled >= (buckets.list.size() == 1 ? rule.first : rule.size))
      open = false;
  }
  return buckets;
}

namespace {
class FuseGradients : public proteus::impl::FuseGradientsBase<FuseGradients> {
public:
  using FuseGradientsBase::FuseGradientsBase;

  void runOnOperation() override {
    dist::ProgramOp program = getOperation();
    dist::SectionOp update = program.getSection(dist::SectionKind::Update);
    if (update && failed(fuse(program, update)))
      signalPassFailure();
  }

private:
  LogicalResult fuse(dist::ProgramOp program, dist::SectionOp update);
  dist::FusedReduceOp fuseGroup(dist::SectionOp update,
                                MutableArrayRef<Member> group,
                                const BucketRule &rule,
                                Operation *predecessor = nullptr);
  void fuseAgain(dist::SectionOp update, dist::FusedReduceOp fused,
                 ArrayRef<Member> group, const BucketRule &rule);
  void fuseGatherings(dist::SectionOp update, MutableArrayRef<Member> group,
                      const BucketRule &rule);
};
} // namespace

/// Replaces each reduce-scatter of a gradient by an all-reduce and a slice.
/// Every replica then gets the whole gradient, although it updates only a part
/// of the parameter.
static void reduceWhole(dist::SectionOp update) {
  for (auto scatter : llvm::to_vector(
           update.getBody().front().getOps<dist::ReduceScatterOp>())) {
    if (scatter.getPurpose() != dist::Purpose::Gradient)
      continue;
    auto type = cast<RankedTensorType>(scatter.getInput().getType());
    dist::LayoutAttr layout = dist::getLayout(type);
    dist::MeshAttr mesh = layout.getMesh();
    dist::AxisList axes = *dist::getAxes(mesh, scatter.getAxes());
    llvm::sort(axes);
    dist::Layout whole = layout.getValue();
    llvm::erase_if(
        whole.getPartial(scatter.getReduction()),
        [&](dist::Axis axis) { return llvm::is_contained(axes, axis); });
    OpBuilder builder(scatter);
    Value sum = dist::AllReduceOp::create(
        builder, scatter.getLoc(),
        dist::withLayout(type, dist::LayoutAttr::get(mesh, whole)),
        scatter.getReduction(), scatter.getInput(),
        dist::getAxisNames(mesh, axes), scatter.getPurposeAttr());
    Value part =
        dist::SliceOp::create(builder, scatter.getLoc(), scatter.getType(), sum,
                              scatter.getDimAttr(), scatter.getAxes());
    scatter.getResult().replaceAllUsesWith(part);
    scatter.erase();
  }
}

/// Replaces the members of `group` by one fused reduction. Inserts it after
/// `predecessor` or, if that is null, at the start of the section.
dist::FusedReduceOp FuseGradients::fuseGroup(dist::SectionOp update,
                                             MutableArrayRef<Member> group,
                                             const BucketRule &rule,
                                             Operation *predecessor) {
  // List the operands in the order in which the gradients become ready. With
  // `byOperation`, several gradients are ready at the same time. These are
  // listed in the reverse of their order in the section, so that a small bias
  // comes before its weight.
  llvm::sort(group, [&](const Member &a, const Member &b) {
    int64_t readyA = *llvm::min_element(a.ready);
    int64_t readyB = *llvm::min_element(b.ready);
    if (readyA != readyB)
      return readyA < readyB;
    return rule.byOperation ? b.op->isBeforeInBlock(a.op)
                            : a.op->isBeforeInBlock(b.op);
  });
  // The operands of the fused reduction are results of other sections or of
  // `predecessor`, or accumulations of such results. Move the accumulations
  // directly after `predecessor`, and insert the fused reduction after them.
  Block &body = update.getBody().front();
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<bool> stacked;
  Operation *last = predecessor;
  for (Member &reduction : group) {
    if (auto accumulate = reduction.input.getDefiningOp<dist::AccumulateOp>()) {
      if (last)
        accumulate->moveAfter(last);
      else
        accumulate->moveBefore(&body, body.begin());
      last = accumulate;
    }
    inputs.push_back(reduction.input);
    types.push_back(reduction.op->getResult(0).getType());
    stacked.push_back(reduction.stacked);
  }
  OpBuilder builder(&getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&body);
  Operation *model = group.front().op;
  // A gradient may be sent in another element type than the one in which it is
  // accumulated.
  auto training =
      update->getParentOp()->getAttrOfType<nn::TrainingAttr>(nn::kTrainingAttr);
  Type wire = training ? training.getReduction() : Type();
  if (wire == getElementTypeOrSelf(group.front().input.getType()))
    wire = {};
  auto fused = dist::FusedReduceOp::create(
      builder, model->getLoc(), types,
      dist::CollectiveKindAttr::get(&getContext(),
                                    group.front().op.getCollectiveKind()),
      dist::ReductionKindAttr::get(&getContext(),
                                   reductionOf(group.front().op)),
      inputs, group.front().op.getAxes(),
      builder.getDenseBoolArrayAttr(stacked),
      dist::BucketsAttr::get(&getContext(), fillBuckets(group, rule)),
      rule.afterBackward ? builder.getUnitAttr() : UnitAttr(),
      wire ? TypeAttr::get(wire) : TypeAttr(),
      dist::PurposeAttr::get(&getContext(), dist::Purpose::Gradient));
  for (auto [reduction, result] : llvm::zip(group, fused.getOutputs())) {
    reduction.firstBytes = reduction.bytes();
    reduction.op->getResult(0).replaceAllUsesWith(result);
    reduction.op->erase();
  }
  return fused;
}

/// Fuses reductions of the results of `fused` over further axes. In
/// hierarchical ZeRO, for example, a gradient is reduced twice, over different
/// axes. These reductions get the same buckets as `fused`.
void FuseGradients::fuseAgain(dist::SectionOp update, dist::FusedReduceOp fused,
                              ArrayRef<Member> group, const BucketRule &rule) {
  llvm::MapVector<std::pair<unsigned, Attribute>, SmallVector<Member>> groups;
  for (auto [member, output] : llvm::zip_equal(group, fused.getOutputs())) {
    if (!output.hasOneUse())
      continue;
    Operation *reader = *output.getUsers().begin();
    if (!isa<dist::AllReduceOp, dist::ReduceScatterOp>(reader))
      continue;
    Member again = member;
    again.op = cast<dist::CollectiveOpInterface>(reader);
    if (again.op.getPurpose() != dist::Purpose::Gradient ||
        reductionOf(again.op) != fused.getReduction())
      continue;
    again.input = output;
    groups[{static_cast<unsigned>(again.op.getCollectiveKind()),
            again.op.getAxes()}]
        .push_back(std::move(again));
  }
  for (auto &[key, members] : groups)
    fuseGroup(update, members, rule, fused);
}

void FuseGradients::fuseGatherings(dist::SectionOp update,
                                   MutableArrayRef<Member> group,
                                   const BucketRule &rule) {
  // Move all operations that depend on one of the gathers to the end of the
  // section, and insert the fused gather before them. This is possible because
  // only results of the section depend on the gathered parameters.
  Block &body = update.getBody().front();
  SetVector<Operation *> readers;
  for (Member &member : group)
    readers.insert(member.op->getUsers().begin(), member.op->getUsers().end());
  for (size_t i = 0; i < readers.size(); ++i)
    readers.insert(readers[i]->getUsers().begin(),
                   readers[i]->getUsers().end());
  readers.remove(body.getTerminator());
  OpBuilder builder(body.getTerminator());
  for (Operation *reader : llvm::to_vector(llvm::make_filter_range(
           llvm::map_range(body, [](Operation &op) { return &op; }),
           [&](Operation *op) { return readers.contains(op); }))) {
    reader->moveBefore(body.getTerminator());
    if (builder.getInsertionPoint() == body.getTerminator()->getIterator())
      builder.setInsertionPoint(reader);
  }
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<bool> stacked;
  for (Member &member : group) {
    inputs.push_back(member.input);
    types.push_back(member.op->getResult(0).getType());
    stacked.push_back(member.stacked);
  }
  auto fused = dist::FusedGatherOp::create(
      builder, group.front().op->getLoc(), types, inputs,
      group.front().op.getAxes(), builder.getDenseBoolArrayAttr(stacked),
      dist::BucketsAttr::get(&getContext(), fillBuckets(group, rule)),
      dist::PurposeAttr::get(&getContext(), dist::Purpose::Parameter));
  for (auto [member, result] : llvm::zip(group, fused.getOutputs())) {
    member.op->getResult(0).replaceAllUsesWith(result);
    member.op->erase();
  }
}

/// Defaults of PyTorch's DistributedDataParallel: 1 MiB for the first bucket,
/// 25 MiB for the others.
static constexpr BucketRule ddpBuckets{1048576, 26214400};

/// Returns the rule for the buckets of gradients. The default sizes apply if
/// the settings contain no size, no first size and no `per_layer`, and do not
/// reduce gradients after the backward pass. Otherwise a missing size is
/// unlimited, and a missing first size is equal to the size.
static BucketRule gradientRule(dist::BucketingAttr buckets) {
  BucketRule rule = ddpBuckets;
  rule.perLayer = buckets.getPerLayer();
  rule.byOperation = buckets.getByOperation();
  rule.perParameter =
      buckets.getReduction() == plan::GradientReduction::PerParameter;
  rule.afterBackward =
      buckets.getReduction() == plan::GradientReduction::AfterBackward;
  if (buckets.getSize() || buckets.getFirst() || rule.perLayer ||
      rule.afterBackward) {
    rule.size = buckets.getSize().value_or(std::numeric_limits<int64_t>::max());
    rule.first = buckets.getFirst().value_or(rule.size);
  }
  return rule;
}

/// Returns the rule for the buckets of updated parameters. `rule` is the rule
/// for gradients, which applies where the settings state nothing else.
static BucketRule gatherRuleOf(dist::BucketingAttr buckets, BucketRule rule) {
  if (buckets.getGatherPerParameter())
    rule.perParameter = true;
  if (std::optional<int64_t> size = buckets.getGather()) {
    rule.first = rule.size = *size;
    rule.perParameter = false;
  }
  return rule;
}

LogicalResult FuseGradients::fuse(dist::ProgramOp program,
                                  dist::SectionOp update) {
  dist::BucketingAttr buckets = program.getStepOrDefault().getBuckets();
  BucketRule rule = buckets ? gradientRule(buckets) : ddpBuckets;
  if (buckets && buckets.getAllReduce())
    reduceWhole(update);
  // Options of the pass override the tree.
  if (bucketSize < 0 || firstBucketSize < 0)
    return program.emitOpError("bucket sizes must not be negative, got ")
           << bucketSize.getValue() << " and " << firstBucketSize.getValue();
  if (bucketSize > 0)
    rule.size = bucketSize;
  if (firstBucketSize > 0)
    rule.first = firstBucketSize;
  BucketRule gatherRule = buckets ? gatherRuleOf(buckets, rule) : rule;
  // There is one fused reduction for each combination of kind, axes, reduction
  // and element type.
  llvm::MapVector<std::tuple<unsigned, Attribute, unsigned, Type>,
                  SmallVector<Member>>
      groups;
  Positions positions;
  for (Operation &op : update.getBody().front())
    if (auto reduction = asReduction(op, positions, rule.byOperation))
      groups[{static_cast<unsigned>(reduction->op.getCollectiveKind()),
              reduction->op.getAxes(),
              static_cast<unsigned>(reductionOf(reduction->op)),
              getElementTypeOrSelf(reduction->input.getType())}]
          .push_back(*reduction);
  for (auto &[key, group] : groups) {
    dist::FusedReduceOp fused = fuseGroup(update, group, rule);
    fuseAgain(update, fused, group, rule);
  }
  llvm::MapVector<std::pair<Attribute, Type>, SmallVector<Member>> gatherings;
  for (Operation &op : update.getBody().front())
    if (auto gathering = asGathering(op, positions))
      gatherings[{gathering->op.getAxes(),
                  getElementTypeOrSelf(gathering->input.getType())}]
          .push_back(*gathering);
  for (auto &[key, group] : gatherings)
    fuseGatherings(update, group, gatherRule);
  program.setStepSettings(
      program.getStepOrDefault().withBuckets(dist::BucketingAttr()));
  return success();
}
