//===- KernelParameters.h - how fast kernels of a device are ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The section "kernels" of a device file: what proteus-calibrate fits, and what
// the models of Proteus/Cost/KernelModels.h read. Efficiencies are shares of
// the rates of the datasheet.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_KERNELPARAMETERS_H
#define PROTEUS_MACHINE_KERNELPARAMETERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace proteus::machine {

enum class DType : uint8_t;

/// What parameters were taken from.
enum class Basis : uint8_t {
  Measured,  ///< fitted to measurements on this device
  SameChip,  ///< fitted to measurements on the same chip, with other memory
  Datasheet, ///< means of other devices, scaled by the datasheet
};
/// "measured", as in device files.
llvm::StringRef stringify(Basis basis);
llvm::ArrayRef<Basis> allBases();

/// Where a set of parameters comes from and how far it may be off.
struct Provenance {
  Basis basis = Basis::Datasheet;
  double error = 0; ///< mean relative error on shapes that were not fitted
};

/// Matrix products of one element type.
struct ProductParameters : Provenance {
  /// Whether units for matrices multiply, or those for vectors.
  bool onMatrixUnits = true;
  double efficiency = 1;
  double memoryEfficiency = 1;
  double fixedTime = 0; ///< seconds
};

/// Products of many groups in one call (experts), relative to one product.
struct GroupedParameters : Provenance {
  double factor = 1;       ///< of the rate of a product
  double dataGradient = 1; ///< of that rate
  double weightGradient = 1;
  double groupTime = 0; ///< seconds per group
};

/// Fused attention.
struct AttentionParameters : Provenance {
  double forward = 1;   ///< efficiency
  double backward = 1;  ///< efficiency
  double tail = 0;      ///< share of the longest row that nothing hides
  double fixedTime = 0; ///< seconds
};

/// Convolutions of one element type.
struct ConvolutionParameters : Provenance {
  bool onMatrixUnits = true;
  double efficiency = 1;
  double dataGradient = 1; ///< factors of the rate
  double weightGradient = 1;
  double stridedDataGradient = 1;
  double fewChannels = 1; ///< fewer than 8 channels that are apart
  double fewChannelsWeightGradient = 1; ///< on top of both factors
  double winograd = 0; ///< rate of transformed products; 0: there are none
  double memoryEfficiency = 1;
  double fixedTime = 0; ///< seconds
};

/// How memory-bound kernels differ.
enum class MemoryClass : uint8_t {
  Stream,     ///< element-wise, copies, sums
  Norm,       ///< rows are reduced and rescaled
  Activation, ///< gated activations
  Rope,
  Embedding,
  Softmax, ///< softmax and cross-entropy
};
constexpr unsigned numMemoryClasses = 6;
llvm::StringRef stringify(MemoryClass kind);
llvm::ArrayRef<MemoryClass> allMemoryClasses();

/// Memory-bound kernels of one class.
struct MemoryParameters : Provenance {
  double efficiency = 1;
  double fixedTime = 0; ///< seconds
};

/// All of a device.
struct KernelParameters {
  std::vector<std::pair<DType, ProductParameters>> products;
  GroupedParameters grouped;
  AttentionParameters attention;
  std::vector<std::pair<DType, ConvolutionParameters>> convolutions;
  std::array<MemoryParameters, numMemoryClasses> memory;

  /// The parameters of `type`. Types that have none are taken for the nearest
  /// that has: 16-bit types for each other, any other for F32, which always has
  /// some.
  const ProductParameters &product(DType type) const;
  const ConvolutionParameters &convolution(DType type) const;
  const MemoryParameters &of(MemoryClass kind) const {
    return memory[static_cast<unsigned>(kind)];
  }
};

/// The section as it is written into device files.
std::string formatKernels(const KernelParameters &kernels,
                          llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_KERNELPARAMETERS_H
