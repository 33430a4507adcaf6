//===- KernelRates.cpp - speed of attention and products ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets the speed of fused attention and matrix products relative to the kernel
// model of the device. The stack has one factor per kind of kernel and
// generation of devices, because the speed depends on the age of the libraries
// and on the clock that devices sustain.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
class KernelRates : public Mechanism {
public:
  explicit KernelRates(const machine::StackParameters &parameters)
      : attention(parameters.attentionRates), product(parameters.productRates) {
  }

  void changeKernel(Operation *, const RankContext &rank,
                    KernelPlan &plan) const override {
    if (plan.kernel.family == cost::Family::Attention)
      plan.rate = attention.on(rank.device.architecture);
    else if (plan.kernel.family == cost::Family::Product)
      plan.rate = product.on(rank.device.architecture);
  }

private:
  machine::ArchitectureRates attention, product;
};
} // namespace

MechanismPtr
proteus::createKernelRates(const machine::StackParameters &parameters) {
  if (parameters.attentionRates.empty() && parameters.productRates.empty())
    return nullptr;
  return std::make_unique<KernelRates>(parameters);
}
