//===- ImageLayout.cpp - costs of the memory layout of images -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the channels of an image are adjacent in memory, batch normalisation reads
// its operands once and keeps them on the processors of the device. Otherwise
// batch normalisation reads its operands twice: once to compute sums and once
// to normalise. The forward pass then moves three tensors instead of two, and
// the backward pass five instead of three.
//
// Convolutions have different kernels for the two layouts.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
class ImageLayout : public Mechanism {
public:
  explicit ImageLayout(const machine::StackParameters &parameters)
      : parameters(parameters) {}

  void changeKernel(Operation *op, const RankContext &,
                    KernelPlan &plan) const override {
    bool last = parameters.hasChannelsLast(plan.kernel.type);
    if (plan.kernel.convolution)
      plan.kernel.convolution->channelsLast = last;
    if (last)
      return;
    if (isa<nn::BatchNormOp>(op))
      plan.kernel.bytes *= 3.0 / 2;
    else if (isa<nn::BatchNormGradOp>(op))
      plan.kernel.bytes *= 5.0 / 3;
  }

private:
  machine::StackParameters parameters;
};
} // namespace

MechanismPtr
proteus::createImageLayout(const machine::StackParameters &parameters) {
  return std::make_unique<ImageLayout>(parameters);
}
