//===- NNIterationSpaces.cpp - iteration spaces of nn operations ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"
#include "Proteus/Dialect/NN/VisitedShare.h"

using namespace mlir;
using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Linear and its gradients
//===----------------------------------------------------------------------===//

namespace {
/// The iteration space that nn.linear and its gradients share.
struct LinearSpace {
  IterationSpace space;
  SmallVector<unsigned> leading;
  unsigned out, in;

  LinearSpace(Value data, int64_t outSize, int64_t inSize,
              IteratorKind leadingKind, IteratorKind outKind,
              IteratorKind inKind) {
    leading = addLeading(space, data, rankOf(data) - 1, leadingKind);
    out = space.add("out", outSize, outKind);
    in = space.add("in", inSize, inKind);
  }
  TensorIterators input() const { return indexedBy(appended(leading, in)); }
  TensorIterators output() const { return indexedBy(appended(leading, out)); }
  TensorIterators weight() const { return indexedBy({out, in}); }
};
} // namespace

IterationSpace LinearOp::getIterationSpace() {
  LinearSpace linear(getInput(), sizeOf(getWeight(), 0),
                     sizeOf(getInput(), rankOf(getInput()) - 1),
                     IteratorKind::Parallel, IteratorKind::Parallel,
                     IteratorKind::Sum);
  linear.space.operands = {linear.input(), linear.weight()};
  if (getBias())
    linear.space.operands.push_back(indexedBy({linear.out}));
  linear.space.results = {linear.output()};
  return linear.space;
}
double LinearOp::getFlopsPerPoint() { return 2; }
KernelClass LinearOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace LinearDgradOp::getIterationSpace() {
  LinearSpace linear(getGradient(), sizeOf(getWeight(), 0),
                     sizeOf(getWeight(), 1), IteratorKind::Parallel,
                     IteratorKind::Sum, IteratorKind::Parallel);
  linear.space.operands = {linear.output(), linear.weight()};
  linear.space.results = {linear.input()};
  return linear.space;
}
double LinearDgradOp::getFlopsPerPoint() { return 2; }
KernelClass LinearDgradOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace LinearWgradOp::getIterationSpace() {
  LinearSpace linear(
      getGradient(), sizeOf(getGradient(), rankOf(getGradient()) - 1),
      sizeOf(getInput(), rankOf(getInput()) - 1), IteratorKind::Sum,
      IteratorKind::Parallel, IteratorKind::Parallel);
  linear.space.operands = {linear.output(), linear.input()};
  linear.space.results = {linear.weight()};
  return linear.space;
}
double LinearWgradOp::getFlopsPerPoint() { return 2; }
KernelClass LinearWgradOp::getKernelClass() { return KernelClass::Matrix; }

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

IterationSpace MatmulOp::getIterationSpace() {
  IterationSpace space;
  int64_t rank = rankOf(getLhs());
  SmallVector<unsigned> leading =
      addLeading(space, getLhs(), rank - 2, IteratorKind::Parallel);
  bool ta = getTransposeA(), tb = getTransposeB();
  unsigned m = space.add("m", sizeOf(getLhs(), ta ? rank - 1 : rank - 2));
  unsigned n = space.add("n", sizeOf(getRhs(), tb ? rank - 2 : rank - 1));
  unsigned k = space.add("k", sizeOf(getLhs(), ta ? rank - 2 : rank - 1),
                         IteratorKind::Sum);
  auto pair = [&](unsigned first, unsigned second, bool swap) {
    return indexedBy(appended(appended(leading, swap ? second : first),
                              swap ? first : second));
  };
  space.operands = {pair(m, k, ta), pair(k, n, tb)};
  space.results = {pair(m, n, false)};
  return space;
}
double MatmulOp::getFlopsPerPoint() { return 2; }
KernelClass MatmulOp::getKernelClass() { return KernelClass::Matrix; }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// The iteration space that nn.attention, nn.attention_grad and the operations
/// of their ring steps share.
struct AttentionSpace {
  IterationSpace space;
  unsigned batch, head, group, seq, key, dim, valueDim;

  AttentionSpace(Value query, Value keys, Value values, int64_t heads,
                 int64_t keyHeads, bool gradient) {
    batch = space.add("batch", sizeOf(query, 0));
    head = space.add("head", keyHeads);
    group = space.add("group", keyHeads > 0 ? heads / keyHeads : 1,
                      gradient ? IteratorKind::Sum : IteratorKind::Parallel);
    seq = space.add("seq", sizeOf(query, 1),
                    gradient ? IteratorKind::Sum : IteratorKind::Parallel);
    key = space.add("key", sizeOf(keys, 1),
                    gradient ? IteratorKind::Sum : IteratorKind::LogSumExp);
    int64_t size = heads > 0 ? sizeOf(query, 2) / heads : 1;
    int64_t valueSize = keyHeads > 0 ? sizeOf(values, 2) / keyHeads : 1;
    dim = space.add("dim", size, IteratorKind::Opaque);
    valueDim = size == valueSize
                   ? dim
                   : space.add("value_dim", valueSize, IteratorKind::Opaque);
  }
  TensorIterators queries() const {
    return {{batch}, {seq}, {head, group, dim}};
  }
  TensorIterators keyed() const { return {{batch}, {key}, {head, dim}}; }
  TensorIterators values() const { return {{batch}, {key}, {head, valueDim}}; }
  TensorIterators outputs() const {
    return {{batch}, {seq}, {head, group, valueDim}};
  }
  TensorIterators rows() const { return {{batch}, {head, group}, {seq}}; }
};

/// Returns the number of pairs (query, key) in which the query is in [0, end),
/// the key is in the range `keys`, and the key does not follow the query.
double pairsBefore(double end, std::pair<int64_t, int64_t> keys) {
  double seen = end - static_cast<double>(keys.first);
  double most = static_cast<double>(keys.second - keys.first);
  if (seen <= 0)
    return 0;
  return seen < most ? seen * seen / 2 : most * (seen - most / 2);
}
} // namespace

/// Returns the share of all pairs of a query in `queries` and a key in `keys`
/// that causal attention visits. These are the pairs in which the key does not
/// follow the query. Positions are treated as continuous, so that the share of
/// a whole sequence is exactly one half.
static double causalShare(const IteratorRanges &queries,
                          const IteratorRanges &keys) {
  double visited = 0, all = 0;
  for (auto query : queries)
    for (auto key : keys) {
      visited += pairsBefore(query.second, key) - pairsBefore(query.first, key);
      all += static_cast<double>(query.second - query.first) *
             static_cast<double>(key.second - key.first);
    }
  return visited / all;
}

bool proteus::nn::decidesVisitedShare(const IterationSpace &space,
                                      unsigned iterator) {
  return iterator == space.find("seq") || iterator == space.find("key");
}

template <typename OpTy>
static double visitedShareOf(OpTy op, ArrayRef<IteratorRanges> held) {
  IterationSpace space = op.getIterationSpace();
  return op.getCausal()
             ? causalShare(held[*space.find("seq")], held[*space.find("key")])
             : 1.0;
}

/// Returns the share of the points that `op` visits on a device that holds all
/// queries and keys.
template <typename OpTy> static double visitedShare(OpTy op) {
  return op.getCausal() ? causalShare({{0, sizeOf(op.getQuery(), 1)}},
                                      {{0, sizeOf(op.getKey(), 1)}})
                        : 1.0;
}

/// Returns the FLOPs per point of `products` matrix products over `dim` and
/// `valueProducts` matrix products over `value_dim`. A multiplication and an
/// addition are two FLOPs. If `dim` and `value_dim` have the same size, they
/// are one iterator. If not, each point is a combination of both, but each
/// product runs over only one of them. The FLOPs of a product over `dim` are
/// then divided by the size of `value_dim`, and the FLOPs of a product over
/// `value_dim` by the size of `dim`.
template <typename OpTy>
static double productFlops(OpTy op, double products, double valueProducts) {
  double dim = static_cast<double>(sizeOf(op.getKey(), 2)) / op.getKeyHeads();
  double valueDim =
      static_cast<double>(sizeOf(op.getValue(), 2)) / op.getKeyHeads();
  return dim == valueDim ? 2 * (products + valueProducts)
                         : 2 * (products / valueDim + valueProducts / dim);
}

IterationSpace AttentionOp::getIterationSpace() {
  AttentionSpace attention(getQuery(), getKey(), getValue(), getHeads(),
                           getKeyHeads(),
                           /*gradient=*/false);
  attention.space.operands = {attention.queries(), attention.keyed(),
                              attention.values()};
  attention.space.results = {attention.outputs(), attention.rows()};
  return attention.space;
}
// The first product computes the scores, and the second one the weighted sums
// of the values.
double AttentionOp::getFlopsPerPoint() { return productFlops(*this, 1, 1); }
KernelClass AttentionOp::getKernelClass() { return KernelClass::Matrix; }
double AttentionOp::getVisitedShare() { return visitedShare(*this); }
double AttentionOp::getVisitedShareOf(ArrayRef<IteratorRanges> held) {
  return visitedShareOf(*this, held);
}
StringRef AttentionOp::getRingIterator() { return "key"; }
Operation *AttentionOp::buildRingStep(OpBuilder &builder, ValueRange operands,
                                      ValueRange soFar, int64_t blocks) {
  return AttentionBlockOp::create(
      builder, getLoc(), getResultTypes(), getPathAttr(), operands[0],
      operands[1], operands[2], soFar, getHeadsAttr(), getKvHeadsAttr(),
      getCausalAttr(), builder.getI64IntegerAttr(blocks));
}

IterationSpace AttentionBlockOp::getIterationSpace() {
  AttentionSpace attention(getQuery(), getKey(), getValue(), getHeads(),
                           getKeyHeads(),
                           /*gradient=*/false);
  attention.space.operands = {attention.queries(), attention.keyed(),
                              attention.values()};
  if (!getSoFar().empty())
    llvm::append_range(attention.space.operands,
                       ArrayRef{attention.outputs(), attention.rows()});
  attention.space.results = {attention.outputs(), attention.rows()};
  return attention.space;
}
double AttentionBlockOp::getFlopsPerPoint() {
  return productFlops(*this, 1, 1);
}
KernelClass AttentionBlockOp::getKernelClass() { return KernelClass::Matrix; }
// The space contains the keys of all `blocks` blocks. In this operation, a
// query visits the keys of only one block, which has 1 / `blocks` of the
// visited points on average over the steps of the ring.
double AttentionBlockOp::getVisitedShare() {
  return visitedShare(*this) / getBlocks();
}
double AttentionBlockOp::getVisitedShareOf(ArrayRef<IteratorRanges> held) {
  return visitedShareOf(*this, held);
}

IterationSpace AttentionGradOp::getIterationSpace() {
  AttentionSpace attention(getQuery(), getKey(), getValue(), getHeads(),
                           getKeyHeads(),
                           /*gradient=*/true);
  attention.space.operands = {attention.outputs(), attention.queries(),
                              attention.keyed(),   attention.values(),
                              attention.outputs(), attention.rows()};
  attention.space.results = {attention.queries(), attention.keyed(),
                             attention.values()};
  return attention.space;
}
// getFlopsPerPoint counts the four products that define the gradients.
// getExecutedFlopsPerPoint also counts a fifth product, with which the kernel
// recomputes the scores.
double AttentionGradOp::getFlopsPerPoint() { return productFlops(*this, 2, 2); }
double AttentionGradOp::getExecutedFlopsPerPoint() {
  return productFlops(*this, 3, 2);
}
KernelClass AttentionGradOp::getKernelClass() { return KernelClass::Matrix; }
double AttentionGradOp::getVisitedShare() { return visitedShare(*this); }
double AttentionGradOp::getVisitedShareOf(ArrayRef<IteratorRanges> held) {
  return visitedShareOf(*this, held);
}
StringRef AttentionGradOp::getRingIterator() { return "key"; }
Operation *AttentionGradOp::buildRingStep(OpBuilder &builder,
                                          ValueRange operands, ValueRange soFar,
                                          int64_t blocks) {
  return AttentionBlockGradOp::create(
      builder, getLoc(), getResultTypes(), getPathAttr(), operands[0],
      operands[1], operands[2], operands[3], operands[4], operands[5],
      soFar.empty() ? Value() : soFar[0], getHeadsAttr(), getKvHeadsAttr(),
      getCausalAttr(), builder.getI64IntegerAttr(blocks));
}

IterationSpace AttentionBlockGradOp::getIterationSpace() {
  AttentionSpace attention(getQuery(), getKey(), getValue(), getHeads(),
                           getKeyHeads(),
                           /*gradient=*/true);
  attention.space.operands = {attention.outputs(), attention.queries(),
                              attention.keyed(),   attention.values(),
                              attention.outputs(), attention.rows()};
  if (getQueryGradientSoFar())
    attention.space.operands.push_back(attention.queries());
  attention.space.results = {attention.queries(), attention.keyed(),
                             attention.values()};
  return attention.space;
}
double AttentionBlockGradOp::getFlopsPerPoint() {
  return productFlops(*this, 2, 2);
}
double AttentionBlockGradOp::getExecutedFlopsPerPoint() {
  return productFlops(*this, 3, 2);
}
KernelClass AttentionBlockGradOp::getKernelClass() {
  return KernelClass::Matrix;
}
double AttentionBlockGradOp::getVisitedShare() {
  return visitedShare(*this) / getBlocks();
}
double AttentionBlockGradOp::getVisitedShareOf(ArrayRef<IteratorRanges> held) {
  return visitedShareOf(*this, held);
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

IterationSpace EmbeddingOp::getIterationSpace() {
  IterationSpace space;
  SmallVector<unsigned> leading = addLeading(
      space, getIndices(), rankOf(getIndices()), IteratorKind::Parallel);
  unsigned vocab = space.add("vocab", sizeOf(getTable(), 0), IteratorKind::Sum);
  unsigned hidden = space.add("hidden", sizeOf(getTable(), 1));
  space.operands = {indexedBy(leading), indexedBy({vocab, hidden})};
  space.results = {indexedBy(appended(leading, hidden))};
  return space;
}
bool EmbeddingOp::readsWholeOperand(unsigned operand) { return operand != 1; }

IterationSpace EmbeddingGradOp::getIterationSpace() {
  IterationSpace space;
  SmallVector<unsigned> leading =
      addLeading(space, getIndices(), rankOf(getIndices()), IteratorKind::Sum);
  unsigned vocab = space.add("vocab", sizeOf(getResult(), 0));
  unsigned hidden = space.add("hidden", sizeOf(getResult(), 1));
  space.operands = {indexedBy(appended(leading, hidden)), indexedBy(leading)};
  space.results = {indexedBy({vocab, hidden})};
  return space;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

IterationSpace LayerNormOp::getIterationSpace() {
  IterationSpace space;
  int64_t rank = rankOf(getInput());
  SmallVector<unsigned> leading =
      addLeading(space, getInput(), rank - 1, IteratorKind::Parallel);
  unsigned hidden =
      space.add("hidden", sizeOf(getInput(), rank - 1), IteratorKind::Opaque);
  TensorIterators data = indexedBy(appended(leading, hidden));
  space.operands = {data, indexedBy({hidden}), indexedBy({hidden})};
  space.results = {data};
  return space;
}
double LayerNormOp::getFlopsPerPoint() { return 7; }

IterationSpace LayerNormGradOp::getIterationSpace() {
  IterationSpace space;
  int64_t rank = rankOf(getInput());
  SmallVector<unsigned> leading =
      addLeading(space, getInput(), rank - 1, IteratorKind::Sum);
  unsigned hidden =
      space.add("hidden", sizeOf(getInput(), rank - 1), IteratorKind::Opaque);
  TensorIterators data = indexedBy(appended(leading, hidden));
  space.operands = {data, data, indexedBy({hidden})};
  space.results = {data, indexedBy({hidden}), indexedBy({hidden})};
  return space;
}
double LayerNormGradOp::getFlopsPerPoint() { return 14; }

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

IterationSpace ReluOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double ReluOp::getFlopsPerPoint() { return 1; }
IterationSpace ReluGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double ReluGradOp::getFlopsPerPoint() { return 1; }

IterationSpace GeluOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
double GeluOp::getFlopsPerPoint() { return 8; }
IterationSpace GeluGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double GeluGradOp::getFlopsPerPoint() { return 13; }

IterationSpace AddOp::getIterationSpace() {
  return elementwise(*this, getLhs());
}
double AddOp::getFlopsPerPoint() { return 1; }
// Partial sums of both operands can be added on each device. But a repeated
// right operand, such as a position embedding, is usually not partial: every
// device would add it to its own partial sum, so that it would be counted
// several times.
bool AddOp::isLinear() { return rankOf(getLhs()) == rankOf(getRhs()); }

IterationSpace DropoutOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
IterationSpace DropoutGradOp::getIterationSpace() {
  return elementwise(*this, getGradient());
}
double DropoutGradOp::getFlopsPerPoint() { return 1; }

IterationSpace CastOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
bool CastOp::isLinear() { return true; }

IterationSpace KeepOp::getIterationSpace() {
  return elementwise(*this, getInput());
}
KernelClass KeepOp::getKernelClass() { return KernelClass::View; }

IterationSpace FillOp::getIterationSpace() {
  return elementwise(*this, getResult());
}

/// Returns the space of an update, which is element-wise. The iterators are
/// named d0, d1, ... because the first dimension of a parameter is not a batch.
static IterationSpace updateSpace(Operation *op, Value parameter) {
  IterationSpace space = elementwise(op, parameter);
  for (auto [dim, iterator] : llvm::enumerate(space.iterators))
    iterator.name = "d" + std::to_string(dim);
  return space;
}

IterationSpace SGDOp::getIterationSpace() {
  return updateSpace(*this, getParameter());
}
double SGDOp::getFlopsPerPoint() { return getMomentum() ? 4 : 2; }
IterationSpace AdamOp::getIterationSpace() {
  return updateSpace(*this, getParameter());
}
double AdamOp::getFlopsPerPoint() { return 14; }

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// Builds the iteration space of a reshape. Both shapes are divided into
/// stretches: the shortest runs of dimensions that have the same number of
/// elements on both sides. For example, `8x256x6x6 -> 8x9216` has the stretches
/// `8 -> 8` and `256x6x6 -> 9216`. The iterators of a stretch are the common
/// factors of both sides: 256, 6 and 6. If neither of two sizes divides the
/// other, as in `6x4 -> 4x6`, the stretch has one opaque iterator instead,
/// which indexes no dimension.
class ReshapeSpace {
public:
  ReshapeSpace(ArrayRef<int64_t> from, ArrayRef<int64_t> to)
      : from(from), to(to), fromDims(from.size()), toDims(to.size()) {}

  IterationSpace build() {
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      // A dimension of size one gets no iterator if the current dimension of
      // the other shape has another size, or if the other shape has no
      // dimension left.
      bool fromOne = i < from.size() && from[i] == 1;
      bool toOne = j < to.size() && to[j] == 1;
      if (fromOne != toOne) {
        ++(fromOne ? i : j);
        continue;
      }
      // If only one shape has dimensions left here, the shapes have different
      // numbers of elements. The verifier of the operation rejects such shapes.
      if (i == from.size() || j == to.size())
        break;
      auto [fromEnd, toEnd] = endOfStretch(i, j);
      addStretch(i, fromEnd, j, toEnd);
      i = fromEnd;
      j = toEnd;
    }
    space.operands = {fromDims};
    space.results = {toDims};
    return std::move(space);
  }

private:
  /// Returns the ends of the stretch that begins at dimension `i` of the
  /// operand and dimension `j` of the result. The ends are exclusive.
  std::pair<size_t, size_t> endOfStretch(size_t i, size_t j) const {
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right ? i == from.size() : j == to.size())
        break;
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
    return {i, j};
  }

  /// Adds the common factors of a stretch as iterators, major first. If neither
  /// of two sizes divides the other, adds one opaque iterator for the whole
  /// stretch instead.
  void addStretch(size_t i, size_t fromEnd, size_t j, size_t toEnd) {
    size_t firstFrom = i, firstTo = j, firstIterator = space.iterators.size();
    int64_t left = from[i], right = to[j];
    while (true) {
      int64_t factor = std::min(left, right);
      if (factor < 1 || left % factor != 0 || right % factor != 0) {
        space.iterators.truncate(firstIterator);
        addOpaque(firstFrom, fromEnd, firstTo, toEnd);
        return;
      }
      unsigned iterator = space.add(nextName(), factor);
      fromDims[i].push_back(iterator);
      toDims[j].push_back(iterator);
      left /= factor;
      right /= factor;
      while (left == 1 && ++i < fromEnd)
        left = from[i];
      while (right == 1 && ++j < toEnd)
        right = to[j];
      if (i >= fromEnd || j >= toEnd)
        return;
    }
  }

  void addOpaque(size_t i, size_t fromEnd, size_t j, size_t toEnd) {
    int64_t size = 1;
    for (; i < fromEnd; ++i) {
      size *= from[i];
      fromDims[i].clear();
    }
    for (; j < toEnd; ++j)
      toDims[j].clear();
    space.add("opaque" + std::to_string(space.iterators.size()), size,
              IteratorKind::Opaque);
  }

  std::string nextName() const {
    return space.iterators.empty()
               ? "batch"
               : "f" + std::to_string(space.iterators.size());
  }

  ArrayRef<int64_t> from, to;
  TensorIterators fromDims, toDims;
  IterationSpace space;
};
} // namespace

IterationSpace ReshapeOp::getIterationSpace() {
  return ReshapeSpace(getInput().getType().getShape(),
                      getResult().getType().getShape())
      .build();
}
KernelClass ReshapeOp::getKernelClass() { return KernelClass::View; }
bool ReshapeOp::isLinear() { return true; }

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

IterationSpace CrossEntropyOp::getIterationSpace() {
  RowSpace row(getLogits(), IteratorKind::Sum, IteratorKind::LogSumExp);
  row.space.operands = {row.logits(), row.rows()};
  row.space.results = {TensorIterators(), row.rows()};
  return row.space;
}
double CrossEntropyOp::getFlopsPerPoint() { return 4; }

IterationSpace CrossEntropyGradOp::getIterationSpace() {
  RowSpace row(getLogits(), IteratorKind::Parallel, IteratorKind::Parallel);
  row.space.operands = {TensorIterators(), row.logits(), row.rows(),
                        row.rows()};
  row.space.results = {row.logits()};
  return row.space;
}
double CrossEntropyGradOp::getFlopsPerPoint() { return 4; }

IterationSpace RowMaxOp::getIterationSpace() {
  RowSpace row(getLogits(), IteratorKind::Parallel, IteratorKind::Max);
  row.space.operands = {row.logits()};
  row.space.results = {row.rows()};
  return row.space;
}
double RowMaxOp::getFlopsPerPoint() { return 1; }

IterationSpace RowExpSumOp::getIterationSpace() {
  RowSpace row(getLogits(), IteratorKind::Parallel, IteratorKind::Sum);
  row.space.operands = {row.logits(), row.rows(), row.rows()};
  row.space.results = {row.rows(), row.rows()};
  return row.space;
}
double RowExpSumOp::getFlopsPerPoint() { return 3; }

IterationSpace RowLossOp::getIterationSpace() {
  IterationSpace space;
  SmallVector<unsigned> leading =
      addLeading(space, getMax(), rankOf(getMax()), IteratorKind::Sum);
  space.operands = {indexedBy(leading), indexedBy(leading), indexedBy(leading)};
  space.results = {TensorIterators(), indexedBy(leading)};
  return space;
}
double RowLossOp::getFlopsPerPoint() { return 3; }

IterationSpace MSELossOp::getIterationSpace() {
  IterationSpace space = elementwise(*this, getPrediction());
  for (Iterator &iterator : space.iterators)
    iterator.kind = IteratorKind::Sum;
  return space;
}
double MSELossOp::getFlopsPerPoint() { return 3; }

IterationSpace MSELossGradOp::getIterationSpace() {
  return elementwise(*this, getPrediction());
}
double MSELossGradOp::getFlopsPerPoint() { return 3; }
