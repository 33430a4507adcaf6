//===- KernelParameters.h - fitted parameters of kernels --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters in the section "kernels" of a device file. proteus-calibrate
// fits them to measurements; the models of Proteus/Cost/KernelModels.h read
// them. Efficiencies are shares of the rates in the datasheet.
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

/// Sources of the parameters of kernels.
enum class Basis : uint8_t {
  Measured, ///< fitted to measurements on this device
  /// Fitted to measurements on another device with the same chip.
  SameChip,
  /// Mean efficiencies of other devices, applied to the rates of the datasheet.
  Datasheet,
};
/// Returns the name of `basis` in device files, for example "measured".
llvm::StringRef stringify(Basis basis);
llvm::ArrayRef<Basis> allBases();

/// Source and accuracy of a set of parameters.
struct Provenance {
  Basis basis = Basis::Datasheet;
  double error = 0; ///< mean relative error on shapes that were not fitted
};

/// Parameters of matrix products of one element type.
struct ProductParameters : Provenance {
  /// True if the products run on the matrix units; false if they run on the
  /// vector units.
  bool onMatrixUnits = true;
  double efficiency = 1;       ///< share of the compute rate
  double memoryEfficiency = 1; ///< share of the memory bandwidth
  double fixedTime = 0;        ///< seconds per kernel
};

/// Parameters of kernels that compute one product for each of many groups
/// (experts). The factors multiply the rate that a single product would have.
struct GroupedParameters : Provenance {
  double factor = 1;         ///< factor on the rate of all grouped products
  double dataGradient = 1;   ///< further factor for data gradients
  double weightGradient = 1; ///< further factor for weight gradients
  double groupTime = 0;      ///< seconds per group
};

/// Parameters of fused attention.
struct AttentionParameters : Provenance {
  double forward = 1;  ///< efficiency of the forward pass
  double backward = 1; ///< efficiency of the backward pass
  /// At the end of the kernel, some multiprocessors still compute their last
  /// row of blocks while others are idle. The model therefore adds `tail` times
  /// the work of the longest row to the mean work per multiprocessor.
  double tail = 0;
  double fixedTime = 0; ///< seconds per kernel
};

/// Parameters of convolutions of one element type.
struct ConvolutionParameters : Provenance {
  bool onMatrixUnits = true; ///< see ProductParameters
  double efficiency = 1;     ///< share of the compute rate
  // Factors on the rate, relative to the forward pass.
  double dataGradient = 1;
  double weightGradient = 1;
  double stridedDataGradient = 1; ///< further factor for strides above 1
  /// Factor on the rate if there are fewer than 8 input channels. It does not
  /// apply if the kernel runs on matrix units and the channels of a pixel are
  /// adjacent in memory.
  double fewChannels = 1;
  /// Further factor on the rate of weight gradients with fewer than 8 input
  /// channels, in addition to `fewChannels` and `weightGradient`.
  double fewChannelsWeightGradient = 1;
  /// Efficiency of convolutions that the library computes as products after a
  /// transform (Winograd, Fourier). 0 if the library has no such kernels.
  double winograd = 0;
  double memoryEfficiency = 1; ///< share of the memory bandwidth
  double fixedTime = 0;        ///< seconds per kernel
};

/// Classes of memory-bound kernels.
enum class MemoryClass : uint8_t {
  Stream,     ///< element-wise, copies, sums
  Norm,       ///< normalisations: reduce and rescale rows
  Activation, ///< gated activations
  Rope,
  Embedding,
  Softmax, ///< softmax and cross-entropy
};
constexpr unsigned numMemoryClasses = 6;
/// Returns the name of `kind` in device files, for example "stream".
llvm::StringRef stringify(MemoryClass kind);
llvm::ArrayRef<MemoryClass> allMemoryClasses();

/// Parameters of one class of memory-bound kernels.
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

  /// Returns the parameters of `type`. If `type` has no parameters, returns
  /// those of a similar type: F16 for BF16, BF16 for F16, F8 for I8. If the
  /// similar type has no parameters either, returns those of F32, which always
  /// exist.
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
