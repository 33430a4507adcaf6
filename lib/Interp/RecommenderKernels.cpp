//===- RecommenderKernels.cpp - tables and interaction ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

/// Calls `visit` for every element of every table row that a bag selects. The
/// first argument is the row-major position of the result element to which the
/// table element is added. The second is the row-major position of the table
/// element in the block of the table. Skips rows that this block does not hold.
template <typename T>
static void forEachBagRow(const OperandBlockOf<T> &indices,
                          const TensorOf<T> &table, const Place &tablePlace,
                          function_ref<void(int64_t, int64_t)> visit) {
  const TensorOf<T> &ids = *indices;
  int64_t bag = ids.getDim(-1), vocab = table.getDim(-2),
          hidden = table.getDim(-1);
  int64_t tables = table.getRank() > 2 ? table.getDim(0) : 1;
  for (int64_t i = 0; i < ids.size(); ++i) {
    // The devices that hold the row visit it.
    std::optional<int64_t> row =
        tablePlace.toLocal(table.getRank() - 2, integerAt(ids, i));
    if (!row)
      continue;
    int64_t output = i / bag, number = output % tables;
    for (int64_t h = 0; h < hidden; ++h)
      visit(output * hidden + h, (number * vocab + *row) * hidden + h);
  }
}

template <typename T>
static void compute(nn::EmbeddingBagOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &table = *in[1];
  forEachBagRow(in[0], table, in[1].place,
                [&](int64_t output, int64_t element) {
                  out[0].data[output] += table[element];
                });
}

static void compute(nn::EmbeddingBagGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0];
  Tensor &table = out[0].data;
  forEachBagRow(
      in[1], table, out[0].place,
      [&](int64_t output, int64_t element) { table[element] += dy[output]; });
}

static void compute(nn::EmbeddingBagUpdateOp op, Operands in, Results out) {
  const Tensor &dy = *in[1];
  Tensor &table = out[0].data;
  double rate = op.getLearningRate().convertToDouble();
  for (int64_t i = 0; i < table.size(); ++i)
    table[i] = (*in[0])[i];
  forEachBagRow(in[2], table, out[0].place,
                [&](int64_t output, int64_t element) {
                  table[element] -= rate * dy[output];
                });
}

/// Calls `visit` for every summand of the dot products of all pairs of
/// features. The arguments are the row-major positions of the dot product in
/// the result and of both factors in `features`.
template <typename T>
static void
forEachProduct(const TensorOf<T> &features,
               function_ref<void(int64_t, int64_t, int64_t)> visit) {
  int64_t count = features.getDim(1), dim = features.getDim(2);
  int64_t product = 0;
  for (int64_t b = 0; b < features.getDim(0); ++b)
    for (int64_t i = 1; i < count; ++i)
      for (int64_t j = 0; j < i; ++j, ++product)
        for (int64_t d = 0; d < dim; ++d)
          visit(product, (b * count + i) * dim + d, (b * count + j) * dim + d);
}

template <typename T>
static void compute(nn::InteractionOp, OperandsOf<T> in, ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  forEachProduct(x, [&](int64_t product, int64_t first, int64_t second) {
    out[0].data[product] += x[first] * x[second];
  });
}

static void compute(nn::InteractionGradOp, Operands in, Results out) {
  const Tensor &dz = *in[0], &x = *in[1];
  forEachProduct(x, [&](int64_t product, int64_t first, int64_t second) {
    out[0].data[first] += dz[product] * x[second];
    out[0].data[second] += dz[product] * x[first];
  });
}

template <typename T>
Evaluated proteus::interp::evaluateRecommender(Operation *op, OperandsOf<T> in,
                                               ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::EmbeddingBagOp, nn::InteractionOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::EmbeddingBagGradOp, nn::EmbeddingBagUpdateOp,
                          nn::InteractionGradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateRecommender);
