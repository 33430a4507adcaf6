//===- ReferenceRoofline.h - kernel costs of the reference ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times of kernels as the published Proteus computes them: by a roofline, from
// the class of an operation ("Linear") and the shapes of its operands on one
// device. This model serves fidelity=paper and `proteus parity`.
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

/// The reference's model of kernels on one type of device.
class ReferenceRoofline {
public:
  /// Constants under "compute" in validation/reference/constants.json.
  struct Constants {
    double flops = 0;           ///< FLOP/s
    double memoryBandwidth = 0; ///< bytes/s
    double bytesPerElement = 0;
    double memoryBoundGemmExtra = 0; ///< ms added to memory-bound products
    double elementwiseFloor = 0;     ///< shortest element-wise kernel, ms
  };
  static llvm::Expected<Constants> parseConstants(llvm::StringRef text,
                                                  llvm::StringRef source);
  static llvm::Expected<ReferenceRoofline> parse(llvm::StringRef text,
                                                 llvm::StringRef source);
  explicit ReferenceRoofline(const Constants &constants)
      : constants(constants) {}

  /// Returns the time in ms of a kernel of this project. Such a kernel has
  /// sizes instead of operand shapes. The time of a product follows from its
  /// rows, columns and inner size; a bias adds one more pass over the result.
  /// The time of any other matrix kernel follows from its FLOPs and bytes. The
  /// time of all other kernels follows from their bytes only. Elements have the
  /// width of the kernel's type.
  double milliseconds(const Kernel &kernel) const;

  using Shape = std::vector<int64_t>;

  /// Returns the time in ms of an operation. `op` is its class in the
  /// reference, such as "Linear" or "Conv2dBW". The `outputs` of a gradient
  /// class ("BW") are gradients; the gradient of an input is absent if it is
  /// not needed. If the class has no rule of its own, the time is that of
  /// reading or writing each operand once. Fails if the shapes do not fit the
  /// class.
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

/// Creates the cost model of `device`. The F32 peak rate and the memory
/// bandwidth of the device replace those in `constants`. Adds `launchGap`
/// seconds to the time of each kernel.
std::unique_ptr<KernelCostModel>
createReferenceRooflineModel(const Device &device,
                             ReferenceRoofline::Constants constants,
                             double launchGap);

} // namespace proteus::cost

#endif // PROTEUS_REFERENCE_COSTS_REFERENCEROOFLINE_H
