//===- ReferenceRoofline.h - kernels as the original costs them -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parity mode for computation: the roofline of the original release, by
// the class of an op and the shapes of its operands on one device.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_COSTS_REFERENCEROOFLINE_H
#define PROTEUS_REFERENCE_COSTS_REFERENCEROOFLINE_H

#include "Proteus/Cost/CostModel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace proteus::cost {

class ReferenceRoofline {
public:
  /// The figures of validation/reference/constants.json under "compute".
  struct Constants {
    double flops = 0;           ///< 1/s
    double memoryBandwidth = 0; ///< bytes/s
    double bytesPerElement = 0;
    double memoryBoundGemmExtra = 0; ///< ms
    double elementwiseFloor = 0;     ///< ms
  };
  static llvm::Expected<Constants> parseConstants(llvm::StringRef text,
                                                  llvm::StringRef source);
  static llvm::Expected<ReferenceRoofline> parse(llvm::StringRef text,
                                                 llvm::StringRef source);
  explicit ReferenceRoofline(const Constants &constants)
      : constants(constants) {}

  /// By sizes instead of shapes: a product if the kernel is one, else its
  /// operations and bytes decide. Elements have the size of the kernel's type.
  double milliseconds(const Kernel &kernel) const;

  using Shape = std::vector<int64_t>;

  /// `op` is the original's name of the class, such as "Linear" or "Conv2dBW";
  /// the gradient of an input that needs none is absent from `outputs`. Classes
  /// without a rule of their own move their operands once. Fails if the shapes
  /// do not fit the class.
  llvm::Expected<double> milliseconds(llvm::StringRef op,
                                      llvm::ArrayRef<Shape> inputs,
                                      llvm::ArrayRef<Shape> outputs) const;

private:
  double matrix(double flops, double bytes) const;
  double gemm(double m, double n, double k) const;
  double elementwise(double elements) const;
  double layer(double rows, llvm::ArrayRef<int64_t> weight,
               const Shape *biased) const;
  double layerGradient(double rows, llvm::ArrayRef<Shape> inputs,
                       llvm::ArrayRef<Shape> outputs) const;

  Constants constants;
};

/// The roofline on `device`, with its rates of F32, and `launchGap` seconds
/// before each kernel.
std::unique_ptr<KernelCostModel>
createReferenceRooflineModel(const Device &device,
                             ReferenceRoofline::Constants constants,
                             double launchGap);

} // namespace proteus::cost

#endif // PROTEUS_REFERENCE_COSTS_REFERENCEROOFLINE_H
