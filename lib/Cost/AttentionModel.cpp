//===- AttentionModel.cpp - fused attention in blocks ---------------------===//
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

/// Number of queries and of keys in a block, which one thread block computes.
static constexpr double forwardBlock = 256, backwardBlock = 128;
/// Work of the backward pass relative to the forward pass: five products, one
/// of which recomputes the scores, instead of two.
static constexpr double backwardWork = 2.5;

/// Returns the head size of the kernel. Kernels exist for some head sizes;
/// others are padded to the next one.
static double paddedHead(double size) {
  double granule = size <= 128 ? 32 : 64;
  return granule * std::ceil(size / granule);
}

Estimate
proteus::cost::estimateAttention(const Device &device,
                                 const machine::AttentionParameters &parameters,
                                 const Kernel &kernel) {
  const Attention &attention = *kernel.attention;
  bool isBackward = kernel.pass != Pass::Forward;
  double block = isBackward ? backwardBlock : forwardBlock;
  // Short sequences get smaller blocks.
  double rows = std::min(block, 16 * std::ceil(attention.queries / 16));
  double columns = std::min(block, 16 * std::ceil(attention.keys / 16));
  double queryBlocks = std::ceil(attention.queries / rows);
  double keyBlocks = std::ceil(attention.keys / columns);
  // Both products use the larger of the two head sizes.
  double head = paddedHead(std::max(attention.keyDim, attention.valueDim));
  double perBlock = 4 * rows * columns * head * (isBackward ? backwardWork : 1);
  // Blocks on the diagonal of a causal mask are computed completely.
  double all = queryBlocks * keyBlocks;
  double visited =
      attention.visited >= 1
          ? all
          : std::min(all, attention.visited * all + queryBlocks / 2);
  double total = attention.batch * attention.heads * visited * perBlock;
  // Each row of blocks is one unit of work. Multiprocessors take the next row
  // when they are free, so that some end later than others. The longest row is
  // a lower bound on the time.
  double longest = std::min(keyBlocks, 2 * visited / queryBlocks) * perBlock;
  double multiprocessors = static_cast<double>(device.multiprocessors);
  double rate = (isBackward ? parameters.backward : parameters.forward) *
                device.sustained * device.peak(kernel.type);
  double compute =
      std::max(longest, total / multiprocessors + parameters.tail * longest) *
      multiprocessors / rate;
  double memory = kernel.bytes / device.memoryBandwidth;
  return {parameters.fixedTime + std::max(compute, memory), memory > compute};
}
