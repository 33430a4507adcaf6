//===- ConvertedWeights.cpp - weights converted once per step -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights that products read in a narrower type are converted once per step
// instead of once per micro-batch. The time of this one conversion is
// neglected.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
struct ConvertedWeights : public Mechanism {
  void changeKernel(Operation *, const RankContext &,
                    KernelPlan &plan) const override {
    plan.conversion.weights = false;
  }
};
} // namespace

MechanismPtr
proteus::createConvertedWeights(const machine::StackParameters &parameters) {
  if (!parameters.keepsConvertedWeights)
    return nullptr;
  return std::make_unique<ConvertedWeights>();
}
