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

/// Rows of queries that one block of threads works on.
static constexpr double forwardBlock = 256, backwardBlock = 128;
/// Products of the backward pass per product of the forward pass: five of which
/// one repeats the scores, against two.
static constexpr double backwardWork = 2.5;

/// Kernels exist for some sizes of heads; others are padded to the next one.
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
  // Both products run over the larger of the two sizes.
  double head = paddedHead(std::max(attention.keyDim, attention.valueDim));
  double perBlock = 4 * rows * columns * head * (isBackward ? backwardWork : 1);
  // A block on the diagonal is computed whole.
  double all = queryBlocks * keyBlocks;
  double visited =
      attention.visited >= 1
          ? all
          : std::min(all, attention.visited * all + queryBlocks / 2);
  double total = attention.batch * attention.heads * visited * perBlock;
  // The longest row of blocks is one piece of work. Pieces are handed out in
  // turn, so that some multiprocessors end later than others.
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
