//===- RecurrentKernels.cpp - recurrent layers ------------------*- C++ -*-===//
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
using std::tanh;

namespace {
/// Row-major positions in the states `[batch, time, hidden]` and in the gates
/// `[batch, time, 4 · hidden]`. Steps are numbered in the order of the
/// recurrence, which is backward in time if `reverse` is set.
struct Steps {
  int64_t batch, time, hidden;
  bool reverse;

  template <typename T>
  Steps(const TensorOf<T> &states, bool reverse)
      : batch(states.getDim(0)), time(states.getDim(1)),
        hidden(states.getDim(2)), reverse(reverse) {}

  /// Returns the position of the states of sample `b` at step `number`. The
  /// gates of the step start at four times this position.
  int64_t at(int64_t b, int64_t number) const {
    return (b * time + (reverse ? time - 1 - number : number)) * hidden;
  }
  /// Returns the position of gate `gate` of hidden unit `h`. `state` is the
  /// position of the states of the step. In each step, all gates of one kind
  /// are contiguous.
  int64_t gate(int64_t state, int64_t gate, int64_t h) const {
    return 4 * state + gate * hidden + h;
  }
};
enum Gate { In, Forget, Candidate, Out };
} // namespace

template <typename T> static T sigmoid(T x) { return 1 / (1 + exp(-x)); }

template <typename T>
static void compute(nn::LstmOp op, OperandsOf<T> in, ResultsOf<T> out) {
  TensorOf<T> &states = out[0].data, &gates = out[1].data, &cells = out[2].data;
  const TensorOf<T> &x = *in[0], &w = *in[1];
  Steps steps(states, op.getReverse());
  for (int64_t b = 0; b < steps.batch; ++b)
    for (int64_t t = 0; t < steps.time; ++t) {
      int64_t now = steps.at(b, t), before = t > 0 ? steps.at(b, t - 1) : -1;
      for (int64_t g = 0; g < 4 * steps.hidden; ++g) {
        T sum = x[4 * now + g] + (op.getBias() ? (*in[2])[g] : T(0));
        for (int64_t h = 0; before >= 0 && h < steps.hidden; ++h)
          sum += w[g * steps.hidden + h] * states[before + h];
        gates[4 * now + g] =
            g / steps.hidden == Candidate ? tanh(sum) : sigmoid(sum);
      }
      for (int64_t h = 0; h < steps.hidden; ++h) {
        auto gate = [&](Gate kind) { return gates[steps.gate(now, kind, h)]; };
        T kept = before >= 0 ? gate(Forget) * cells[before + h] : T(0);
        cells[now + h] = kept + gate(In) * gate(Candidate);
        states[now + h] = gate(Out) * tanh(cells[now + h]);
      }
    }
}

static void compute(nn::LstmGradOp op, Operands in, Results out) {
  Tensor &dGates = out[0].data;
  const Tensor &dStates = *in[0], &w = *in[1], &gates = *in[2], &cells = *in[3];
  Steps steps(dStates, op.getReverse());
  for (int64_t b = 0; b < steps.batch; ++b) {
    std::vector<double> dCell(steps.hidden, 0.0);
    for (int64_t t = steps.time - 1; t >= 0; --t) {
      int64_t now = steps.at(b, t);
      int64_t before = t > 0 ? steps.at(b, t - 1) : -1;
      int64_t after = t + 1 < steps.time ? steps.at(b, t + 1) : -1;
      for (int64_t h = 0; h < steps.hidden; ++h) {
        double dState = dStates[now + h];
        for (int64_t g = 0; after >= 0 && g < 4 * steps.hidden; ++g)
          dState += w[g * steps.hidden + h] * dGates[4 * after + g];
        auto gate = [&](Gate kind) { return gates[steps.gate(now, kind, h)]; };
        auto put = [&](Gate kind, double gradient) {
          dGates[steps.gate(now, kind, h)] = gradient;
        };
        double bent = tanh(cells[now + h]);
        dCell[h] += dState * gate(Out) * (1 - bent * bent);
        double previous = before >= 0 ? cells[before + h] : 0;
        auto slope = [](double y) { return y * (1 - y); };
        put(In, dCell[h] * gate(Candidate) * slope(gate(In)));
        put(Forget, dCell[h] * previous * slope(gate(Forget)));
        put(Candidate,
            dCell[h] * gate(In) * (1 - gate(Candidate) * gate(Candidate)));
        put(Out, dState * bent * slope(gate(Out)));
        dCell[h] *= gate(Forget);
      }
    }
  }
}

static void compute(nn::LstmWgradOp op, Operands in, Results out) {
  Tensor &dw = out[0].data;
  const Tensor &dGates = *in[0], &states = *in[1];
  Steps steps(states, op.getReverse());
  for (int64_t b = 0; b < steps.batch; ++b)
    for (int64_t t = 1; t < steps.time; ++t)
      for (int64_t g = 0; g < 4 * steps.hidden; ++g)
        for (int64_t h = 0; h < steps.hidden; ++h)
          dw[g * steps.hidden + h] +=
              dGates[4 * steps.at(b, t) + g] * states[steps.at(b, t - 1) + h];
}

template <typename T>
Evaluated proteus::interp::evaluateRecurrent(Operation *op, OperandsOf<T> in,
                                             ResultsOf<T> out) {
  auto run = [&](auto kernel) {
    compute(kernel, in, out);
    return success();
  };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::LstmOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels.template Case<nn::LstmGradOp, nn::LstmWgradOp>(run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateRecurrent);
