//===- GemmModel.cpp - matrix products in tiles and waves -----------------===//
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

/// Rows and columns of square tiles. More sizes do not improve the fit.
static constexpr double tileSizes[] = {128, 64, 32};
/// Cost of the unused multiprocessors in the last wave, relative to used ones.
/// With 0, the last wave costs only its share of tiles; with 1, it costs a full
/// wave.
static constexpr double waveQuantisation = 0.5;
/// Largest number of parts with results that move through memory. If a product
/// is split into more parts, the results of the other parts stay in the cache.
static constexpr double mostStoredParts = 8;
/// Factor on the rate of weight gradients. They are slower because their
/// operands are not contiguous along the inner dimension.
static constexpr double weightGradientRate = 0.965;
/// Factor on the rate of batched products of 16-bit types if the rows of a
/// matrix do not begin at multiples of 16 bytes. Such products run on the
/// vector units. The factor was fitted to end-to-end times of unfused attention
/// with head sizes that are not multiples of 8.
static constexpr double misalignedRate = 0.06;

const TileRules &proteus::cost::productTileRules(bool onMatrixUnits) {
  static constexpr TileRules matrix = {91, 32, 128, 32, 2e-6, {1, 1.36, 2.09}};
  static constexpr TileRules vector = {48, 32, 128, 32, 2e-6, {1, 1.18, 1.54}};
  return onMatrixUnits ? matrix : vector;
}

/// Returns the time of two activities that overlap, but not perfectly. It is
/// the 4-norm of their times, (a^4 + b^4)^(1/4).
static double overlapped(double a, double b) {
  double a2 = a * a, b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

Estimate proteus::cost::estimateTiled(const TiledProduct &product,
                                      const TileRules &rules) {
  double results = product.batch * product.rows * product.columns;
  Estimate best{1e300, false};
  for (unsigned t = 0; t < std::size(tileSizes); ++t) {
    double tile = tileSizes[t];
    double tiles = product.batch * std::ceil(product.rows / tile) *
                   std::ceil(product.columns / tile);
    for (unsigned parts = 1; parts <= rules.mostParts; parts *= 2) {
      if (parts > 1 && product.inner < parts * rules.leastInner)
        break;
      double waves = tiles * parts / product.multiprocessors;
      waves = waveQuantisation * std::ceil(waves) +
              (1 - waveQuantisation) * std::max(waves, 1.0);
      double inner =
          rules.granule * std::ceil(product.inner / (rules.granule * parts));
      double compute = waves * 2 * tile * tile *
                       (rules.perStep[t] * inner + rules.extraInner) *
                       product.multiprocessors / product.rate;
      double stored =
          parts > 1 ? 2 * results * std::min<double>(parts, mostStoredParts)
                    : 0;
      double memory = (product.bytes + stored) / product.bandwidth;
      double time =
          overlapped(compute, memory) + (parts > 1 ? rules.splitTime : 0);
      if (time < best.seconds)
        best = {time, memory > compute};
    }
  }
  return best;
}

static bool isMisaligned(const Kernel &kernel) {
  const MatrixProduct &product = *kernel.product;
  auto offAlignment = [](double size) { return std::fmod(size, 8) != 0; };
  return product.batch > 1 && byteWidth(kernel.type) == 2 &&
         (offAlignment(product.inner) || offAlignment(product.columns));
}

/// Returns the sizes and rates of the product of `kernel`. `rate` does not
/// contain the factors for the pass and for grouped or misaligned products; the
/// caller multiplies `rate` by them.
static TiledProduct tiledProductOf(const Device &device,
                                   const proteus::machine::ProductParameters &p,
                                   const Kernel &kernel) {
  const MatrixProduct &product = *kernel.product;
  TiledProduct tiled;
  tiled.batch = product.batch;
  tiled.rows = product.rows / product.batch;
  tiled.columns = product.columns;
  tiled.inner = product.inner;
  tiled.bytes = kernel.bytes + (kernel.accumulates ? kernel.resultBytes : 0);
  tiled.rate = p.efficiency * device.sustained * device.peak(kernel.type);
  tiled.bandwidth = p.memoryEfficiency * device.memoryBandwidth;
  tiled.multiprocessors = static_cast<double>(device.multiprocessors);
  return tiled;
}

Estimate
proteus::cost::estimateProduct(const Device &device,
                               const machine::ProductParameters &parameters,
                               const Kernel &kernel) {
  TiledProduct tiled = tiledProductOf(device, parameters, kernel);
  if (kernel.pass == Pass::WeightGradient)
    tiled.rate *= weightGradientRate;
  if (parameters.onMatrixUnits && isMisaligned(kernel))
    tiled.rate *= misalignedRate;
  Estimate estimate =
      estimateTiled(tiled, productTileRules(parameters.onMatrixUnits));
  estimate.seconds += parameters.fixedTime;
  return estimate;
}

Estimate proteus::cost::estimateGroupedProduct(
    const Device &device, const machine::ProductParameters &parameters,
    const machine::GroupedParameters &grouped, const Kernel &kernel) {
  TiledProduct tiled = tiledProductOf(device, parameters, kernel);
  tiled.rate *= grouped.factor;
  if (kernel.pass == Pass::DataGradient)
    tiled.rate *= grouped.dataGradient;
  if (kernel.pass == Pass::WeightGradient)
    tiled.rate *= grouped.weightGradient;
  // Libraries do not split the inner size of grouped products.
  TileRules rules = productTileRules(parameters.onMatrixUnits);
  rules.mostParts = 1;
  Estimate estimate = estimateTiled(tiled, rules);
  estimate.seconds +=
      parameters.fixedTime + kernel.product->batch * grouped.groupTime;
  return estimate;
}
