//===- ElementKernels.cpp - element-wise operations, views, updates -------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using std::erf;
using std::exp;
using std::tanh;

static ArrayRef<int64_t> globalShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Returns the row-major position of an element in the whole tensor `value`.
/// `local` is the index of the element in the block at `place`.
static int64_t globalPosition(Value value, const Place &place,
                              ArrayRef<int64_t> local) {
  return linearise(globalShape(value), place.toGlobal(local));
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

template <typename T, typename Function>
static void map(const TensorOf<T> &x, TensorOf<T> &y, Function function) {
  for (int64_t i = 0; i < x.size(); ++i)
    y[i] = function(x[i]);
}

template <typename T, typename Function>
static void map(const TensorOf<T> &a, const TensorOf<T> &b, TensorOf<T> &y,
                Function function) {
  for (int64_t i = 0; i < a.size(); ++i)
    y[i] = function(a[i], b[i]);
}

/// Returns the cumulative distribution function of the standard normal
/// distribution.
template <typename T> static T normal(T x) {
  return 0.5 * (1 + erf(x / llvm::numbers::sqrt2));
}

template <typename T>
static LogicalResult compute(nn::ReluOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, [](T x) { return x <= 0 ? T(0) : x; });
  return success();
}

static LogicalResult compute(nn::ReluGradOp, Operands in, Results out) {
  map(*in[0], *in[1], out[0].data,
      [](double dy, double y) { return y > 0 ? dy : 0; });
  return success();
}

template <typename T>
static LogicalResult compute(nn::GeluOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, [](T x) { return x * normal(x); });
  return success();
}

static LogicalResult compute(nn::GeluGradOp, Operands in, Results out) {
  map(*in[0], *in[1], out[0].data, [](double dy, double x) {
    double density =
        exp(-x * x / 2) * llvm::numbers::inv_sqrtpi / llvm::numbers::sqrt2;
    return dy * (normal(x) + x * density);
  });
  return success();
}

template <typename T> static T sigmoid(T x) { return 1 / (1 + exp(-x)); }

template <typename T> static T silu(T x) { return x * sigmoid(x); }

/// Returns the derivative of `silu`.
static double siluSlope(double x) {
  return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
}

template <typename T>
static LogicalResult compute(nn::SiluOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, silu<T>);
  return success();
}

static LogicalResult compute(nn::SiluGradOp, Operands in, Results out) {
  map(*in[0], *in[1], out[0].data,
      [](double dy, double x) { return dy * siluSlope(x); });
  return success();
}

template <typename T>
static LogicalResult compute(nn::TanhOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, [](T x) { return tanh(x); });
  return success();
}

static LogicalResult compute(nn::TanhGradOp, Operands in, Results out) {
  map(*in[0], *in[1], out[0].data,
      [](double dy, double y) { return dy * (1 - y * y); });
  return success();
}

template <typename T>
static LogicalResult compute(nn::SigmoidOp, OperandsOf<T> in,
                             ResultsOf<T> out) {
  map(*in[0], out[0].data, sigmoid<T>);
  return success();
}

static LogicalResult compute(nn::SigmoidGradOp, Operands in, Results out) {
  map(*in[0], *in[1], out[0].data,
      [](double dy, double y) { return dy * y * (1 - y); });
  return success();
}

template <typename T>
static LogicalResult compute(nn::SwigluOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], *in[1], out[0].data,
      [](T gate, T up) { return silu(gate) * up; });
  return success();
}

static LogicalResult compute(nn::SwigluGradOp, Operands in, Results out) {
  const Tensor &dy = *in[0], &gate = *in[1], &up = *in[2];
  for (int64_t i = 0; i < dy.size(); ++i) {
    out[0].data[i] = dy[i] * up[i] * siluSlope(gate[i]);
    out[1].data[i] = dy[i] * silu(gate[i]);
  }
  return success();
}

template <typename T>
static LogicalResult compute(nn::ScaleOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  double factor = op.getFactor().convertToDouble();
  map(*in[0], out[0].data, [&](T x) { return factor * x; });
  return success();
}

template <typename T>
static LogicalResult compute(nn::CastOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, [](T x) { return x; });
  return success();
}

template <typename T>
static LogicalResult compute(nn::KeepOp, OperandsOf<T> in, ResultsOf<T> out) {
  map(*in[0], out[0].data, [](T x) { return x; });
  return success();
}

template <typename T>
static LogicalResult compute(nn::FillOp op, OperandsOf<T>, ResultsOf<T> out) {
  for (int64_t i = 0; i < out[0].data.size(); ++i)
    out[0].data[i] = op.getValue().convertToDouble();
  return success();
}

template <typename T>
static LogicalResult compute(nn::AddOp, OperandsOf<T> in, ResultsOf<T> out) {
  // The right operand is repeated along the leading dimensions that it lacks.
  const TensorOf<T> &a = *in[0], &b = *in[1];
  for (int64_t i = 0; i < a.size(); ++i)
    out[0].data[i] = a[i] + b[i % b.size()];
  return success();
}

template <typename T>
static LogicalResult compute(nn::MulOp, OperandsOf<T> in, ResultsOf<T> out) {
  // The right operand is repeated along the leading dimensions that it lacks.
  const TensorOf<T> &a = *in[0], &b = *in[1];
  for (int64_t i = 0; i < a.size(); ++i)
    out[0].data[i] = a[i] * b[i % b.size()];
  return success();
}

template <typename T>
static LogicalResult compute(nn::DropoutOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  double probability = op.getProbability().convertToDouble();
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    int64_t position = linearise(in[0]->getShape(), index);
    int64_t global = globalPosition(op.getInput(), in[0].place, index);
    bool kept = randomAt(op.getSeed(), global) >= probability;
    out[1].data[position] = kept ? 1 : 0;
    out[0].data[position] =
        kept ? (*in[0])[position] / (1 - probability) : T(0);
  });
  return success();
}

static LogicalResult compute(nn::DropoutGradOp op, Operands in, Results out) {
  double probability = op.getProbability().convertToDouble();
  map(*in[0], *in[1], out[0].data,
      [&](double dy, double mask) { return dy * mask / (1 - probability); });
  return success();
}

template <typename T>
static LogicalResult compute(nn::ReduceSumOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  const TensorOf<T> &x = *in[0];
  forEachIndex(x.getShape(), [&](ArrayRef<int64_t> index) {
    Shape kept;
    for (int64_t dim : op.getKeep())
      kept.push_back(index[dim]);
    out[0].data.at(kept) += x.at(index);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

template <typename T>
static LogicalResult compute(nn::ReshapeOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  // Each element has the same row-major position in the whole operand and in
  // the whole result. If the block of the operand does not hold an element of
  // the result, emit an error.
  const TensorOf<T> &x = *in[0];
  TensorOf<T> &y = out[0].data;
  bool missing = false;
  forEachIndex(y.getShape(), [&](ArrayRef<int64_t> index) {
    Shape source =
        delinearise(globalShape(op.getInput()),
                    globalPosition(op.getResult(), out[0].place, index));
    for (auto [dim, i] : llvm::enumerate(source)) {
      std::optional<int64_t> local = in[0].place.toLocal(dim, i);
      missing |= !local;
      i = local.value_or(0);
    }
    if (!missing)
      y.at(index) = x.at(source);
  });
  if (missing)
    return op.emitOpError("can't be evaluated: its operand does not hold the "
                          "elements of its result");
  return success();
}

/// Calls `copy` for every element of a tensor that is split along its last
/// dimension. The elements, in row-major order, form `groups` groups of
/// `groupSize` elements. Each group consists of consecutive runs of
/// `pieceSizes` elements. Result p of the split consists of run p of every
/// group: with runs of 4 and 2, result 0 has the elements 0-3, 6-9, and so on.
/// The arguments of `copy` are p, and the row-major positions of the element in
/// result p and in the whole tensor.
static void copyPieces(int64_t groupSize, ArrayRef<int64_t> pieceSizes,
                       int64_t groups,
                       function_ref<void(unsigned, int64_t, int64_t)> copy) {
  for (int64_t g = 0; g < groups; ++g) {
    int64_t begin = g * groupSize;
    for (auto [piece, size] : llvm::enumerate(pieceSizes)) {
      for (int64_t i = 0; i < size; ++i)
        copy(piece, g * size + i, begin + i);
      begin += size;
    }
  }
}

/// Returns the size of each of the `groups` equal groups into which the last
/// dimension of the whole tensor `value` is divided.
static int64_t groupSize(Value value, int64_t groups) {
  return globalShape(value).back() / groups;
}

template <typename T>
static LogicalResult compute(nn::SplitOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  int64_t size = groupSize(op.getInput(), op.getGroups());
  SmallVector<int64_t> sizes;
  for (Value result : op.getResults())
    sizes.push_back(groupSize(result, op.getGroups()));
  copyPieces(size, sizes, in[0]->size() / size,
             [&](unsigned piece, int64_t inPiece, int64_t inWhole) {
               out[piece].data[inPiece] = (*in[0])[inWhole];
             });
  return success();
}

template <typename T>
static LogicalResult compute(nn::ConcatOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  int64_t size = groupSize(op.getResult(), op.getGroups());
  SmallVector<int64_t> sizes;
  for (Value input : op.getInputs())
    sizes.push_back(groupSize(input, op.getGroups()));
  copyPieces(size, sizes, out[0].data.size() / size,
             [&](unsigned piece, int64_t inPiece, int64_t inWhole) {
               out[0].data[inWhole] = (*in[piece])[inPiece];
             });
  return success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Returns the gradient that an update applies: the operand `gradient`,
/// multiplied by the factor of the update if there is one. After an overflow
/// the factor is 0, and every element of the result is 0, even if the operand
/// has infinite or NaN elements.
template <typename OpTy> static Tensor scaledGradient(OpTy op, Operands in) {
  Tensor gradient = *in[1];
  if (op.getScaled()) {
    double factor = (*in.back())[0];
    for (int64_t i = 0; i < gradient.size(); ++i)
      gradient[i] = factor == 0 ? 0 : factor * gradient[i];
  }
  return gradient;
}

static LogicalResult compute(nn::SGDOp op, Operands in, Results out) {
  double rate = op.getLearningRate().convertToDouble();
  Tensor gradient = scaledGradient(op, in);
  in = in.drop_back(op.getScaled());
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double step = gradient[i];
    if (op.getMomentum())
      step = out[1].data[i] = momentumDecay * (*in[2])[i] + gradient[i];
    const Tensor &old = op.getMaster() ? *in.back() : *in[0];
    out[0].data[i] = old[i] - rate * step;
    if (op.getMaster())
      out.back().data[i] = out[0].data[i];
  }
  return success();
}

static LogicalResult compute(nn::AdamOp op, Operands in, Results out) {
  double rate = op.getLearningRate().convertToDouble();
  Tensor gradient = scaledGradient(op, in);
  const Tensor &first = *in[2], &second = *in[3];
  const Tensor &old = op.getMaster() ? *in[4] : *in[0];
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double g = gradient[i];
    double m = adamFirstDecay * first[i] + (1 - adamFirstDecay) * g;
    double v = adamSecondDecay * second[i] + (1 - adamSecondDecay) * g * g;
    out[0].data[i] = old[i] - rate * m / (std::sqrt(v) + adamEpsilon);
    out[1].data[i] = m;
    out[2].data[i] = v;
    if (op.getMaster())
      out[3].data[i] = out[0].data[i];
  }
  return success();
}

template <typename T>
Evaluated proteus::interp::evaluateElements(Operation *op, OperandsOf<T> in,
                                            ResultsOf<T> out) {
  auto run = [&](auto kernel) { return compute(kernel, in, out); };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::ReluOp, nn::GeluOp, nn::SiluOp, nn::TanhOp,
                        nn::SigmoidOp, nn::SwigluOp, nn::ScaleOp, nn::MulOp,
                        nn::CastOp, nn::KeepOp, nn::FillOp, nn::AddOp,
                        nn::DropoutOp, nn::ReduceSumOp, nn::ReshapeOp,
                        nn::SplitOp, nn::ConcatOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::ReluGradOp, nn::GeluGradOp, nn::SiluGradOp,
                          nn::TanhGradOp, nn::SigmoidGradOp, nn::SwigluGradOp,
                          nn::DropoutGradOp, nn::SGDOp, nn::AdamOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateElements);
