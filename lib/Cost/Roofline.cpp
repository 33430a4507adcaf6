//===- Roofline.cpp - kernels at the limit of the datasheet ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/CostModel.h"

#include <algorithm>

using namespace proteus::cost;

/// Expected mean relative error of the roofline model. Kernels take up to twice
/// the time that the model predicts.
static constexpr double rooflineUncertainty = 0.4;

namespace {
class RooflineModel : public KernelCostModel {
public:
  explicit RooflineModel(const Device &device) : device(device) {}

  Answer cost(const Kernel &kernel) const override {
    double peak = device.peak(kernel.type);
    if (!kernel.matrix)
      peak = std::min(peak, device.peak(DType::F32));
    double compute = kernel.flops / peak;
    double memory = kernel.bytes / device.memoryBandwidth;
    return {fromSeconds(std::max(compute, memory) +
                        kernel.steps * device.kernelOverhead),
            Source::Roofline, rooflineUncertainty, memory > compute};
  }

private:
  Device device;
};
} // namespace

std::unique_ptr<KernelCostModel>
proteus::cost::createRooflineModel(const Device &device) {
  return std::make_unique<RooflineModel>(device);
}
