//===- ApplyStrategy.cpp - a strategy tree from a few degrees ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/PathPattern.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/BatchAnalysis.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Schedules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace proteus {
#define GEN_PASS_DEF_APPLYSTRATEGY
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

/// Names of the axes of the mesh.
static constexpr llvm::StringLiteral kData = "dp";
static constexpr llvm::StringLiteral kPipeline = "pp";
static constexpr llvm::StringLiteral kContext = "cp";
static constexpr llvm::StringLiteral kExpert = "ep";
static constexpr llvm::StringLiteral kTensor = "tp";

namespace {

/// What the tree is to say about the operations of one path: a partition per
/// item, in the order in which they are written, and whether the backward pass
/// recomputes them.
struct Settings {
  std::map<strategy::ItemKind, SmallVector<strategy::PartAttr, 2>> splits;
  bool recompute = false;
  bool operator==(const Settings &other) const {
    return splits == other.splits && recompute == other.recompute;
  }
};

/// Where an operation is in the tree: `layers[3].mlp.fc1` is in the layers
/// `layers[*]` under `mlp.fc1`; what is in no layers has only the latter.
struct Place {
  std::string layers;
  /// The index as it is written: `3`, or `*` in a repeat.
  std::string index;
  std::string path;
};

/// Layers that are alike: an nn.repeat, or modules that are written out.
struct Layers {
  /// Operations per path inside a layer.
  llvm::MapVector<StringRef, SmallVector<Operation *>> operations;
  llvm::SetVector<int64_t> indices;
  double work = 0;
};

/// Finds out what the degrees mean for one model and writes the tree.
class Preset {
public:
  Preset(ModuleOp module, const ApplyStrategyOptions &options)
      : module(module), context(module.getContext()), options(options),
        treeName(StringRef(options.name).ltrim('@')) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult checkSchedule();
  /// The order of micro-batches; 1f1b of several chunks is interleaved.
  strategy::ScheduleOrder getOrder() const {
    bool chunks = options.virtualStages > 1;
    return chunks && options.schedule ==
                         strategy::ScheduleOrder::OneForwardOneBackward
               ? strategy::ScheduleOrder::Interleaved
               : options.schedule;
  }
  LogicalResult findModel();
  LogicalResult checkBatch();
  void findLayers();
  LogicalResult chooseLayers();
  LogicalResult splitTensors();
  LogicalResult splitAttention(nn::AttentionOp attention);
  void splitLinear(nn::LinearOp linear);
  void splitExperts(nn::ExpertLinearOp linear);
  LogicalResult checkSequence();
  void splitSequence();
  LogicalResult splitContext();
  LogicalResult placeExperts();
  LogicalResult recomputeAttention();
  void splitStorage();

  strategy::PartAttr part(Attribute key, ArrayRef<StringRef> axes);
  strategy::PartAttr part(StringRef iterator, ArrayRef<StringRef> axes,
                          bool zigzag = false, bool ring = false);
  void addPart(Operation *op, strategy::PartAttr part);
  /// Splits an iterator of `op` over tp.
  void splitOver(Operation *op, StringRef iterator);
  /// Whether tp splits what `op` computes.
  bool isTensorSplit(Operation *op) { return tensorSplit.contains(op); }
  /// Whether the tree says anything about `op`.
  bool isSet(Operation *op) { return settings.contains(op); }
  /// The axes over which devices have copies of the parameters of `op`, and
  /// the number of copies.
  std::pair<SmallVector<StringRef>, int64_t> copiesOf(Operation *op);
  SmallVector<strategy::PartAttr, 2> storageOf(IterationSpaceOpInterface op,
                                               ArrayRef<OpOperand *> operands);

  void write();
  void writeSettings(OpBuilder &builder, const Settings &list);
  void writeNode(OpBuilder &builder, StringRef pattern, const Settings &list);
  void writeLayers(OpBuilder &builder, StringRef pattern);

  ModuleOp module;
  MLIRContext *context;
  const ApplyStrategyOptions &options;
  StringRef treeName;
  func::FuncOp function;
  /// All operations of the model, in the order of the program.
  SmallVector<IterationSpaceOpInterface> operations;
  bool hasBatch = false;
  DenseMap<Operation *, Place> places;
  llvm::MapVector<StringRef, Layers> layers;
  /// The layers that are cut into stages and recomputed; empty if there are
  /// none.
  StringRef mainLayers;
  DenseMap<Operation *, Settings> settings;
  DenseSet<Operation *> tensorSplit;
  /// Linears whose rows follow the columns, or heads, in front of them.
  DenseSet<Operation *> rowLinears;
  /// Whether devices get the two ends of a sequence, not one piece of it.
  bool zigzag = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

LogicalResult Preset::checkOptions() {
  Location loc = module.getLoc();
  std::pair<StringRef, int64_t> degrees[] = {
      {"dp", options.dataParallel},
      {"pp", options.pipelineParallel},
      {"cp", options.contextParallel},
      {"ep", options.expertParallel},
      {"tp", options.tensorParallel},
      {"micro-batches", options.microBatches},
      {"virtual-stages", options.virtualStages}};
  for (auto [option, degree] : degrees)
    if (degree < 1 || degree > strategy::maxMeshDevices)
      return emitError(loc)
             << option << "=" << degree << " must be between 1 and "
             << strategy::maxMeshDevices;
  int64_t devices = strategy::maxMeshDevices;
  for (int64_t degree :
       {options.dataParallel, options.pipelineParallel, options.contextParallel,
        options.expertParallel, options.tensorParallel})
    devices /= degree;
  if (devices == 0)
    return emitError(loc) << "dp=" << options.dataParallel
                          << ", pp=" << options.pipelineParallel
                          << ", cp=" << options.contextParallel
                          << ", ep=" << options.expertParallel
                          << " and tp=" << options.tensorParallel
                          << " need more than " << strategy::maxMeshDevices
                          << " devices; use smaller degrees";
  if (options.sequenceParallel && options.tensorParallel == 1)
    return emitError(loc, "sp=true splits sequences over the devices of tp; "
                          "set tp, or use cp");
  if (options.prefetch < -1)
    return emitError(loc) << "prefetch=" << options.prefetch
                          << " must be a number of layers, or -1 for the "
                             "default";
  if (treeName.empty())
    return emitError(loc, "the tree needs a name; set name=@s");
  return checkSchedule();
}

/// What the order of the stages asks of their numbers.
LogicalResult Preset::checkSchedule() {
  Location loc = module.getLoc();
  if (options.virtualStages > 1 && options.pipelineParallel == 1)
    return emitError(loc, "virtual-stages=")
           << options.virtualStages << " needs stages; set pp";
  const PipelineSchedule *rule =
      findSchedule(strategy::stringifyScheduleOrder(getOrder()));
  StageShape shape{0, options.pipelineParallel, options.virtualStages,
                   options.microBatches};
  if (std::optional<std::string> reason = rule->whyNot(shape))
    return emitError(loc, "schedule=")
           << rule->getName() << " does not fit: " << *reason;
  return success();
}

LogicalResult Preset::findModel() {
  StringRef wanted = StringRef(options.model).ltrim('@');
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
  if (Operation *other = module.lookupSymbol(treeName)) {
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "the name @")
        << treeName << " is taken; choose another one with name=";
    diagnostic.attachNote(other->getLoc()) << "it is taken here";
    return diagnostic;
  }
  function.walk(
      [&](IterationSpaceOpInterface op) { operations.push_back(op); });
  return success();
}

LogicalResult Preset::checkBatch() {
  BatchAnalysis batch(function);
  hasBatch = llvm::any_of(operations, [&](Operation *op) {
    return batch.getIterator(op).has_value();
  });
  if (!hasBatch && (options.dataParallel > 1 || options.expertParallel > 1 ||
                    options.microBatches > 1))
    return function.emitOpError(
        "has no batch to split: no operation reads an argument with nn.role = "
        "\"input\"; use dp=1, ep=1 and micro-batches=1");
  for (BlockArgument argument : function.getArguments()) {
    if (batch.getDimension(argument) != 0)
      continue;
    int64_t size = cast<RankedTensorType>(argument.getType()).getDimSize(0);
    int64_t replicas = options.dataParallel * options.expertParallel;
    if (size % (replicas * options.microBatches) != 0) {
      InFlightDiagnostic diagnostic = function.emitOpError("the batch of '");
      diagnostic << getArgumentPath(argument) << "', " << size
                 << ", can't be cut into equal parts by dp="
                 << options.dataParallel;
      if (options.expertParallel > 1)
        diagnostic << " times ep=" << options.expertParallel;
      return diagnostic << " times micro-batches=" << options.microBatches
                        << "; change the batch or the degrees";
    }
  }
  return success();
}

/// Iterations of all repeats around `op` together.
static double countRuns(Operation *op) {
  double runs = 1;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    runs *= repeat.getCount();
  return runs;
}

/// Adds the layers that `index` stands for, as written in the path of `op`.
static void addIndices(Operation *op, StringRef index,
                       llvm::SetVector<int64_t> &indices) {
  int64_t number;
  if (!index.getAsInteger(10, number)) {
    indices.insert(number);
    return;
  }
  nn::RepeatOp outermost;
  for (auto repeat = op->getParentOfType<nn::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<nn::RepeatOp>())
    outermost = repeat;
  if (!outermost)
    return;
  for (int64_t i = 0, e = outermost.getCount(); i < e; ++i)
    indices.insert(outermost.getFirst() + i);
}

void Preset::findLayers() {
  for (IterationSpaceOpInterface op : operations) {
    std::string path = nn::getPath(op);
    // Names that no pattern can select are left to the settings of the tree.
    llvm::Expected<strategy::PathPattern> pattern =
        strategy::PathPattern::parse(path);
    if (!pattern) {
      llvm::consumeError(pattern.takeError());
      continue;
    }
    auto [prefix, tail] = StringRef(path).split('[');
    if (tail.empty()) {
      places[op] = {"", "", path};
      continue;
    }
    auto [index, rest] = tail.split(']');
    places[op] = {(prefix + "[*]").str(), index.str(), rest.ltrim('.').str()};
  }
  // Places no longer move: their texts can be keys.
  for (IterationSpaceOpInterface op : operations) {
    auto found = places.find(op);
    if (found == places.end() || found->second.layers.empty())
      continue;
    const Place &place = found->second;
    Layers &group = layers[place.layers];
    group.operations[place.path].push_back(op);
    addIndices(op, place.index, group.indices);
    group.work += op.getIterationSpace().numPoints() *
                  std::max(1.0, op.getFlopsPerPoint()) * op.getVisitedShare() *
                  countRuns(op);
  }
}

LogicalResult Preset::chooseLayers() {
  for (auto &[pattern, group] : layers)
    if (mainLayers.empty() || group.work > layers[mainLayers].work)
      mainLayers = pattern;
  if (mainLayers.empty()) {
    if (options.pipelineParallel > 1)
      return function.emitOpError("has no repeated layers to cut into pp=")
             << options.pipelineParallel
             << " stages; use pp=1, an nn.repeat, or paths with an index "
                "(layers[0].fc)";
    if (options.recompute == Recompute::Full)
      return function.emitOpError(
          "has no repeated layers to recompute; use recompute=none, an "
          "nn.repeat, or paths with an index (layers[0].fc)");
    return success();
  }
  int64_t count = layers[mainLayers].indices.size();
  if (options.pipelineParallel > count)
    return function.emitOpError("has ")
           << count << " layers '" << mainLayers
           << "', which can't be cut into pp=" << options.pipelineParallel
           << " stages; use pp=" << count << " or less";
  if (options.virtualStages > count / options.pipelineParallel)
    return function.emitOpError("has ")
           << count << " layers '" << mainLayers
           << "', which can't be cut into pp=" << options.pipelineParallel
           << " times virtual-stages=" << options.virtualStages
           << " runs; use virtual-stages=" << count / options.pipelineParallel
           << " or less";
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor parallelism
//===----------------------------------------------------------------------===//

strategy::PartAttr Preset::part(Attribute key, ArrayRef<StringRef> axes) {
  SmallVector<StringAttr> names;
  for (StringRef axis : axes)
    names.push_back(StringAttr::get(context, axis));
  return strategy::PartAttr::get(context, key, names);
}

strategy::PartAttr Preset::part(StringRef iterator, ArrayRef<StringRef> axes,
                                bool zigzag, bool ring) {
  strategy::PartAttr plain = part(StringAttr::get(context, iterator), axes);
  return strategy::PartAttr::get(context, plain.getKey(), plain.getAxes(),
                                 zigzag, ring);
}

void Preset::addPart(Operation *op, strategy::PartAttr part) {
  settings[op].splits[strategy::ItemKind::Op].push_back(part);
}

void Preset::splitOver(Operation *op, StringRef iterator) {
  if (tensorSplit.insert(op).second)
    addPart(op, part(iterator, {kTensor}));
}

/// Whether a split of any dimension of the operand is one of the result.
static bool isElementWise(Operation *op) {
  return isa<nn::ReluOp, nn::GeluOp, nn::SiluOp, nn::TanhOp, nn::SigmoidOp,
             nn::SwigluOp, nn::ScaleOp, nn::DropoutOp, nn::CastOp>(op);
}

static int64_t outSize(nn::LinearOp linear) {
  return cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(0);
}

/// Uses of `value`, seen through element-wise operations.
static void collectReaders(Value value, SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses())
    if (isElementWise(use.getOwner()))
      collectReaders(use.getOwner()->getResult(0), readers);
    else
      readers.push_back(&use);
}

/// The linears that read `value` as their input through element-wise
/// operations. None if anything else reads it.
static SmallVector<nn::LinearOp> onlyLinearReaders(Value value) {
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

/// The linear that computes `value`, through views and element-wise operations
/// that keep `parts` equal parts of its last dimension where they are; null if
/// there is none.
static nn::LinearOp producingLinear(Value value, int64_t parts) {
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

/// By heads: the linears in front by columns, the one behind by rows.
LogicalResult Preset::splitAttention(nn::AttentionOp attention) {
  int64_t heads = attention.getKeyHeads();
  if (heads % options.tensorParallel != 0)
    return attention.emitOpError("has ")
           << heads << (attention.getKvHeads() ? " key heads" : " heads")
           << ", which tp=" << options.tensorParallel
           << " does not divide; use a tp that does";
  bool follows = true;
  for (Value operand :
       {attention.getQuery(), attention.getKey(), attention.getValue()})
    if (nn::LinearOp linear = producingLinear(operand, options.tensorParallel))
      splitOver(linear, "out");
    else
      follows = false;
  if (!follows)
    splitOver(attention, "head");
  SmallVector<OpOperand *> readers;
  collectReaders(attention.getResult(), readers);
  for (OpOperand *reader : readers)
    if (isa<nn::LinearOp>(reader->getOwner()) &&
        reader->getOperandNumber() == 0)
      rowLinears.insert(reader->getOwner());
  return success();
}

/// By columns, if that is of use to the readers.
void Preset::splitLinear(nn::LinearOp linear) {
  if (isTensorSplit(linear) || rowLinears.contains(linear) ||
      outSize(linear) < options.tensorParallel)
    return;
  SmallVector<nn::LinearOp> readers = onlyLinearReaders(linear.getResult());
  if (readers.empty() || llvm::any_of(readers, [&](nn::LinearOp reader) {
        return isTensorSplit(reader);
      }))
    return;
  splitOver(linear, "out");
  rowLinears.insert_range(readers);
}

/// The first matrix of an expert by columns; the second follows by rows.
void Preset::splitExperts(nn::ExpertLinearOp linear) {
  auto weight = cast<RankedTensorType>(linear.getWeight().getType());
  if (rowLinears.contains(linear) ||
      weight.getDimSize(1) < options.tensorParallel)
    return;
  SmallVector<OpOperand *> readers;
  collectReaders(linear.getResult(), readers);
  bool feedsExperts = llvm::all_of(readers, [](OpOperand *reader) {
    return isa<nn::ExpertLinearOp>(reader->getOwner()) &&
           reader->getOperandNumber() == 0;
  });
  if (readers.empty() || !feedsExperts)
    return;
  splitOver(linear, "out");
  for (OpOperand *reader : readers)
    rowLinears.insert(reader->getOwner());
}

LogicalResult Preset::splitTensors() {
  if (options.tensorParallel == 1)
    return success();
  for (Operation *op : operations)
    if (auto attention = dyn_cast<nn::AttentionOp>(op))
      if (failed(splitAttention(attention)))
        return failure();
  for (Operation *op : operations)
    if (auto linear = dyn_cast<nn::LinearOp>(op)) {
      splitLinear(linear);
    } else if (auto expert = dyn_cast<nn::ExpertLinearOp>(op)) {
      splitExperts(expert);
    } else if (auto embedding = dyn_cast<nn::EmbeddingOp>(op)) {
      auto table = cast<RankedTensorType>(embedding.getTable().getType());
      if (table.getDimSize(0) >= options.tensorParallel)
        splitOver(op, "vocab");
    }
  for (Operation *op : operations)
    if (auto loss = dyn_cast<nn::CrossEntropyOp>(op)) {
      nn::LinearOp linear =
          producingLinear(loss.getLogits(), options.tensorParallel);
      if (linear && !rowLinears.contains(linear) &&
          outSize(linear) >= options.tensorParallel)
        splitOver(linear, "out");
    }
  for (Operation *op : llvm::to_vector(rowLinears))
    if (isTensorSplit(op))
      rowLinears.erase(op);
  if (tensorSplit.empty())
    return function.emitOpError("has no operation to split into tp=")
           << options.tensorParallel
           << " parts: no attention, no embedding, no pair of linears and no "
              "linear in front of a cross-entropy is large enough; use tp=1";
  return success();
}

//===----------------------------------------------------------------------===//
// Sequence and context parallelism
//===----------------------------------------------------------------------===//

/// The size of the sequence that `op` runs over, if it does.
static std::optional<int64_t> sequenceOf(IterationSpaceOpInterface op) {
  nn::IterationSpace space = op.getIterationSpace();
  std::optional<unsigned> iterator = space.find("seq");
  if (!iterator)
    return std::nullopt;
  return space.iterators[*iterator].size;
}

/// Sequences are cut into equal parts; causal ones, whose late queries see
/// more keys, into twice as many, of which each device gets two.
LogicalResult Preset::checkSequence() {
  if (!options.sequenceParallel && options.contextParallel == 1)
    return success();
  int64_t pieces = options.contextParallel *
                   (options.sequenceParallel ? options.tensorParallel : 1);
  bool found = false, causal = false, even = true;
  for (IterationSpaceOpInterface op : operations) {
    auto attention = dyn_cast<nn::AttentionOp>(op.getOperation());
    causal |= attention && attention.getCausal();
    SmallVector<int64_t> sizes;
    if (std::optional<int64_t> size = sequenceOf(op))
      sizes.push_back(*size);
    if (attention)
      sizes.push_back(
          cast<RankedTensorType>(attention.getKey().getType()).getDimSize(1));
    for (int64_t size : sizes) {
      found = true;
      even &= size % (2 * options.contextParallel) == 0;
      if (size % pieces == 0)
        continue;
      InFlightDiagnostic diagnostic = op->emitOpError("has a sequence of ");
      diagnostic << size << ", which can't be cut into equal parts by ";
      if (options.contextParallel > 1)
        diagnostic << "cp=" << options.contextParallel;
      if (options.sequenceParallel)
        diagnostic << (options.contextParallel > 1 ? " times " : "")
                   << "tp=" << options.tensorParallel << " with sp=true";
      return diagnostic << "; change the degrees";
    }
  }
  if (!found)
    return function.emitOpError("has no sequence to split: no operation has an "
                                "iterator 'seq'; use cp=1 and sp=false");
  if (options.contextParallel == 1 || !causal ||
      options.contextKind == ContextKind::Ulysses)
    return success();
  zigzag = even && !options.sequenceParallel;
  if (!zigzag)
    function.emitRemark("causal attention is split over cp in contiguous "
                        "parts, the last of which has most to do: ")
        << (even ? "parts of a zigzag can't be cut further by sp=true"
                 : "a zigzag takes sequences that 2 * cp divides");
  return success();
}

/// Between a linear by rows and the next one by columns nothing is split by
/// hidden units. There, operations that treat positions one by one are split
/// along the sequence.
void Preset::splitSequence() {
  if (!options.sequenceParallel)
    return;
  // What is computed from columns, up to the rows that sum them.
  DenseSet<Operation *> inside;
  SmallVector<Operation *> worklist;
  for (Operation *op : operations)
    if (isTensorSplit(op) && !isa<nn::EmbeddingOp>(op))
      worklist.push_back(op);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!inside.insert(op).second || rowLinears.contains(op))
      continue;
    for (Operation *user : op->getUsers())
      worklist.push_back(user);
  }
  SmallVector<StringRef> axes;
  if (options.contextParallel > 1)
    axes.push_back(kContext);
  axes.push_back(kTensor);
  for (IterationSpaceOpInterface op : operations) {
    if (!sequenceOf(op))
      continue;
    // What a reader wants must not reach over a sum of rows.
    if (rowLinears.contains(op))
      addPart(op, part("in", {kTensor}));
    else if (!inside.contains(op) &&
             (isElementWise(op) ||
              isa<nn::AddOp, nn::MulOp, nn::LayerNormOp, nn::RMSNormOp>(
                  op.getOperation())))
      addPart(op, part("seq", axes));
  }
}

/// The tree splits sequences everywhere; attention needs to know how it gets
/// at the keys of other parts, unless it gathers them.
LogicalResult Preset::splitContext() {
  if (options.contextParallel == 1 ||
      options.contextKind == ContextKind::AllGather)
    return success();
  bool found = false;
  for (Operation *op : operations) {
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (!attention)
      continue;
    found = true;
    if (options.contextKind == ContextKind::Ring) {
      addPart(op, part("key", {kContext}, zigzag, /*ring=*/true));
      continue;
    }
    int64_t heads = attention.getKeyHeads();
    if (heads % (options.tensorParallel * options.contextParallel) != 0)
      return attention.emitOpError("has ")
             << heads << (attention.getKvHeads() ? " key heads" : " heads")
             << ", which tp=" << options.tensorParallel
             << " times cp=" << options.contextParallel
             << " does not divide; use cp-kind=ring or smaller degrees";
    SmallVector<StringRef> axes;
    if (options.tensorParallel > 1)
      axes.push_back(kTensor);
    axes.push_back(kContext);
    settings[op].splits[strategy::ItemKind::Op] = {part("head", axes),
                                                   part("seq", {})};
  }
  if (!found)
    return function.emitOpError("has no nn.attention that cp-kind could be "
                                "about; use cp-kind=all-gather");
  return success();
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// Experts on ep, which elsewhere splits the batch.
LogicalResult Preset::placeExperts() {
  if (options.expertParallel == 1)
    return success();
  DenseSet<Value> ofExperts;
  bool found = false;
  for (Operation *op : operations) {
    if (auto route = dyn_cast<nn::MoeRouteOp>(op)) {
      int64_t replicas =
          options.dataParallel * options.expertParallel * options.microBatches;
      if (static_cast<int64_t>(route.getGroups()) % replicas != 0)
        return route.emitOpError("has ")
               << route.getGroups()
               << " groups, which can't be cut into equal parts by dp="
               << options.dataParallel << " times ep=" << options.expertParallel
               << " times micro-batches=" << options.microBatches
               << "; change groups or the degrees";
      continue;
    }
    auto linear = dyn_cast<nn::ExpertLinearOp>(op);
    bool follows = (isElementWise(op) || isa<nn::AddOp, nn::MulOp>(op)) &&
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     return ofExperts.contains(operand);
                   });
    if (!linear && !follows)
      continue;
    ofExperts.insert_range(op->getResults());
    SmallVector<StringRef> batchAxes;
    if (options.dataParallel > 1)
      batchAxes.push_back(kData);
    addPart(op, part("batch", batchAxes));
    if (!linear)
      continue;
    found = true;
    int64_t experts =
        cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(0);
    if (experts < options.expertParallel)
      return linear.emitOpError("has ")
             << experts << " experts, fewer than ep=" << options.expertParallel
             << "; use ep=" << experts << " or less";
    addPart(op, part("expert", {kExpert}));
  }
  if (!found)
    return function.emitOpError("has no experts to split into ep=")
           << options.expertParallel
           << " parts: there is no nn.expert_linear; use ep=1";
  return success();
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

LogicalResult Preset::recomputeAttention() {
  if (options.recompute != Recompute::Selective)
    return success();
  bool found = false;
  for (Operation *op : operations)
    if (isa<nn::AttentionOp>(op)) {
      settings[op].recompute = true;
      found = true;
    }
  if (!found)
    return function.emitOpError("has no nn.attention to recompute; use "
                                "recompute=none or recompute=full");
  return success();
}

//===----------------------------------------------------------------------===//
// ZeRO
//===----------------------------------------------------------------------===//

std::pair<SmallVector<StringRef>, int64_t> Preset::copiesOf(Operation *op) {
  SmallVector<StringRef> axes;
  int64_t count = 1;
  auto add = [&](StringRef axis, int64_t size) {
    if (size == 1)
      return;
    axes.push_back(axis);
    count *= size;
  };
  add(kData, options.dataParallel);
  add(kContext, options.contextParallel);
  if (!isa<nn::ExpertLinearOp>(op))
    add(kExpert, options.expertParallel);
  return {axes, count};
}

/// How the parameters of `op` in `operands` are stored: as the operation reads
/// them, and split over the devices that have copies. Empty if they are too
/// small.
SmallVector<strategy::PartAttr, 2>
Preset::storageOf(IterationSpaceOpInterface op,
                  ArrayRef<OpOperand *> operands) {
  auto [copies, count] = copiesOf(op);
  SmallVector<StringRef> withTensor = {kTensor};
  llvm::append_range(withTensor, copies);
  if (copies.empty())
    return {};
  if (auto linear = dyn_cast<nn::LinearOp>(op.getOperation())) {
    int64_t out = outSize(linear);
    int64_t in =
        cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(1);
    if (isTensorSplit(op)) {
      if (out >= options.tensorParallel * count)
        return {part("out", withTensor)};
      if (in >= count)
        return {part("out", {kTensor}), part("in", copies)};
      return {};
    }
    if (out < count)
      return {};
    if (rowLinears.contains(op))
      return {part("out", copies), part("in", {kTensor})};
    return {part("out", copies)};
  }
  if (auto expert = dyn_cast<nn::ExpertLinearOp>(op.getOperation())) {
    auto weight = cast<RankedTensorType>(expert.getWeight().getType());
    bool columns = isTensorSplit(op);
    if (weight.getDimSize(1) < count * (columns ? options.tensorParallel : 1))
      return {};
    SmallVector<strategy::PartAttr, 2> parts;
    if (options.expertParallel > 1)
      parts.push_back(part("expert", {kExpert}));
    parts.push_back(part("out", columns ? withTensor : copies));
    if (rowLinears.contains(op))
      parts.push_back(part("in", {kTensor}));
    return parts;
  }
  if (auto embedding = dyn_cast<nn::EmbeddingOp>(op.getOperation());
      embedding && isTensorSplit(op)) {
    auto table = cast<RankedTensorType>(embedding.getTable().getType());
    if (table.getDimSize(0) >= options.tensorParallel * count)
      return {part("vocab", withTensor)};
    if (table.getDimSize(1) >= count)
      return {part("vocab", {kTensor}), part("hidden", copies)};
    return {};
  }
  for (OpOperand *operand : operands) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (type.getRank() == 0 || type.getDimSize(0) < count)
      return {};
  }
  return {part(IntegerAttr::get(IntegerType::get(context, 64), 0), copies)};
}

void Preset::splitStorage() {
  if (options.zero == ZeroStage::None)
    return;
  // The first reader decides how a parameter is stored.
  DenseSet<Value> decided;
  for (IterationSpaceOpInterface op : operations) {
    SmallVector<OpOperand *> operands;
    bool isFirst = true;
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument argument = getParameter(operand.get()).first) {
        isFirst &= decided.insert(argument).second;
        operands.push_back(&operand);
      }
    if (operands.empty() || !isFirst)
      continue;
    SmallVector<strategy::PartAttr, 2> storage = storageOf(op, operands);
    if (storage.empty())
      continue;
    if (options.zero == ZeroStage::Parameters)
      settings[op].splits[strategy::ItemKind::Weight] = storage;
    if (options.zero != ZeroStage::States)
      settings[op].splits[strategy::ItemKind::Gradient] = storage;
    settings[op].splits[strategy::ItemKind::State] = storage;
  }
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

void Preset::writeSettings(OpBuilder &builder, const Settings &list) {
  if (list.recompute)
    strategy::RecomputeOp::create(builder, function.getLoc());
  for (auto &[kind, parts] : list.splits)
    strategy::SplitOp::create(builder, function.getLoc(),
                              strategy::ItemAttr::get(context, kind),
                              strategy::PartitionAttr::get(context, parts));
}

void Preset::writeNode(OpBuilder &builder, StringRef pattern,
                       const Settings &list) {
  OpBuilder::InsertionGuard guard(builder);
  auto node = strategy::NodeOp::create(builder, function.getLoc(), pattern);
  builder.setInsertionPointToStart(&node.getBody().front());
  writeSettings(builder, list);
}

void Preset::writeLayers(OpBuilder &builder, StringRef pattern) {
  Layers &group = layers[pattern];
  // What holds for a path in every layer is said once, the rest layer by layer.
  llvm::MapVector<StringRef, Settings> common;
  SmallVector<Operation *> single;
  for (auto &[path, members] : group.operations) {
    SmallVector<Operation *> set = llvm::filter_to_vector(
        members, [&](Operation *op) { return isSet(op); });
    if (set.empty())
      continue;
    // Operations of other kinds may share the path; they lack the iterators.
    StringRef kind = set.front()->getName().getStringRef();
    bool alike = llvm::all_of(members, [&](Operation *op) {
      return op->getName().getStringRef() != kind ||
             (isSet(op) && settings[op] == settings[set.front()]);
    });
    if (alike)
      common[path] = settings[set.front()];
    else
      llvm::append_range(single, set);
  }
  bool stages = pattern == mainLayers && options.pipelineParallel > 1;
  bool again = pattern == mainLayers && options.recompute == Recompute::Full;
  if (stages || again || !common.empty()) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = function.getLoc();
    auto node = strategy::NodeOp::create(builder, loc, pattern);
    builder.setInsertionPointToStart(&node.getBody().front());
    if (stages)
      strategy::StagesOp::create(builder, loc, builder.getStringAttr(kPipeline),
                                 DenseI64ArrayAttr());
    if (again)
      strategy::RecomputeOp::create(builder, loc);
    for (auto &[path, list] : common)
      if (path.empty())
        writeSettings(builder, list);
      else
        writeNode(builder, path, list);
  }
  for (Operation *op : single)
    writeNode(builder, nn::getPath(op), settings[op]);
}

void Preset::write() {
  Location loc = function.getLoc();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(function);
  auto tree =
      strategy::TreeOp::create(builder, loc, treeName, function.getName());
  builder.setInsertionPointToStart(&tree.getBody().front());

  SmallVector<Attribute> axes;
  auto addAxis = [&](StringRef axis, int64_t size) {
    axes.push_back(
        strategy::AxisAttr::get(context, StringAttr::get(context, axis), size));
  };
  // Outermost first: what communicates least may lie farthest apart.
  std::pair<StringRef, int64_t> degrees[] = {
      {kData, options.dataParallel},
      {kPipeline, options.pipelineParallel},
      {kContext, options.contextParallel},
      {kExpert, options.expertParallel},
      {kTensor, options.tensorParallel}};
  for (auto [axis, size] : degrees)
    if (size > 1)
      addAxis(axis, size);
  // A mesh has an axis.
  bool alone = axes.empty();
  if (alone)
    addAxis(kData, 1);
  bool data = options.dataParallel > 1 || options.expertParallel > 1 || alone;
  strategy::MeshOp::create(builder, loc, ArrayAttr::get(context, axes),
                           DenseI64ArrayAttr());
  if (options.microBatches > 1 || options.pipelineParallel > 1)
    strategy::ScheduleOp::create(
        builder, loc, builder.getI64IntegerAttr(options.microBatches),
        builder.getStringAttr(strategy::stringifyScheduleOrder(getOrder())),
        IntegerAttr(),
        options.virtualStages > 1
            ? builder.getI64IntegerAttr(options.virtualStages)
            : IntegerAttr());
  SmallVector<strategy::PartAttr, 2> everywhere;
  if (data && hasBatch) {
    SmallVector<StringRef> batchAxes;
    if (options.dataParallel > 1 || options.expertParallel == 1)
      batchAxes.push_back(kData);
    if (options.expertParallel > 1)
      batchAxes.push_back(kExpert);
    everywhere.push_back(part("batch", batchAxes));
  }
  if (options.contextParallel > 1)
    everywhere.push_back(part("seq", {kContext}, zigzag));
  if (!everywhere.empty())
    writeSettings(builder, {{{strategy::ItemKind::Op, everywhere}}});
  if (options.prefetch >= 0 || !options.reshardAfterForward)
    strategy::PrefetchOp::create(
        builder, loc,
        options.prefetch >= 0 ? builder.getI64IntegerAttr(options.prefetch)
                              : IntegerAttr(),
        options.reshardAfterForward ? BoolAttr() : builder.getBoolAttr(false));
  if (options.offloadWeight || options.offloadState ||
      options.offloadActivation)
    strategy::OffloadOp::create(builder, loc, /*none=*/false,
                                options.offloadWeight, options.offloadState,
                                options.offloadActivation);

  llvm::SetVector<StringRef> written;
  for (Operation *op : operations) {
    auto place = places.find(op);
    if (place == places.end())
      continue;
    StringRef pattern = place->second.layers;
    if (!pattern.empty()) {
      if (written.insert(pattern))
        writeLayers(builder, pattern);
    } else if (isSet(op) && written.insert(place->second.path)) {
      writeNode(builder, place->second.path, settings[op]);
    }
  }
}

LogicalResult Preset::run() {
  if (failed(checkOptions()) || failed(findModel()) || failed(checkBatch()))
    return failure();
  findLayers();
  if (failed(chooseLayers()) || failed(splitTensors()) ||
      failed(checkSequence()))
    return failure();
  splitSequence();
  if (failed(splitContext()) || failed(placeExperts()) ||
      failed(recomputeAttention()))
    return failure();
  splitStorage();
  write();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class ApplyStrategy : public proteus::impl::ApplyStrategyBase<ApplyStrategy> {
public:
  using ApplyStrategyBase::ApplyStrategyBase;
  void runOnOperation() override {
    ApplyStrategyOptions options{model,
                                 name,
                                 dataParallel,
                                 tensorParallel,
                                 sequenceParallel,
                                 contextParallel,
                                 contextKind,
                                 expertParallel,
                                 pipelineParallel,
                                 microBatches,
                                 schedule,
                                 virtualStages,
                                 recompute,
                                 zero,
                                 prefetch,
                                 reshardAfterForward,
                                 offloadWeight,
                                 offloadState,
                                 offloadActivation};
    if (failed(Preset(getOperation(), options).run()))
      signalPassFailure();
  }
};
} // namespace
