//===- MemoryModel.cpp - kernels that stream their operands ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/KernelModels.h"

#include <algorithm>
#include <cmath>

using namespace proteus::cost;

Estimate
proteus::cost::estimateMemory(const Device &device,
                              const machine::MemoryParameters &parameters,
                              const Kernel &kernel) {
  double compute = kernel.flops /
                   std::min(device.peak(kernel.type), device.peak(DType::F32));
  double memory =
      kernel.bytes / (parameters.efficiency * device.memoryBandwidth);
  double work = std::max(compute, memory);
  // The fixed time f and the time w of the work overlap partly. Together they
  // take (w^3 + f^3)^(1/3).
  double fixed = parameters.fixedTime;
  double once = std::cbrt(work * work * work + fixed * fixed * fixed);
  // Each step after the first adds one more launch.
  return {once + (kernel.steps - 1) * fixed, memory > compute};
}
