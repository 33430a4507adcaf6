//===- ExpertKernels.cpp - mixture of experts -------------------*- C++ -*-===//
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

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using std::exp;

static ArrayRef<int64_t> globalShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

/// Returns the softmax of row `row` of `logits`.
template <typename T>
static SmallVector<T> softmax(const TensorOf<T> &logits, int64_t row) {
  SmallVector<T> result;
  for (int64_t i = 0, size = logits.getDim(-1); i < size; ++i)
    result.push_back(logits[row * size + i]);
  T most = *llvm::max_element(result), sum = 0;
  for (T &value : result)
    sum += value = exp(value - most);
  for (T &value : result)
    value /= sum;
  return result;
}

template <typename T>
static LogicalResult compute(nn::MoeRouteOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  const TensorOf<T> &logits = *in[0];
  int64_t experts = logits.getDim(-1), choices = out[0].data.getDim(-1);
  // A block holds whole groups of tokens, so local token numbers that are
  // multiples of `tokensPerGroup` begin a group.
  int64_t globalRows = numElements(globalShape(op.getLogits()).drop_back());
  int64_t tokensPerGroup = globalRows / op.getGroups();
  SmallVector<int64_t> used;
  for (int64_t token = 0, e = leadingSize(logits); token < e; ++token) {
    if (token % tokensPerGroup == 0)
      used.assign(experts, 0);
    SmallVector<T> probabilities = softmax(logits, token);
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, experts));
    // Among equal probabilities, the expert with the lower index comes first.
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::make_pair(-probabilities[a], a) <
             std::make_pair(-probabilities[b], b);
    });
    T sum = 0;
    for (int64_t i = 0; i < choices; ++i)
      sum += probabilities[order[i]];
    for (int64_t i = 0; i < choices; ++i) {
      int64_t expert = order[i], position = token * choices + i;
      int64_t slot = used[expert]++;
      out[0].data[position] =
          probabilities[expert] / (op.getNormalize() ? sum : T(1));
      out[1].data[position] = static_cast<double>(expert);
      out[2].data[position] =
          slot < op.getCapacity() ? static_cast<double>(slot) : -1;
    }
  }
  return success();
}

static LogicalResult compute(nn::MoeRouteGradOp op, Operands in, Results out) {
  const Tensor &dgates = *in[0], &logits = *in[1], &chosen = *in[2];
  int64_t experts = logits.getDim(-1), choices = dgates.getDim(-1);
  for (int64_t token = 0, e = leadingSize(logits); token < e; ++token) {
    SmallVector<double> probabilities = softmax(logits, token);
    auto expertOf = [&](int64_t i) {
      return static_cast<int64_t>(chosen[token * choices + i]);
    };
    // With `normalize`, the gates are a softmax over the chosen experts alone.
    SmallVector<double> base = probabilities;
    if (op.getNormalize()) {
      double sum = 0;
      base.assign(experts, 0);
      for (int64_t i = 0; i < choices; ++i)
        sum += probabilities[expertOf(i)];
      for (int64_t i = 0; i < choices; ++i)
        base[expertOf(i)] = probabilities[expertOf(i)] / sum;
    }
    double mean = 0;
    for (int64_t i = 0; i < choices; ++i)
      mean += dgates[token * choices + i] * base[expertOf(i)];
    double *row = &out[0].data[token * experts];
    for (int64_t expert = 0; expert < experts; ++expert)
      row[expert] = -base[expert] * mean;
    for (int64_t i = 0; i < choices; ++i)
      row[expertOf(i)] += base[expertOf(i)] * dgates[token * choices + i];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch and combination
//===----------------------------------------------------------------------===//

/// Calls `visit` for every choice that has its slot in `block`. A choice is a
/// pair of a token and one of its k experts; its slot is -1 if it got none.
/// `block` is a block of the slots `[experts, groups, capacity, hidden]`, and
/// `experts` is a block of the choices `[batch, .., k]`. Both must hold the
/// same groups of tokens. Fails with an error if a slot is not less than the
/// capacity. The arguments of `visit` are the row-major position of the choice
/// in `experts`, the local number of the token, and the row of the slot in
/// `block`.
template <typename T>
static LogicalResult
forEachPlace(Operation *op, Value tokens, Value places,
             const TensorOf<T> &block, const Place &place,
             const TensorOf<T> &experts, const TensorOf<T> &slots,
             function_ref<void(int64_t, int64_t, int64_t)> visit) {
  int64_t capacity = globalShape(places)[2];
  int64_t rowsPerGroup = globalShape(tokens)[0] / globalShape(places)[1];
  int64_t choices = experts.getDim(-1);
  int64_t tokensPerRow = leadingSize(experts) / experts.getDim(0);
  for (int64_t i = 0; i < experts.size(); ++i) {
    int64_t token = i / choices;
    int64_t slot = integerAt(slots, i);
    if (slot < 0)
      continue;
    if (slot >= capacity)
      return op->emitOpError("can't be evaluated: a token was given slot ")
             << slot << " of " << capacity;
    int64_t group = token / tokensPerRow / rowsPerGroup;
    // If `block` does not hold the slot, the device that holds the slot visits
    // the choice.
    std::optional<int64_t> expert = place.toLocal(0, integerAt(experts, i));
    std::optional<int64_t> held = place.toLocal(2, slot);
    if (expert && held)
      visit(i, token,
            (*expert * block.getDim(1) + group) * block.getDim(2) + *held);
  }
  return success();
}

template <typename T>
static LogicalResult compute(nn::MoeDispatchOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  TensorOf<T> &y = out[0].data;
  int64_t hidden = x.getDim(-1);
  return forEachPlace(op, op.getInput(), op.getResult(), y, out[0].place,
                      *in[1], *in[2],
                      [&](int64_t choice, int64_t token, int64_t row) {
                        T gate = op.getGates() ? (*in[3])[choice] : T(1);
                        for (int64_t h = 0; h < hidden; ++h)
                          y[row * hidden + h] = gate * x[token * hidden + h];
                      });
}

template <typename T>
static LogicalResult compute(nn::MoeCombineOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  TensorOf<T> &y = out[0].data;
  int64_t hidden = x.getDim(-1);
  return forEachPlace(op, op.getResult(), op.getInput(), x, in[0].place, *in[1],
                      *in[2], [&](int64_t choice, int64_t token, int64_t row) {
                        T gate = op.getGates() ? (*in[3])[choice] : T(1);
                        for (int64_t h = 0; h < hidden; ++h)
                          y[token * hidden + h] += gate * x[row * hidden + h];
                      });
}

static LogicalResult compute(nn::MoeGateGradOp op, Operands in, Results out) {
  const Tensor &dy = *in[0], &x = *in[1];
  int64_t hidden = x.getDim(-1);
  return forEachPlace(
      op, op.getGradient(), op.getInput(), x, in[1].place, *in[2], *in[3],
      [&](int64_t choice, int64_t token, int64_t row) {
        for (int64_t h = 0; h < hidden; ++h)
          out[0].data[choice] += dy[token * hidden + h] * x[row * hidden + h];
      });
}

//===----------------------------------------------------------------------===//
// Grouped products
//===----------------------------------------------------------------------===//

/// Calls `visit` for every multiply-add of a grouped product, that is, of one
/// matrix product per expert. The arguments are row-major positions in the
/// blocks of the input `[experts, groups, capacity, in]`, of the weight
/// `[experts, out, in]` and of the output `[experts, groups, capacity, out]`.
template <typename T>
static void
forEachProduct(const TensorOf<T> &input, const TensorOf<T> &weight,
               function_ref<void(int64_t, int64_t, int64_t)> visit) {
  int64_t rows = input.getDim(1) * input.getDim(2);
  int64_t outs = weight.getDim(1), ins = weight.getDim(2);
  for (int64_t expert = 0; expert < weight.getDim(0); ++expert)
    for (int64_t r = expert * rows; r < (expert + 1) * rows; ++r)
      for (int64_t o = 0; o < outs; ++o)
        for (int64_t i = 0; i < ins; ++i)
          visit(r * ins + i, (expert * outs + o) * ins + i, r * outs + o);
}

template <typename T>
static LogicalResult compute(nn::ExpertLinearOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0], &w = *in[1];
  TensorOf<T> &y = out[0].data;
  forEachProduct(x, w,
                 [&](int64_t i, int64_t j, int64_t k) { y[k] += x[i] * w[j]; });
  // If the iterator `in` is split, the output is a sum over devices, so only
  // the devices with the first shard of `in` add the bias.
  if (!op.getBias() || !in[1].place.toLocal(2, 0))
    return success();
  int64_t outs = w.getDim(1), perExpert = y.size() / w.getDim(0);
  for (int64_t k = 0; k < y.size(); ++k)
    y[k] += (*in[2])[k / perExpert * outs + k % outs];
  return success();
}

static LogicalResult compute(nn::ExpertLinearDgradOp, Operands in,
                             Results out) {
  const Tensor &dy = *in[0], &w = *in[1];
  Tensor &dx = out[0].data;
  forEachProduct(
      dx, w, [&](int64_t i, int64_t j, int64_t k) { dx[i] += dy[k] * w[j]; });
  return success();
}

static LogicalResult compute(nn::ExpertLinearWgradOp, Operands in,
                             Results out) {
  const Tensor &dy = *in[0], &x = *in[1];
  Tensor &dw = out[0].data;
  forEachProduct(
      x, dw, [&](int64_t i, int64_t j, int64_t k) { dw[j] += dy[k] * x[i]; });
  return success();
}

template <typename T>
Evaluated proteus::interp::evaluateExperts(Operation *op, OperandsOf<T> in,
                                           ResultsOf<T> out) {
  auto run = [&](auto kernel) { return compute(kernel, in, out); };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::MoeRouteOp, nn::MoeDispatchOp, nn::MoeCombineOp,
                        nn::ExpertLinearOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::MoeRouteGradOp, nn::MoeGateGradOp,
                          nn::ExpertLinearDgradOp, nn::ExpertLinearWgradOp>(
        run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateExperts);
