//===- ChunkProducts.cpp - products in chunks that overlap ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts matrix products and their collectives into chunks, so that the
// collective of one chunk overlaps with the product of another. The cuts are
// along the rows: the dimension that one operand and the result have in common,
// and that no other operand has.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/SumTerms.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Programs/Passes.h"

namespace proteus {
#define GEN_PASS_DEF_CHUNKPRODUCTS
#include "Proteus/Transforms/Programs/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

/// Returns the dimension of a tensor that `iterator` indexes. Returns nullopt
/// if `iterator` indexes no dimension or several, or if another iterator
/// indexes the same dimension.
static std::optional<unsigned> dimOf(const nn::TensorIterators &dims,
                                     unsigned iterator) {
  std::optional<unsigned> found;
  for (auto [dim, iterators] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(iterators, iterator))
      continue;
    if (found || iterators.size() != 1)
      return std::nullopt;
    found = dim;
  }
  return found;
}

namespace {

/// A product, and the dimensions of its rows in one operand and in the result.
struct Cut {
  Operation *product;
  unsigned operand;
  unsigned operandDim;
  unsigned resultDim;
};

/// Cuts the products of one program into chunks.
class Chunker {
public:
  /// Creates a chunker. `requested` is the number of chunks of a collective, or
  /// 0 if the collective determines it.
  Chunker(int64_t requested) : requested(requested) {}

  void cutAfter(dist::AllGatherOp gather);
  template <typename ReduceOp> void cutBefore(ReduceOp reduce);

  /// Number of collectives that are left whole because their rows cannot be cut
  /// into equal chunks.
  int64_t numUneven = 0;

private:
  void setCount(dist::CollectiveOpInterface collective);
  bool divides(RankedTensorType type, unsigned dim, int64_t groups);
  RankedTensorType chunkType(RankedTensorType type, unsigned dim) const {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= count;
    return type.clone(shape);
  }
  Value chunk(OpBuilder &builder, Value whole, unsigned dim, int64_t index,
              int64_t groups) const {
    return dist::ChunkOp::create(builder, whole.getLoc(),
                                 chunkType(dist::tensorTypeOf(whole), dim),
                                 whole, dim, index, count, groups);
  }
  Operation *cloneFor(OpBuilder &builder, Operation *op, unsigned operand,
                      Value chunk, unsigned resultDim) const {
    Operation *copy = builder.clone(*op);
    copy->setOperand(operand, chunk);
    Value result = copy->getResult(0);
    result.setType(chunkType(dist::tensorTypeOf(result), resultDim));
    return copy;
  }
  Value cloneCollective(OpBuilder &builder, Operation *op, Value chunk,
                        unsigned dim, int64_t index) const {
    Operation *copy = cloneFor(builder, op, 0, chunk, dim);
    if (copy->hasAttr(ProteusDialect::exchangeAttrName))
      copy->setDiscardableAttr(ProteusDialect::exchangeAttrName,
                               builder.getDenseI64ArrayAttr({index, count}));
    return copy->getResult(0);
  }
  Value cloneProduct(OpBuilder &builder, const Cut &cut, Value rows) const {
    Operation *copy =
        cloneFor(builder, cut.product, cut.operand, rows, cut.resultDim);
    copy->setDiscardableAttr(ProteusDialect::piecesAttrName,
                             builder.getI64IntegerAttr(count));
    return copy->getResult(0);
  }
  Value join(OpBuilder &builder, Value whole, ArrayRef<Value> chunks,
             unsigned dim, int64_t groups) const {
    return dist::JoinOp::create(builder, whole.getLoc(), whole.getType(),
                                chunks, dim, groups);
  }

  int64_t requested;
  int64_t count = 0; ///< number of chunks of the current collective
};

} // namespace

/// Returns the cut of `op` along dimension `dim` of operand `operand`. Returns
/// nullopt if `op` is not a product, or if dimension `dim` is not the rows.
static std::optional<Cut> cutOf(Operation *op, unsigned operand, unsigned dim) {
  auto kernel = dyn_cast<IterationSpaceOpInterface>(op);
  if (!kernel || kernel.getKernelClass() != nn::KernelClass::Matrix ||
      op->getNumResults() != 1)
    return std::nullopt;
  nn::IterationSpace space = kernel.getIterationSpace();
  if (space.operands[operand][dim].size() != 1)
    return std::nullopt;
  unsigned iterator = space.operands[operand][dim].front();
  for (auto [other, dims] : llvm::enumerate(space.operands))
    for (const nn::DimIterators &iterators : dims)
      if (other != operand && llvm::is_contained(iterators, iterator))
        return std::nullopt;
  std::optional<unsigned> operandDim = dimOf(space.operands[operand], iterator);
  std::optional<unsigned> resultDim = dimOf(space.results[0], iterator);
  if (!operandDim || !resultDim)
    return std::nullopt;
  return Cut{op, operand, *operandDim, *resultDim};
}

/// Returns the cut of `op` along dimension `dim` of its result. Returns nullopt
/// if `op` is not a product, or if dimension `dim` is not the rows.
static std::optional<Cut> cutOfResult(Operation *op, unsigned dim) {
  auto kernel = dyn_cast_if_present<IterationSpaceOpInterface>(op);
  if (!kernel)
    return std::nullopt;
  nn::IterationSpace space = kernel.getIterationSpace();
  if (space.results[0][dim].size() != 1)
    return std::nullopt;
  unsigned iterator = space.results[0][dim].front();
  // `cutOf` checks that `iterator` indexes no other operand.
  for (auto [operand, dims] : llvm::enumerate(space.operands))
    if (std::optional<unsigned> operandDim = dimOf(dims, iterator))
      return cutOf(op, operand, *operandDim);
  return std::nullopt;
}

/// Returns the number of contiguous runs in which the devices hold dimension
/// `dim`: one for each part, or two for each part of a zigzag.
static int64_t runsOf(RankedTensorType type, unsigned dim) {
  dist::LayoutAttr layout = dist::getLayout(type);
  return dist::numParts(layout.getMesh().getValue(), layout.getValue(), dim) *
         (layout.getValue().dims[dim].zigzag ? 2 : 1);
}

/// Sets `count`, the number of chunks of a collective, to the requested number
/// if there is one. Otherwise a collective with user buffers has one chunk per
/// member of its group. Any other collective, such as an all-reduce, runs in
/// the communication library. It has four chunks, enough to hide most of its
/// time.
void Chunker::setCount(dist::CollectiveOpInterface collective) {
  constexpr int64_t chunksOfSums = 4;
  count = requested;
  if (count == 0 && !collective->hasAttr(ProteusDialect::exchangeAttrName))
    count = chunksOfSums;
  if (count == 0)
    count = collective.getGroupSize();
}

/// Returns true if dimension `dim` can be cut: its parts are not shifted around
/// a ring, `groups` is a multiple of its number of contiguous runs, and each of
/// `groups` equal parts can be divided into `count` equal chunks. Otherwise
/// returns false and counts the collective in `numUneven`.
bool Chunker::divides(RankedTensorType type, unsigned dim, int64_t groups) {
  const dist::AxisList &axes = dist::getLayout(type).getValue().dims[dim];
  bool fits = axes.shift == 0 && groups % runsOf(type, dim) == 0 &&
              type.getDimSize(dim) % (groups * count) == 0;
  numUneven += !fits;
  return fits;
}

/// Cuts a gather and the products that read its result. The first product can
/// then start as soon as the first chunk is gathered.
void Chunker::cutAfter(dist::AllGatherOp gather) {
  unsigned dim = *gather.getDim();
  SmallVector<Cut> cuts;
  // A product that reads the gathered value by two operands waits for all
  // chunks, so it is not cut.
  auto readsOnce = [&](Operation *user) {
    return llvm::count(user->getOperands(), gather.getResult()) == 1;
  };
  for (OpOperand &use : gather.getResult().getUses())
    if (use.getOwner()->getBlock() == gather->getBlock() &&
        readsOnce(use.getOwner()))
      if (std::optional<Cut> cut =
              cutOf(use.getOwner(), use.getOperandNumber(), dim))
        cuts.push_back(*cut);
  RankedTensorType type = gather.getInput().getType();
  int64_t groups = runsOf(type, dim);
  setCount(gather);
  if (cuts.empty() || !divides(type, dim, groups))
    return;
  llvm::sort(cuts, [](const Cut &a, const Cut &b) {
    return a.product->isBeforeInBlock(b.product);
  });
  OpBuilder builder(gather);
  SmallVector<Value> gathered;
  for (int64_t i = 0; i < count; ++i)
    gathered.push_back(cloneCollective(
        builder, gather, chunk(builder, gather.getInput(), dim, i, groups), dim,
        i));
  for (const Cut &cut : cuts) {
    builder.setInsertionPoint(cut.product);
    SmallVector<Value> chunks;
    for (Value rows : gathered)
      chunks.push_back(cloneProduct(builder, cut, rows));
    Value result = cut.product->getResult(0);
    result.replaceAllUsesWith(
        join(builder, result, chunks, cut.resultDim, groups));
    cut.product->erase();
  }
  builder.setInsertionPoint(gather);
  Value whole = gather.getResult();
  if (!whole.use_empty()) {
    builder.setInsertionPointAfter(gathered.back().getDefiningOp());
    whole.replaceAllUsesWith(join(builder, whole, gathered, dim, groups));
  }
  gather.erase();
}

/// Returns the dimension of the rows along which a reduction, and the product
/// that computes its operand, are cut.
static unsigned rowsOf(dist::ReduceScatterOp reduce) {
  return *reduce.getDim();
}

static unsigned rowsOf(dist::AllReduceOp reduce) {
  // Choose the largest dimension except the last one, because the last
  // dimension comes from the weights.
  SmallVector<int64_t> shape =
      dist::largestLocalShape(reduce.getInput().getType());
  unsigned rows = 0;
  for (unsigned dim = 1; dim + 1 < shape.size(); ++dim)
    if (shape[dim] > shape[rows])
      rows = dim;
  return rows;
}

/// Returns true if the product computes the gradient of an input, and another
/// product computes the gradient of a weight from the same operand. The other
/// product then overlaps with the collective that reduces the gradient of the
/// input, so no chunks are needed.
static bool hasWeightGradient(const Cut &cut) {
  auto kernel = cast<IterationSpaceOpInterface>(cut.product);
  if (kernel.getKernelPass() != nn::KernelPass::DataGradient)
    return false;
  return llvm::any_of(
      cut.product->getOperand(cut.operand).getUsers(), [](Operation *user) {
        auto other = dyn_cast<IterationSpaceOpInterface>(user);
        return other && other.getKernelClass() == nn::KernelClass::Matrix &&
               other.getKernelPass() == nn::KernelPass::WeightGradient;
      });
}

/// Cuts a reduction and the product that computes its operand. The reduction of
/// a chunk can then start as soon as the chunk is computed.
template <typename ReduceOp> void Chunker::cutBefore(ReduceOp reduce) {
  Value input = reduce.getInput();
  Operation *product = input.getDefiningOp();
  if (dist::tensorTypeOf(input).getRank() < 2 || !input.hasOneUse() ||
      !product || product->getBlock() != reduce->getBlock())
    return;
  unsigned dim = rowsOf(reduce);
  std::optional<Cut> cut = cutOfResult(product, dim);
  if (!cut || hasWeightGradient(*cut))
    return;
  // Cut the part of the result that a device receives, so that cutting moves no
  // element to another device.
  int64_t groups = runsOf(dist::tensorTypeOf(reduce.getResult()), dim);
  setCount(reduce);
  if (!divides(dist::tensorTypeOf(reduce.getResult()), dim, groups) ||
      !divides(dist::tensorTypeOf(product->getOperand(cut->operand)),
               cut->operandDim, groups))
    return;
  OpBuilder builder(product);
  SmallVector<Value> chunks;
  for (int64_t i = 0; i < count; ++i) {
    Value rows = chunk(builder, product->getOperand(cut->operand),
                       cut->operandDim, i, groups);
    chunks.push_back(cloneCollective(
        builder, reduce, cloneProduct(builder, *cut, rows), dim, i));
  }
  builder.setInsertionPoint(reduce);
  Value whole = reduce.getResult();
  whole.replaceAllUsesWith(join(builder, whole, chunks, dim, groups));
  reduce->erase();
  product->erase();
}

/// Returns true if `op` is a matrix product other than attention, or a sum of
/// such products.
static bool isProduct(Operation *op) {
  return allTerms(op, [](IterationSpaceOpInterface kernel) {
    return kernel.getKernelClass() == nn::KernelClass::Matrix &&
           kernel.getKernelFamily() != nn::KernelFamily::Attention;
  });
}

/// Returns true if a collective has user buffers, by which devices exchange
/// data without the communication library. These collectives are the gathers
/// and reduce-scatters of matrix products other than attention. Collectives of
/// attention and embeddings, and all-reduces, run in the communication library.
static bool hasUserBuffers(Operation *op) {
  if (auto gather = dyn_cast<dist::AllGatherOp>(op))
    return llvm::any_of(gather.getResult().getUsers(), isProduct);
  auto scatter = dyn_cast<dist::ReduceScatterOp>(op);
  return scatter && isProduct(scatter.getInput().getDefiningOp());
}

/// Returns true if a collective collects or cuts parts of a flat cut. No
/// product can be cut into chunks along these.
static bool isFlat(Operation *op) {
  if (auto gather = dyn_cast<dist::AllGatherOp>(op))
    return !gather.getDim();
  auto scatter = dyn_cast<dist::ReduceScatterOp>(op);
  return scatter && !scatter.getDim();
}

namespace {
class ChunkProducts : public proteus::impl::ChunkProductsBase<ChunkProducts> {
public:
  using ChunkProductsBase::ChunkProductsBase;

  void runOnOperation() override;
};
} // namespace

void ChunkProducts::runOnOperation() {
  dist::ProgramOp program = getOperation();
  dist::StepAttr step = program.getStepOrDefault();
  bool isRequested =
      step.getOverlap().getTensor() == plan::TensorOverlap::Chunked;
  if (chunks < 0 || chunks == 1) {
    program.emitOpError("chunks must be at least 2, got ") << chunks.getValue();
    return signalPassFailure();
  }
  if (chunks == 0 && !isRequested)
    return;
  WalkResult buckets =
      program.walk([](dist::FusedReduceOp) { return WalkResult::interrupt(); });
  if (buckets.wasInterrupted()) {
    program.emitOpError("has buckets, which count its kernels; run "
                        "chunk-products before fuse-gradients");
    return signalPassFailure();
  }
  int64_t count =
      chunks > 0 ? int64_t(chunks) : step.getOverlap().getChunks().value_or(0);
  // This pass replaces the setting `chunked` by chunks in the program. The
  // setting that remains is `async`: independent kernels overlap with
  // collectives.
  if (isRequested)
    program.setStepSettings(step.withOverlap(dist::OverlapAttr::get(
        &getContext(), plan::TensorOverlap::Async, std::nullopt,
        step.getOverlap().getMessages(), step.getOverlap().getReductions())));
  SmallVector<Operation *> collectives;
  program.walk([&](Operation *op) {
    if (!isa<dist::AllGatherOp, dist::ReduceScatterOp, dist::AllReduceOp>(op) ||
        isFlat(op))
      return;
    auto purpose = cast<dist::CollectiveOpInterface>(op).getPurpose();
    bool isForKernels = purpose.value_or(dist::Purpose::Activation) ==
                        dist::Purpose::Activation;
    auto section = op->getParentOfType<dist::SectionOp>();
    if (isForKernels && section && !section.getOnce()) {
      collectives.push_back(op);
      if (hasUserBuffers(op))
        op->setDiscardableAttr(ProteusDialect::exchangeAttrName,
                               DenseI64ArrayAttr::get(&getContext(), {0, 1}));
    }
  });
  Chunker chunker(count);
  for (Operation *op : collectives) {
    if (auto gather = dyn_cast<dist::AllGatherOp>(op))
      chunker.cutAfter(gather);
    else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
      chunker.cutBefore(scatter);
    else
      chunker.cutBefore(cast<dist::AllReduceOp>(op));
  }
  if (chunker.numUneven > 0)
    program.emitRemark() << chunker.numUneven
                         << " of its collectives run in one piece: chunks do "
                            "not divide their rows on a device; choose another "
                            "number of chunks";
}
