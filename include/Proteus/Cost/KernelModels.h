//===- KernelModels.h - fitted models of kernel times -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models of kernel times with few parameters per device
// (Proteus/Machine/KernelParameters.h), explained in docs/models.md. The
// simulation and proteus-calibrate call the same functions, so that the fitted
// parameters and the simulation agree. All times are in seconds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_KERNELMODELS_H
#define PROTEUS_COST_KERNELMODELS_H

#include "Proteus/Cost/CostModel.h"

namespace proteus::cost {

/// Time of one kernel according to a model.
struct Estimate {
  double seconds = 0;
  bool memoryBound = false; ///< true if memory traffic limits the kernel
};

/// Rules by which a family of kernels cuts products into tiles.
struct TileRules {
  double extraInner;  ///< prologue and epilogue, in elements of the inner size
  double granule;     ///< the inner size is rounded up to a multiple of this
  double leastInner;  ///< smallest part of a split inner dimension
  unsigned mostParts; ///< largest number of parts of the inner dimension
  double splitTime;   ///< seconds to sum the parts of a split
  /// Work per element of the inner size in tiles of 128, 64 and 32, relative to
  /// a tile of 128. Small tiles need more, because they read their operands
  /// more often.
  double perStep[3];
};
/// Returns the rules of matrix products.
const TileRules &productTileRules(bool onMatrixUnits);
/// Returns the rules of convolutions.
const TileRules &convolutionTileRules(bool onMatrixUnits, bool weightGradient);

/// `batch` products of (rows, inner) x (inner, columns), and the rates of the
/// device for them.
struct TiledProduct {
  double batch = 1, rows = 1, columns = 1, inner = 1;
  double bytes = 0;           ///< bytes of operands and results
  double rate = 1;            ///< highest rate, FLOP/s
  double bandwidth = 1;       ///< bytes/s
  double multiprocessors = 1; ///< tiles that run at the same time
};

/// Returns the shortest time over all sizes of square tiles and all splits of
/// the inner dimension. A wave of tiles takes as long as one tile. The last
/// wave, which is rarely full, costs the mean of a full wave and of its share
/// of tiles. The 4-norm combines compute time and memory time, because they
/// overlap well but not perfectly.
Estimate estimateTiled(const TiledProduct &product, const TileRules &rules);

/// Estimates a kernel of Family::Product, described by `kernel.product`.
Estimate estimateProduct(const Device &device,
                         const machine::ProductParameters &parameters,
                         const Kernel &kernel);

/// Estimates a kernel of Family::GroupedProduct. Each product of the batch of
/// `kernel.product` is one group; all groups run in one call.
Estimate estimateGroupedProduct(const Device &device,
                                const machine::ProductParameters &parameters,
                                const machine::GroupedParameters &grouped,
                                const Kernel &kernel);

/// Estimates a kernel of Family::Attention, described by `kernel.attention`.
Estimate estimateAttention(const Device &device,
                           const machine::AttentionParameters &parameters,
                           const Kernel &kernel);

/// Estimates a kernel of Family::Convolution, described by
/// `kernel.convolution`. Returns the time of the fastest algorithm.
Estimate estimateConvolution(const Device &device,
                             const machine::ConvolutionParameters &parameters,
                             const Kernel &kernel);

/// Returns the class of a memory-bound family; MemoryClass::Stream for families
/// without a class of their own.
machine::MemoryClass memoryClassOf(Family family);

/// Estimates a memory-bound kernel that moves `kernel.bytes`.
Estimate estimateMemory(const Device &device,
                        const machine::MemoryParameters &parameters,
                        const Kernel &kernel);

/// Estimates a kernel of any family. The device must have kernel parameters.
Answer estimateKernel(const Device &device, const KernelModelOptions &options,
                      const Kernel &kernel);

} // namespace proteus::cost

#endif // PROTEUS_COST_KERNELMODELS_H
