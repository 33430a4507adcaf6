//===- SplitPlan.cpp - splits of operations for given degrees -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitPlan.h"

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

strategy::PartAttr SplitPlan::part(Attribute key, Axes axes) const {
  SmallVector<StringAttr> names;
  for (StringRef axis : axes)
    names.push_back(StringAttr::get(context, axis));
  return strategy::PartAttr::get(context, key, names);
}

strategy::PartAttr SplitPlan::part(StringRef iterator, Axes axes, bool zigzag,
                                   bool ring) const {
  strategy::PartAttr plain = part(StringAttr::get(context, iterator), axes);
  return strategy::PartAttr::get(context, plain.getKey(), plain.getAxes(),
                                 zigzag, ring);
}

void SplitPlan::addPart(Operation *op, strategy::PartAttr part) {
  settings[op].splits[strategy::ItemKind::Op].push_back(part);
}

void SplitPlan::splitOver(Operation *op, StringRef iterator) {
  if (tensorSplit.insert(op).second)
    addPart(op, part(iterator, {kTensor}));
}

const OperationSettings *SplitPlan::get(Operation *op) const {
  auto found = settings.find(op);
  return found == settings.end() ? nullptr : &found->second;
}

OperationSettings SplitPlan::getEverywhere() const {
  OperationSettings list;
  Parts everywhere;
  // On a single device, the mesh has only the axis dp, of size 1, because it
  // needs at least one axis. The batch is split over this axis.
  bool data = decisions.dataReplicas() > 1 || decisions.expertRanks() > 1 ||
              (decisions.pp == 1 && decisions.cp == 1 && decisions.tp == 1);
  if (data && model.hasBatch()) {
    SmallVector<StringRef> batchAxes;
    if (decisions.dataReplicas() > 1 || decisions.expertRanks() == 1)
      batchAxes.push_back(kData);
    if (decisions.expertRanks() > 1)
      batchAxes.push_back(kExpert);
    everywhere.push_back(part("batch", batchAxes));
  }
  if (decisions.cp > 1)
    everywhere.push_back(part("seq", {kContext}, zigzag));
  if (!everywhere.empty())
    list.splits[strategy::ItemKind::Op] = everywhere;
  // Experts have no copies over ep, which the flat cut leaves out for them.
  if (auto axes = copiesOf(nullptr).first; cutsFlat() && !axes.empty())
    store(list, {flatPart(axes)});
  return list;
}

//===----------------------------------------------------------------------===//
// Tensor parallelism
//===----------------------------------------------------------------------===//

/// Splits an attention by heads. Splits by columns the linears that compute its
/// query, key and value; the split of the heads follows from these. If an
/// operand does not come from a linear, also splits the heads explicitly.
/// Records that the linears that read the result are split by rows.
LogicalResult SplitPlan::splitAttention(nn::AttentionOp attention) {
  int64_t heads = attention.getKeyHeads();
  if (heads % decisions.tp != 0)
    return attention.emitOpError("has ")
           << heads << (attention.getKvHeads() ? " key heads" : " heads")
           << ", which tp=" << decisions.tp
           << " does not divide; use a tp that does";
  bool follows = true;
  for (Value operand :
       {attention.getQuery(), attention.getKey(), attention.getValue()})
    if (nn::LinearOp linear = producingLinear(operand, decisions.tp))
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

/// Returns the linear that computes `value`, directly or through other
/// operations, with its output features in dimension `dim`. Returns null if
/// there is no such linear, or if an operation in between cannot split these
/// features into `parts` equal parts.
static nn::LinearOp linearOfColumns(Value value, unsigned dim, int64_t parts) {
  while (auto op = value.getDefiningOp<IterationSpaceOpInterface>()) {
    nn::IterationSpace space = op.getIterationSpace();
    unsigned number = cast<OpResult>(value).getResultNumber();
    const nn::DimIterators &columns = space.results[number][dim];
    if (columns.empty() || op->getNumOperands() == 0)
      return {};
    const nn::Iterator &iterator = space.iterators[columns.front()];
    if (!iterator.isSplittable() || iterator.size % parts != 0)
      return {};
    if (auto linear = dyn_cast<nn::LinearOp>(op.getOperation()))
      return iterator.name == "out" ? linear : nn::LinearOp();
    const auto *found = llvm::find_if(
        space.operands.front(), [&](const nn::DimIterators &other) {
          return !other.empty() && other.front() == columns.front();
        });
    if (found == space.operands.front().end())
      return {};
    value = op->getOperand(0);
    dim = found - space.operands.front().begin();
  }
  return {};
}

/// Collects the linears that read `value` as their input, directly or through
/// transposes, reshapes and element-wise operations.
static void collectFollowingLinears(Value value,
                                    SmallVectorImpl<nn::LinearOp> &linears) {
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    if (auto linear = dyn_cast<nn::LinearOp>(reader)) {
      if (use.getOperandNumber() == 0)
        linears.push_back(linear);
    } else if (isElementWise(reader) ||
               isa<nn::TransposeOp, nn::ReshapeOp>(reader)) {
      collectFollowingLinears(reader->getResult(0), linears);
    }
  }
}

/// Splits a product of tensors `[batch, head, ..]`, as in attention that is
/// written out as separate operations. Splits by columns the linears that
/// compute the operands. Propagation then splits the product by heads, and the
/// linears that read its result by rows.
void SplitPlan::splitHeadProduct(nn::MatmulOp product) {
  if (cast<RankedTensorType>(product.getLhs().getType()).getRank() != 4)
    return;
  bool splits = false;
  for (Value operand : product.getOperands())
    if (nn::LinearOp linear = linearOfColumns(operand, 1, decisions.tp)) {
      splitOver(linear, "out");
      splits = true;
    }
  SmallVector<nn::LinearOp> following;
  if (splits)
    collectFollowingLinears(product.getResult(), following);
  rowLinears.insert_range(following);
}

/// Splits a linear by columns if all its readers are linears that can be split
/// by rows. Records these readers in `rowLinears`.
void SplitPlan::splitLinear(nn::LinearOp linear) {
  if (isTensorSplit(linear) || rowLinears.contains(linear) ||
      outSize(linear) < decisions.tp)
    return;
  SmallVector<nn::LinearOp> readers = onlyLinearReaders(linear.getResult());
  if (readers.empty() || llvm::any_of(readers, [&](nn::LinearOp reader) {
        return isTensorSplit(reader);
      }))
    return;
  splitOver(linear, "out");
  rowLinears.insert_range(readers);
}

/// Splits `linear` by columns if it is the first matrix of an expert, which
/// means that only other matrices of experts read its result. These are then
/// split by rows.
void SplitPlan::splitExperts(nn::ExpertLinearOp linear) {
  auto weight = cast<RankedTensorType>(linear.getWeight().getType());
  if (rowLinears.contains(linear) || weight.getDimSize(1) < decisions.tp)
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

LogicalResult SplitPlan::splitTensors() {
  if (decisions.tp == 1)
    return success();
  for (Operation *op : model.getOperations())
    if (auto attention = dyn_cast<nn::AttentionOp>(op))
      if (failed(splitAttention(attention)))
        return failure();
  for (Operation *op : model.getOperations())
    if (auto product = dyn_cast<nn::MatmulOp>(op))
      splitHeadProduct(product);
  for (Operation *op : model.getOperations())
    if (auto linear = dyn_cast<nn::LinearOp>(op)) {
      splitLinear(linear);
    } else if (auto expert = dyn_cast<nn::ExpertLinearOp>(op);
               expert && !decisions.hasWholeExperts()) {
      splitExperts(expert);
    } else if (auto embedding = dyn_cast<nn::EmbeddingOp>(op)) {
      auto table = cast<RankedTensorType>(embedding.getTable().getType());
      if (table.getDimSize(0) >= decisions.tp)
        splitOver(op, "vocab");
    }
  for (Operation *op : model.getOperations())
    if (auto loss = dyn_cast<nn::CrossEntropyOp>(op)) {
      nn::LinearOp linear = producingLinear(loss.getLogits(), decisions.tp);
      if (linear && !rowLinears.contains(linear) &&
          outSize(linear) >= decisions.tp)
        splitOver(linear, "out");
    }
  for (Operation *op : llvm::to_vector(rowLinears))
    if (isTensorSplit(op))
      rowLinears.erase(op);
  if (tensorSplit.empty())
    return model.getFunction().emitOpError("has no operation to split into tp=")
           << decisions.tp
           << " parts: no attention, no embedding, no pair of linears and no "
              "linear before a cross-entropy is large enough; use tp=1";
  return success();
}

//===----------------------------------------------------------------------===//
// Sequence and context parallelism
//===----------------------------------------------------------------------===//

/// Emits an error if sequences cannot be cut into equal parts. Also sets
/// `zigzag`, for causal attention that is split over cp. There, late queries
/// read more keys than early ones. In a zigzag, the sequence is therefore cut
/// into two chunks per device, and each device gets one chunk from each end. If
/// a zigzag is not possible, emits a remark.
LogicalResult SplitPlan::checkSequence() {
  if (!decisions.sequenceParallel && decisions.cp == 1)
    return success();
  int64_t pieces =
      decisions.cp * (decisions.sequenceParallel ? decisions.tp : 1);
  bool found = false, causal = false, even = true;
  for (IterationSpaceOpInterface op : model.getOperations()) {
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
      even &= size % (2 * pieces) == 0;
      if (size % pieces == 0)
        continue;
      InFlightDiagnostic diagnostic = op->emitOpError("has a sequence of ");
      diagnostic << size << ", which can't be cut into equal parts by ";
      if (decisions.cp > 1)
        diagnostic << "cp=" << decisions.cp;
      if (decisions.sequenceParallel)
        diagnostic << (decisions.cp > 1 ? " times " : "")
                   << "tp=" << decisions.tp << " with sp=true";
      return diagnostic << "; change the degrees";
    }
  }
  if (!found)
    return model.getFunction().emitOpError(
        "has no sequence to split: no operation has an "
        "iterator 'seq'; use cp=1 and sp=false");
  if (decisions.cp == 1 || !causal ||
      decisions.contextKind == plan::ContextKind::Ulysses)
    return success();
  // `keep-gathered` keeps an input through an nn.keep with contiguous parts, so
  // a zigzag is not possible.
  bool isKept = decisions.sequenceParallel && decisions.keepGathered;
  zigzag = even && !isKept;
  if (!zigzag)
    model.getFunction().emitRemark(
        "causal attention is split over cp in contiguous parts, and the last "
        "part has the most work: ")
        << (isKept ? "keep-gathered does not support a zigzag"
            : decisions.sequenceParallel
                ? "a zigzag needs sequences that 2 * cp * tp divides"
                : "a zigzag needs sequences that 2 * cp divides");
  return success();
}

/// Splits the sequence of the norms, sums and element-wise operations that run
/// between a linear that is split by rows and the next linear that is split by
/// columns. They treat each position on its own, and tp splits no other
/// dimension of them. Does nothing without sequence parallelism.
void SplitPlan::splitSequence() {
  if (!decisions.sequenceParallel)
    return;
  // Operations from a linear that is split by columns to the next linear that
  // is split by rows, both included.
  DenseSet<Operation *> inside;
  SmallVector<Operation *> worklist;
  for (Operation *op : model.getOperations())
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
  if (decisions.cp > 1)
    axes.push_back(kContext);
  // `gathered` is the split of sequences over cp only. `axes` then also gets
  // tp. tp cuts the parts of a zigzag over cp further, so no element moves to
  // another coordinate of cp.
  strategy::PartAttr gathered = part("seq", axes);
  axes.push_back(kTensor);
  // Returns true if the gathered input of `op` is kept for the backward pass.
  // Recomputed layers do not keep it, because such a layer keeps only its own
  // input.
  auto keepsInput = [&](Operation *op) {
    const ModelShape::Position *position = model.getPosition(op);
    bool again = decisions.recompute == plan::Recompute::Full && position &&
                 model.isRecomputed(position->layers);
    return decisions.keepGathered && isa<nn::LinearOp>(op) &&
           isTensorSplit(op) && !again;
  };
  for (IterationSpaceOpInterface op : model.getOperations()) {
    if (!sequenceOf(op))
      continue;
    // The split of `in` over tp is set explicitly. Otherwise propagation could
    // copy the split of the sequence over tp from the readers, and the linear
    // could not use tp for `in`.
    if (rowLinears.contains(op))
      addPart(op, part("in", {kTensor}));
    else if (keepsInput(op))
      settings[op].splits[strategy::ItemKind::Input].push_back(gathered);
    else if (!inside.contains(op) &&
             (isElementWise(op) ||
              isa<nn::AddOp, nn::MulOp, nn::LayerNormOp, nn::RMSNormOp>(
                  op.getOperation())))
      addPart(op, part("seq", axes, zigzag));
  }
}

/// Sets how attention gets the keys of other devices: around a ring, or by a
/// split of the heads over cp instead of the sequence (`ulysses`). `all-gather`
/// needs no setting: the tree splits sequences everywhere, so attention gathers
/// the keys.
LogicalResult SplitPlan::splitContext() {
  if (decisions.cp == 1 ||
      decisions.contextKind == plan::ContextKind::AllGather)
    return success();
  bool found = false;
  for (Operation *op : model.getOperations()) {
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (!attention)
      continue;
    found = true;
    if (decisions.contextKind == plan::ContextKind::Ring) {
      addPart(op, part("key", {kContext}, zigzag, /*ring=*/true));
      continue;
    }
    int64_t heads = attention.getKeyHeads();
    if (heads % (decisions.tp * decisions.cp) != 0)
      return attention.emitOpError("has ")
             << heads << (attention.getKvHeads() ? " key heads" : " heads")
             << ", which tp=" << decisions.tp << " times cp=" << decisions.cp
             << " does not divide; use cp-kind=ring or smaller degrees";
    SmallVector<StringRef> axes;
    if (decisions.tp > 1)
      axes.push_back(kTensor);
    axes.push_back(kContext);
    settings[op].splits[strategy::ItemKind::Op] = {part("head", axes),
                                                   part("seq", {})};
  }
  if (!found)
    return model.getFunction().emitOpError(
        "has no nn.attention to which cp-kind applies; use cp-kind=all-gather");
  return success();
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

std::pair<SmallVector<StringRef>, int64_t> SplitPlan::placesOfExperts() const {
  SmallVector<StringRef> axes;
  int64_t count = 1;
  // tp is the major axis. The devices of tp hold the same tokens, so each of
  // them first selects the tokens of its experts, which are then exchanged over
  // ep.
  if (decisions.hasWholeExperts()) {
    axes.push_back(kTensor);
    count *= decisions.tp;
  }
  if (decisions.expertRanks() > 1) {
    axes.push_back(kExpert);
    count *= decisions.expertRanks();
  }
  return {axes, count};
}

/// Distributes experts over ep, and also over tp if experts are whole
/// (`etp=1`). In operations outside of the experts, ep splits the batch
/// (`getEverywhere`).
LogicalResult SplitPlan::placeExperts() {
  auto [places, count] = placesOfExperts();
  if (places.empty())
    return success();
  DenseSet<Value> ofExperts;
  bool found = false;
  for (Operation *op : model.getOperations()) {
    if (auto route = dyn_cast<nn::MoeRouteOp>(op)) {
      int64_t replicas = decisions.dp * decisions.accumulation;
      if (static_cast<int64_t>(route.getGroups()) % replicas != 0)
        return route.emitOpError("has ")
               << route.getGroups()
               << " groups, which can't be cut into equal parts by dp="
               << decisions.dp
               << " times micro-batches=" << decisions.accumulation
               << "; change groups or the degrees";
      continue;
    }
    if (decisions.hasWholeExperts() &&
        isa<nn::MoeDispatchOp, nn::MoeCombineOp>(op))
      addPart(op, part("expert", {kTensor}));
    auto linear = dyn_cast<nn::ExpertLinearOp>(op);
    bool follows = (isElementWise(op) || isa<nn::AddOp, nn::MulOp>(op)) &&
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     return ofExperts.contains(operand);
                   });
    if (!linear && !follows)
      continue;
    ofExperts.insert_range(op->getResults());
    SmallVector<StringRef> batchAxes;
    if (decisions.dataReplicas() > 1)
      batchAxes.push_back(kData);
    addPart(op, part("batch", batchAxes));
    if (!linear)
      continue;
    found = true;
    int64_t experts =
        cast<RankedTensorType>(linear.getWeight().getType()).getDimSize(0);
    if (experts < count) {
      InFlightDiagnostic diagnostic = linear.emitOpError("has ");
      diagnostic << experts << " experts, fewer than ";
      return diagnostic << "ep=" << decisions.ep << "; use ep=" << experts
                        << " or less";
    }
    addPart(op, part("expert", places));
  }
  if (!found)
    return model.getFunction().emitOpError("has no experts to split into ")
           << "ep=" << count << " parts: there is no nn.expert_linear; use ep=1"
           << (decisions.hasWholeExperts() ? " and leave etp out" : "");
  return success();
}

/// Splits the slots of experts, which receive the tokens, over cp. Slots are
/// assigned to tokens of whole sequences, so without this split all devices of
/// cp would compute the same slots.
void SplitPlan::splitSlots() {
  if (decisions.cp == 1)
    return;
  for (Operation *op : model.getOperations())
    if (isa<nn::MoeDispatchOp, nn::ExpertLinearOp, nn::MoeCombineOp>(op)) {
      addPart(op, part("slot", {kContext}));
      // The slots of one device can belong to tokens of all devices of cp, so
      // this operation cannot split the sequence as well.
      if (isa<nn::MoeCombineOp>(op))
        addPart(op, part("seq", {}));
    }
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

/// Returns the path of the module that contains an attention written out as
/// three operations: the product of queries and keys, `softmax`, and the
/// product with values. Returns an empty string if there is no such module, or
/// if the module contains a linear.
static StringRef coreAttentionOf(nn::SoftmaxOp softmax,
                                 const ModelShape &model) {
  auto moduleOf = [&](Operation *op) -> StringRef {
    const ModelShape::Position *position =
        isa_and_nonnull<nn::MatmulOp, nn::SoftmaxOp>(op) ? model.getPosition(op)
                                                         : nullptr;
    if (!position || position->layers.empty())
      return "";
    auto [module, name] = StringRef(position->path).rsplit('.');
    return name.empty() ? "" : module;
  };
  StringRef module = moduleOf(softmax);
  if (module.empty() || moduleOf(softmax.getInput().getDefiningOp()) != module)
    return "";
  bool readsValues = false;
  for (Operation *reader : softmax.getResult().getUsers())
    for (Operation *last : isa<nn::DropoutOp>(reader)
                               ? SmallVector<Operation *>(reader->getUsers())
                               : SmallVector<Operation *>{reader})
      readsValues |= moduleOf(last) == module;
  std::string prefix = (module + ".").str();
  for (Operation *op : model.getOperations())
    if (const ModelShape::Position *position = model.getPosition(op);
        position && StringRef(position->path).starts_with(prefix) &&
        isa<nn::LinearOp>(op))
      return "";
  return readsValues ? module : "";
}

LogicalResult SplitPlan::recomputeAttention() {
  if (decisions.recompute != plan::Recompute::Selective)
    return success();
  bool found = false;
  for (Operation *op : model.getOperations()) {
    if (isa<nn::AttentionOp>(op)) {
      settings[op].recompute = true;
      found = true;
    } else if (auto softmax = dyn_cast<nn::SoftmaxOp>(op)) {
      if (StringRef module = coreAttentionOf(softmax, model); !module.empty()) {
        recomputedModules.insert(module);
        found = true;
      }
    }
  }
  if (!found)
    return model.getFunction().emitOpError(
        "has nothing to recompute: neither nn.attention nor a module "
        "(attention.core) with the products and the softmax of attention; use "
        "recompute=none or recompute=full");
  return success();
}

/// Assigns embedding tables to data-parallel devices, the largest table first.
/// Each table goes to the device that looks up the fewest elements. If several
/// devices look up the same number of elements, the table goes to the one that
/// stores the fewest elements. Lookups count first, because all devices wait
/// for the device that sends the most vectors.
LogicalResult SplitPlan::placeTables() {
  if (!decisions.placeTables || decisions.dataReplicas() == 1)
    return success();
  llvm::MapVector<StringRef, SmallVector<nn::EmbeddingBagOp>> tables;
  for (Operation *op : model.getOperations())
    if (auto bag = dyn_cast<nn::EmbeddingBagOp>(op))
      tables[bag.getPath()].push_back(bag);
  if (tables.empty())
    return emitError(model.getFunction().getLoc(),
                     "place-tables=true places lookups in tables "
                     "(nn.embedding_bag), and the model has none");
  SmallVector<std::pair<int64_t, StringRef>> bySize;
  for (auto &[path, bags] : tables)
    bySize.emplace_back(
        cast<RankedTensorType>(bags.front().getTable().getType())
            .getNumElements(),
        path);
  llvm::sort(bySize, [](const auto &a, const auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  // For each device, the number of elements that it looks up, and the number
  // that it stores.
  std::vector<std::pair<int64_t, int64_t>> loads(decisions.dataReplicas());
  for (auto [size, path] : bySize) {
    auto least = std::min_element(loads.begin(), loads.end());
    least->second += size;
    for (nn::EmbeddingBagOp bag : tables[path]) {
      least->first += cast<RankedTensorType>(bag.getType()).getNumElements();
      settings[bag].device = least - loads.begin();
    }
  }
  return success();
}

LogicalResult SplitPlan::decide() {
  if (failed(splitTensors()) || failed(checkSequence()))
    return failure();
  splitSequence();
  splitSlots();
  if (failed(splitContext()) || failed(placeExperts()) ||
      failed(recomputeAttention()) || failed(placeTables()))
    return failure();
  splitStorage();
  return success();
}
