//===- AttentionKernels.cpp - attention and its gradient --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using std::exp;
using std::log;

namespace {
/// The part of an attention operation that one rank computes: local sizes,
/// visible keys, and the row-major positions at which vectors begin in the
/// blocks.
class AttentionBlock {
public:
  template <typename OpT, typename T>
  AttentionBlock(OpT op, const OperandBlockOf<T> &query,
                 const OperandBlockOf<T> &key)
      : causal(op.getCausal()),
        dim(cast<RankedTensorType>(op.getQuery().getType()).getDimSize(2) /
            static_cast<int64_t>(op.getHeads())),
        valueDim(cast<RankedTensorType>(op.getValue().getType()).getDimSize(2) /
                 op.getKeyHeads()),
        group(static_cast<int64_t>(op.getHeads()) / op.getKeyHeads()),
        batch(query->getDim(0)), queries(query->getDim(1)),
        keys(key->getDim(1)), heads(query->getDim(2) / dim),
        keyHeads(key->getDim(2) / dim), queryPlace(query.place),
        keyPlace(key.place), scale(1 / std::sqrt(double(dim))) {}

  /// Calls `visit(b, h, i)` for every row of the scores, with the local indices
  /// of sample, query head and query.
  void forEachRow(function_ref<void(int64_t, int64_t, int64_t)> visit) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < queries; ++i)
          visit(b, h, i);
  }
  /// Returns the local indices of the keys to which the local query `i`
  /// attends. With a causal mask these are the keys with a global index up to
  /// the global index of the query.
  SmallVector<int64_t> visibleKeys(int64_t i) const {
    int64_t last = queryPlace.toGlobal(1, i);
    SmallVector<int64_t> visible;
    for (int64_t j = 0; j < keys; ++j)
      if (!causal || keyPlace.toGlobal(1, j) <= last)
        visible.push_back(j);
    return visible;
  }
  /// Returns the position, in the block of queries, of the vector of a query.
  int64_t queryAt(int64_t b, int64_t h, int64_t i) const {
    return ((b * queries + i) * heads + h) * dim;
  }
  /// Returns the position, in the block of outputs, of the vector of a query.
  int64_t outputAt(int64_t b, int64_t h, int64_t i) const {
    return ((b * queries + i) * heads + h) * valueDim;
  }
  /// Returns the position, in the block of keys, of the vector that the local
  /// query head `h` reads for key `j`.
  int64_t keyAt(int64_t b, int64_t h, int64_t j) const {
    return ((b * keys + j) * keyHeads + keyHead(h)) * dim;
  }
  /// Returns the position, in the block of values, of the vector that the local
  /// query head `h` reads for key `j`.
  int64_t valueAt(int64_t b, int64_t h, int64_t j) const {
    return ((b * keys + j) * keyHeads + keyHead(h)) * valueDim;
  }
  /// Returns the position of a row in the block of the log-sum-exp.
  int64_t rowAt(int64_t b, int64_t h, int64_t i) const {
    return (b * heads + h) * queries + i;
  }

  bool causal;
  int64_t dim, valueDim, group, batch, queries, keys, heads, keyHeads;
  const Place &queryPlace, &keyPlace;
  double scale;

private:
  /// Returns the local index of the key head that the local query head `h`
  /// reads.
  int64_t keyHead(int64_t h) const {
    int64_t head = queryPlace.toGlobal(2, h * dim) / dim;
    return *keyPlace.toLocal(2, head / group * dim) / dim;
  }
};
} // namespace

/// Returns the dot product of `size` elements: Σ_d x[i + d] · y[j + d].
template <typename T>
static T dot(int64_t size, const TensorOf<T> &x, int64_t i,
             const TensorOf<T> &y, int64_t j) {
  T sum = 0;
  for (int64_t d = 0; d < size; ++d)
    sum += x[i + d] * y[j + d];
  return sum;
}

/// Adds a multiple of a vector of `size` elements:
///
///   to[i + d] += factor · from[j + d].
template <typename T>
static void add(int64_t size, TensorOf<T> &to, int64_t i, T factor,
                const TensorOf<T> &from, int64_t j) {
  for (int64_t d = 0; d < size; ++d)
    to[i + d] += factor * from[j + d];
}

/// Computes attention over the keys that the device holds. If `before` is not
/// empty, it contains the output and the log-sum-exp over the keys of earlier
/// ring steps, and the results are those over the earlier and the held keys.
template <typename OpT, typename T>
static void attend(OpT op, OperandsOf<T> in, OperandsOf<T> before,
                   ResultsOf<T> out) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  const TensorOf<T> &q = *in[0], &k = *in[1], &v = *in[2];
  TensorOf<T> &o = out[0].data, &lse = out[1].data;
  AttentionBlock block(op, in[0], in[1]);
  block.forEachRow([&](int64_t b, int64_t h, int64_t i) {
    int64_t query = block.queryAt(b, h, i), output = block.outputAt(b, h, i),
            row = block.rowAt(b, h, i);
    T other = before.empty() ? T(nothing) : (*before[1])[row];
    SmallVector<int64_t> visible = block.visibleKeys(i);
    SmallVector<T> scores;
    T most = other;
    for (int64_t j : visible) {
      scores.push_back(block.scale *
                       dot(block.dim, q, query, k, block.keyAt(b, h, j)));
      most = std::max(most, scores.back());
    }
    lse[row] = nothing;
    if (most == nothing)
      return;
    T sum = exp(other - most);
    for (T score : scores)
      sum += exp(score - most);
    T total = most + log(sum);
    lse[row] = total;
    if (other != nothing)
      add(block.valueDim, o, output, exp(other - total), *before[0], output);
    for (auto [j, score] : llvm::zip_equal(visible, scores))
      add(block.valueDim, o, output, exp(score - total), v,
          block.valueAt(b, h, j));
  });
}

template <typename T>
static void compute(nn::AttentionOp op, OperandsOf<T> in, ResultsOf<T> out) {
  attend<nn::AttentionOp, T>(op, in, {}, out);
}

static void compute(nn::AttentionBlockOp op, Operands in, Results out) {
  attend<nn::AttentionBlockOp, double>(op, in.take_front(3), in.drop_front(3),
                                       out);
}

template <typename OpT>
static void attendBackward(OpT op, Operands in, Results out) {
  const Tensor &dout = *in[0], &q = *in[1], &k = *in[2], &v = *in[3],
               &o = *in[4], &lse = *in[5];
  Tensor &dq = out[0].data, &dk = out[1].data, &dv = out[2].data;
  AttentionBlock block(op, in[1], in[2]);
  block.forEachRow([&](int64_t b, int64_t h, int64_t i) {
    int64_t query = block.queryAt(b, h, i), output = block.outputAt(b, h, i);
    double mean = dot(block.valueDim, dout, output, o, output);
    for (int64_t j : block.visibleKeys(i)) {
      int64_t key = block.keyAt(b, h, j), value = block.valueAt(b, h, j);
      double weight = exp(block.scale * dot(block.dim, q, query, k, key) -
                          lse[block.rowAt(b, h, i)]);
      double score = block.scale * weight *
                     (dot(block.valueDim, dout, output, v, value) - mean);
      add(block.valueDim, dv, value, weight, dout, output);
      add(block.dim, dq, query, score, k, key);
      add(block.dim, dk, key, score, q, query);
    }
  });
}

static void compute(nn::AttentionGradOp op, Operands in, Results out) {
  attendBackward(op, in, out);
}

static void compute(nn::AttentionBlockGradOp op, Operands in, Results out) {
  if (op.getQueryGradientSoFar())
    out[0].data = *in[6];
  attendBackward(op, in, out);
}

template <typename T>
Evaluated proteus::interp::evaluateAttention(Operation *op, OperandsOf<T> in,
                                             ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::AttentionOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::AttentionBlockOp, nn::AttentionGradOp,
                          nn::AttentionBlockGradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateAttention);
