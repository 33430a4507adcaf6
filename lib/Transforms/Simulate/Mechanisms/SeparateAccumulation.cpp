//===- SeparateAccumulation.cpp - kernels that accumulate gradients -------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a parameter is computed and accumulated by two kernels. The
// first one computes the gradient of a micro-batch in the type of its operands.
// The second one adds that gradient to the sum over micro-batches: it reads the
// gradient, and reads and writes the sum.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

#include "Proteus/Dialect/Dist/Layout.h"

using namespace mlir;
using namespace proteus;

namespace {
struct SeparateAccumulation : public Mechanism {
  void changeKernel(Operation *op, const RankContext &,
                    KernelPlan &plan) const override {
    if (!plan.exists || !accumulates(op))
      return;
    cost::Kernel &kernel = plan.kernel;
    double sum = kernel.resultBytes, own = sum;
    Type wide = getElementTypeOrSelf(op->getResult(0).getType());
    for (Type type : op->getOperandTypes())
      if (Type element = getElementTypeOrSelf(type); isa<FloatType>(element))
        own = std::min(own, sum * dist::elementBits(element) /
                                dist::elementBits(wide));
    kernel.accumulates = false;
    kernel.bytes -= sum - own;
    kernel.resultBytes = own;
    cost::Kernel adding;
    adding.family = cost::Family::Stream;
    adding.type = kernel.type;
    adding.pass = kernel.pass;
    adding.bytes = own + 2 * sum;
    adding.resultBytes = sum;
    plan.following.push_back(adding);
  }
};
} // namespace

MechanismPtr proteus::createSeparateAccumulation(
    const machine::StackParameters &parameters) {
  if (!parameters.separateAccumulation)
    return nullptr;
  return std::make_unique<SeparateAccumulation>();
}
