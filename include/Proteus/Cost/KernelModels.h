//===- KernelModels.h - fitted models of kernel times -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models of kernel times with few parameters per device
// (Proteus/Machine/KernelParameters.h). docs/models.md explains the models. The
// simulation and proteus-calibrate call the same functions, so that parameters
// from proteus-calibrate are valid in the simulation. All times are in seconds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_KERNELMODELS_H
#define PROTEUS_COST_KERNELMODELS_H

#include "Proteus/Cost/CostModel.h"

namespace proteus::cost {

/// The time that a model predicts for one kernel.
struct Estimate {
  double seconds = 0;
  bool memoryBound = false; ///< true if memory traffic limits the kernel
};

/// Rules by which the kernels of a family cut products into tiles. A kernel may
/// also split the inner size into parts, which multiprocessors compute at the
/// same time, and then add the results of the parts.
struct TileRules {
  /// Time of the prologue and epilogue of a tile, given as a number of
  /// additional elements of the inner size.
  double extraInner;
  double granule;     ///< unit to which the inner size is rounded up
  double leastInner;  ///< smallest inner size of one part
  unsigned mostParts; ///< largest number of parts
  double splitTime;   ///< seconds to add the results of all parts
  /// Relative times of one multiply-add in full tiles of 128 x 128, 64 x 64 and
  /// 32 x 32 results. A multiply-add takes longer in a small tile, because the
  /// tile reads its operands more often.
  double perStep[3];
};
/// Returns the tile rules of matrix products.
const TileRules &productTileRules(bool onMatrixUnits);
/// Returns the tile rules of convolutions.
const TileRules &convolutionTileRules(bool onMatrixUnits, bool weightGradient);

/// `batch` products of (rows, inner) x (inner, columns), and the rates that the
/// device reaches for these products.
struct TiledProduct {
  double batch = 1, rows = 1, columns = 1, inner = 1;
  double bytes = 0;           ///< bytes of operands and results
  double rate = 1;            ///< FLOP/s with full tiles
  double bandwidth = 1;       ///< of the memory, bytes/s
  double multiprocessors = 1; ///< number of tiles that run at the same time
};

/// Returns the shortest time over the sizes of square tiles (128, 64 and 32)
/// and over the numbers of parts into which the inner size may be split. Tiles
/// run in waves of one tile per multiprocessor. A partly filled last wave costs
/// the mean of its share and of a full wave: 2.5 waves cost as much as 2.75. A
/// single wave always costs a full wave. Compute time c and memory time m
/// overlap well but not perfectly; together they take (c^4 + m^4)^(1/4).
Estimate estimateTiled(const TiledProduct &product, const TileRules &rules);

/// Estimates a kernel of Family::Product, described by `kernel.product`.
Estimate estimateProduct(const Device &device,
                         const machine::ProductParameters &parameters,
                         const Kernel &kernel);

/// Estimates a kernel of Family::GroupedProduct. Each product of the batch in
/// `kernel.product` is one group. One kernel computes all groups.
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

/// Returns the class of a memory-bound family. Returns MemoryClass::Stream for
/// a family without a class of its own, such as Family::Update.
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
