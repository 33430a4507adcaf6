//===- KernelParameters.h - fitted parameters of kernels --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The section "kernels" of a device file. proteus-calibrate fits these
// parameters; the models of Proteus/Cost/KernelModels.h read them. Efficiencies
// are shares of the rates of the datasheet.
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

/// Bases of parameters.
enum class Basis : uint8_t {
  Measured,  ///< fitted to measurements on this device
  SameChip,  ///< fitted to measurements on the same chip with other memory
  Datasheet, ///< means of other devices, scaled by the datasheet
};
/// Returns the name of `basis` in device files: "measured".
llvm::StringRef stringify(Basis basis);
llvm::ArrayRef<Basis> allBases();

/// Basis and accuracy of a set of parameters.
struct Provenance {
  Basis basis = Basis::Datasheet;
  double error = 0; ///< mean relative error on shapes outside the fit
};

/// Matrix products of one element type.
struct ProductParameters : Provenance {
  /// True if the products run on the matrix units; false if they run on the
  /// vector units.
  bool onMatrixUnits = true;
  double efficiency = 1;       ///< share of the compute rate
  double memoryEfficiency = 1; ///< share of the memory bandwidth
  double fixedTime = 0;        ///< seconds per kernel
};

/// Products of many groups (experts) in one call, relative to one product.
struct GroupedParameters : Provenance {
  double factor = 1;         ///< factor on the rate of a product
  double dataGradient = 1;   ///< further factor of data gradients
  double weightGradient = 1; ///< further factor of weight gradients
  double groupTime = 0;      ///< seconds per group
};

/// Fused attention.
struct AttentionParameters : Provenance {
  double forward = 1;  ///< efficiency of the forward pass
  double backward = 1; ///< efficiency of the backward pass
  /// Share of the work of the longest row of blocks that overlaps with no other
  /// work.
  double tail = 0;
  double fixedTime = 0; ///< seconds per kernel
};

/// Convolutions of one element type.
struct ConvolutionParameters : Provenance {
  bool onMatrixUnits = true; ///< as in ProductParameters
  double efficiency = 1;     ///< share of the compute rate
  // Factors on the rate.
  double dataGradient = 1;
  double weightGradient = 1;
  double stridedDataGradient = 1; ///< data gradients with a stride
  /// Images with fewer than 8 channels, unless matrix units read them
  /// channels-last.
  double fewChannels = 1;
  /// Weight gradients of such images, in addition to `fewChannels` and
  /// `weightGradient`.
  double fewChannelsWeightGradient = 1;
  /// Efficiency of products after a transform (Winograd, Fourier); 0 if the
  /// library does not transform.
  double winograd = 0;
  double memoryEfficiency = 1; ///< share of the memory bandwidth
  double fixedTime = 0;        ///< seconds per kernel
};

/// Classes of memory-bound kernels.
enum class MemoryClass : uint8_t {
  Stream,     ///< element-wise, copies, sums
  Norm,       ///< rows are reduced and rescaled
  Activation, ///< gated activations
  Rope,
  Embedding,
  Softmax, ///< softmax and cross-entropy
};
constexpr unsigned numMemoryClasses = 6;
/// Returns the name of `kind` in device files: "stream".
llvm::StringRef stringify(MemoryClass kind);
llvm::ArrayRef<MemoryClass> allMemoryClasses();

/// Memory-bound kernels of one class.
struct MemoryParameters : Provenance {
  double efficiency = 1; ///< share of the memory bandwidth
  double fixedTime = 0;  ///< seconds per kernel
};

/// All kernel parameters of a device.
struct KernelParameters {
  std::vector<std::pair<DType, ProductParameters>> products;
  GroupedParameters grouped;
  AttentionParameters attention;
  std::vector<std::pair<DType, ConvolutionParameters>> convolutions;
  std::array<MemoryParameters, numMemoryClasses> memory;

  /// Returns the parameters of `type`. A type without parameters takes those of
  /// a similar type: BF16 and F16 take those of each other, I8 those of F8.
  /// Otherwise it takes those of F32, which always exist.
  const ProductParameters &product(DType type) const;
  const ConvolutionParameters &convolution(DType type) const;
  const MemoryParameters &of(MemoryClass kind) const {
    return memory[static_cast<unsigned>(kind)];
  }
};

/// Returns the section "kernels" as JSON text for a device file.
std::string formatKernels(const KernelParameters &kernels,
                          llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_KERNELPARAMETERS_H
