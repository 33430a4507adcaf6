//===- KernelModels.h - how long kernels take -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models with few parameters per device (Proteus/Machine/KernelParameters.h),
// which docs/models.md explains. Simulations and proteus-calibrate call the
// same functions: what was fitted is what is used. All are in seconds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_KERNELMODELS_H
#define PROTEUS_COST_KERNELMODELS_H

#include "Proteus/Cost/CostModel.h"

namespace proteus::cost {

/// What a model says about one kernel.
struct Estimate {
  double seconds = 0;
  bool memoryBound = false;
};

/// How a family of kernels cuts products into tiles.
struct TileRules {
  double extraInner;  ///< prologue and epilogue, in steps of the inner size
  double granule;     ///< the inner size is rounded up to it
  double leastInner;  ///< that a part of a split inner dimension has
  unsigned mostParts; ///< into which the inner dimension is split
  double splitTime;   ///< seconds that summing up the parts takes
  /// Work per step of the inner size in tiles of 128, 64 and 32, for the
  /// operands that small tiles read more often.
  double perStep[3];
};
const TileRules &productTileRules(bool onMatrixUnits);
const TileRules &convolutionTileRules(bool onMatrixUnits, bool weightGradient);

/// `batch` products of (rows, inner) x (inner, columns).
struct TiledProduct {
  double batch = 1, rows = 1, columns = 1, inner = 1;
  double bytes = 0;           ///< of operands and results
  double rate = 1;            ///< FLOP/s at best
  double bandwidth = 1;       ///< bytes/s
  double multiprocessors = 1; ///< tiles that run at the same time
};

/// The fastest way to cut the products into square tiles and the inner
/// dimension into parts. A wave of tiles takes as long as one tile; the last
/// wave is half as full as it looks. Compute and memory overlap well but not
/// perfectly.
Estimate estimateTiled(const TiledProduct &product, const TileRules &rules);

/// A product of `kernel.product` with equal matrices.
Estimate estimateProduct(const Device &device,
                         const machine::ProductParameters &parameters,
                         const Kernel &kernel);

/// `kernel.product` as a batch of groups in one call.
Estimate estimateGroupedProduct(const Device &device,
                                const machine::ProductParameters &parameters,
                                const machine::GroupedParameters &grouped,
                                const Kernel &kernel);

/// `kernel.attention`.
Estimate estimateAttention(const Device &device,
                           const machine::AttentionParameters &parameters,
                           const Kernel &kernel);

/// `kernel.convolution`.
Estimate estimateConvolution(const Device &device,
                             const machine::ConvolutionParameters &parameters,
                             const Kernel &kernel);

/// The class of a memory-bound family.
machine::MemoryClass memoryClassOf(Family family);

/// A kernel that moves `kernel.bytes`.
Estimate estimateMemory(const Device &device,
                        const machine::MemoryParameters &parameters,
                        const Kernel &kernel);

/// Any kernel on a device that has parameters.
Answer estimateKernel(const Device &device, const KernelModelOptions &options,
                      const Kernel &kernel);

} // namespace proteus::cost

#endif // PROTEUS_COST_KERNELMODELS_H
