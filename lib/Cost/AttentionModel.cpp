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

/// Number of queries in a block of scores. The number of keys in a block is the
/// same.
static constexpr double forwardBlock = 256, backwardBlock = 128;
/// Work of the backward pass relative to the forward pass: five products
/// instead of two. One of the five recomputes the scores.
static constexpr double backwardWork = 2.5;

/// Returns `size` padded to the next head size for which a kernel exists: a
/// multiple of 32 up to 128, a multiple of 64 above.
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
  // Short sequences have smaller blocks.
  double rows = std::min(block, 16 * std::ceil(attention.queries / 16));
  double columns = std::min(block, 16 * std::ceil(attention.keys / 16));
  double queryBlocks = std::ceil(attention.queries / rows);
  double keyBlocks = std::ceil(attention.keys / columns);
  // One product has the head size `keyDim`, the other has `valueDim`. Use the
  // larger size for both.
  double head = paddedHead(std::max(attention.keyDim, attention.valueDim));
  double perBlock = 4 * rows * columns * head * (isBackward ? backwardWork : 1);
  // Blocks on the diagonal of a causal mask are computed completely, which adds
  // half a block per row of blocks.
  double all = queryBlocks * keyBlocks;
  double visited =
      attention.visited >= 1
          ? all
          : std::min(all, attention.visited * all + queryBlocks / 2);
  double total = attention.batch * attention.heads * visited * perBlock;
  // One multiprocessor computes one row of blocks. At the end of the kernel,
  // some multiprocessors still compute their last row while others are idle.
  // The time is at least that of the longest row.
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
