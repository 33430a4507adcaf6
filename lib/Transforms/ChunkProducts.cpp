//===- ChunkProducts.cpp - products beside their communication --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/Passes.h"

namespace proteus {
#define GEN_PASS_DEF_CHUNKPRODUCTS
#include "Proteus/Transforms/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using nn::IterationSpaceOpInterface;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The dimension in which `dims` has the iterator alone, if it has it once.
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

/// A way to cut a product: rows of one operand are rows of the result, and
/// nothing else depends on them.
struct Cut {
  Operation *product;
  unsigned operand;
  unsigned operandDim;
  unsigned resultDim;
};

/// Cuts the products of one program into chunks.
class Chunker {
public:
  Chunker(int64_t count) : count(count) {}

  void cutBehind(dist::AllGatherOp gather);
  template <typename ReduceOp> void cutInFront(ReduceOp reduce);

  int64_t numCut = 0, numUneven = 0;

private:
  bool divides(RankedTensorType type, unsigned dim, int64_t groups);
  RankedTensorType chunkType(RankedTensorType type, unsigned dim) const {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= count;
    return type.clone(shape);
  }
  Value chunk(OpBuilder &builder, Value whole, unsigned dim, int64_t index,
              int64_t groups) const {
    return dist::ChunkOp::create(builder, whole.getLoc(),
                                 chunkType(tensorType(whole), dim), whole, dim,
                                 index, count, groups);
  }
  Operation *cloneFor(OpBuilder &builder, Operation *op, unsigned operand,
                      Value chunk, unsigned resultDim) const {
    Operation *copy = builder.clone(*op);
    copy->setOperand(operand, chunk);
    Value result = copy->getResult(0);
    result.setType(chunkType(tensorType(result), resultDim));
    return copy;
  }
  Value join(OpBuilder &builder, Value whole, ArrayRef<Value> chunks,
             unsigned dim, int64_t groups) const {
    return dist::JoinOp::create(builder, whole.getLoc(), whole.getType(),
                                chunks, dim, groups);
  }

  int64_t count;
};

} // namespace

/// How rows of dimension `dim` of an operand become rows of the result of `op`,
/// if it is a product in which they do.
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

/// The cut of a product into rows of dimension `dim` of its result.
static std::optional<Cut> cutOfResult(Operation *op, unsigned dim) {
  auto kernel = dyn_cast_if_present<IterationSpaceOpInterface>(op);
  if (!kernel)
    return std::nullopt;
  nn::IterationSpace space = kernel.getIterationSpace();
  if (space.results[0][dim].size() != 1)
    return std::nullopt;
  unsigned iterator = space.results[0][dim].front();
  // One operand has the rows; that no other one does, `cutOf` checks.
  for (auto [operand, dims] : llvm::enumerate(space.operands))
    if (std::optional<unsigned> operandDim = dimOf(dims, iterator))
      return cutOf(op, operand, *operandDim);
  return std::nullopt;
}

static int64_t partsOf(RankedTensorType type, unsigned dim) {
  dist::LayoutAttr layout = dist::getLayout(type);
  return dist::numParts(layout.getMesh().getValue(), layout.getValue(), dim);
}

/// Whether a dimension can be cut: its parts are runs of their own, and chunks
/// divide them.
bool Chunker::divides(RankedTensorType type, unsigned dim, int64_t groups) {
  const dist::AxisList &axes = dist::getLayout(type).getValue().dims[dim];
  bool fits = !axes.zigzag && axes.shift == 0 &&
              type.getDimSize(dim) % (groups * count) == 0;
  numUneven += !fits;
  return fits;
}

/// Products that read what is gathered start when the first chunk is there.
void Chunker::cutBehind(dist::AllGatherOp gather) {
  unsigned dim = gather.getDim();
  SmallVector<Cut> cuts;
  for (OpOperand &use : gather.getResult().getUses())
    if (use.getOwner()->getBlock() == gather->getBlock())
      if (std::optional<Cut> cut =
              cutOf(use.getOwner(), use.getOperandNumber(), dim))
        cuts.push_back(*cut);
  RankedTensorType type = gather.getInput().getType();
  int64_t groups = partsOf(type, dim);
  if (cuts.empty() || !divides(type, dim, groups))
    return;
  llvm::sort(cuts, [](const Cut &a, const Cut &b) {
    return a.product->isBeforeInBlock(b.product);
  });
  OpBuilder builder(gather);
  SmallVector<Value> gathered;
  for (int64_t i = 0; i < count; ++i)
    gathered.push_back(
        cloneFor(builder, gather, 0,
                 chunk(builder, gather.getInput(), dim, i, groups), dim)
            ->getResult(0));
  for (const Cut &cut : cuts) {
    builder.setInsertionPoint(cut.product);
    SmallVector<Value> chunks;
    for (Value rows : gathered)
      chunks.push_back(
          cloneFor(builder, cut.product, cut.operand, rows, cut.resultDim)
              ->getResult(0));
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
  ++numCut;
}

/// The dimension along which a product is cut in front of its reduction.
static unsigned rowsOf(dist::ReduceScatterOp reduce) { return reduce.getDim(); }

static unsigned rowsOf(dist::AllReduceOp reduce) {
  // The largest one, but for the last, along which weights lie.
  SmallVector<int64_t> shape =
      dist::largestLocalShape(reduce.getInput().getType());
  unsigned rows = 0;
  for (unsigned dim = 1; dim + 1 < shape.size(); ++dim)
    if (shape[dim] > shape[rows])
      rows = dim;
  return rows;
}

/// The sum over devices of a chunk starts when it is computed.
template <typename ReduceOp> void Chunker::cutInFront(ReduceOp reduce) {
  Value input = reduce.getInput();
  Operation *product = input.getDefiningOp();
  if (tensorType(input).getRank() < 2 || !input.hasOneUse() || !product ||
      product->getBlock() != reduce->getBlock())
    return;
  unsigned dim = rowsOf(reduce);
  std::optional<Cut> cut = cutOfResult(product, dim);
  if (!cut)
    return;
  // Every device gets chunks of its own part.
  int64_t groups = partsOf(tensorType(reduce.getResult()), dim);
  if (!divides(tensorType(reduce.getResult()), dim, groups) ||
      !divides(tensorType(product->getOperand(cut->operand)), cut->operandDim,
               groups))
    return;
  OpBuilder builder(product);
  SmallVector<Value> chunks;
  for (int64_t i = 0; i < count; ++i) {
    Value rows = chunk(builder, product->getOperand(cut->operand),
                       cut->operandDim, i, groups);
    Operation *part =
        cloneFor(builder, product, cut->operand, rows, cut->resultDim);
    chunks.push_back(
        cloneFor(builder, reduce, 0, part->getResult(0), dim)->getResult(0));
  }
  builder.setInsertionPoint(reduce);
  Value whole = reduce.getResult();
  whole.replaceAllUsesWith(join(builder, whole, chunks, dim, groups));
  reduce->erase();
  product->erase();
  ++numCut;
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
  auto given = program->getAttrOfType<IntegerAttr>(kChunksAttr);
  program->removeDiscardableAttr(kChunksAttr);
  if (chunks < 0 || chunks == 1) {
    program.emitOpError("chunks must be at least 2, got ") << chunks.getValue();
    return signalPassFailure();
  }
  int64_t count = chunks > 0 ? int64_t(chunks) : given ? given.getInt() : 0;
  if (count == 0)
    return;
  SmallVector<Operation *> collectives;
  program.walk([&](Operation *op) {
    auto purpose = op->getAttrOfType<dist::PurposeAttr>("purpose");
    bool isForKernels =
        !purpose || purpose.getValue() == dist::Purpose::Activation;
    auto section = op->getParentOfType<dist::SectionOp>();
    if (isForKernels && section && !section.getOnce() &&
        isa<dist::AllGatherOp, dist::ReduceScatterOp, dist::AllReduceOp>(op))
      collectives.push_back(op);
  });
  Chunker chunker(count);
  for (Operation *op : collectives) {
    if (auto gather = dyn_cast<dist::AllGatherOp>(op))
      chunker.cutBehind(gather);
    else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
      chunker.cutInFront(scatter);
    else
      chunker.cutInFront(cast<dist::AllReduceOp>(op));
  }
  if (chunker.numUneven > 0)
    program.emitRemark() << chunker.numUneven
                         << " of its collectives run in one piece: their rows "
                            "are not a multiple of "
                         << count
                         << " per device, or lie in a zigzag; choose another "
                            "number of chunks";
}
