//===- Measurements.h - measured times of kernels ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured kernels, and readers of published tables of measured kernels. A
// reader converts each row of a table to a cost::Kernel, which the simulation
// uses too. Measured and modelled times are therefore comparable.
// proteus-calibrate fits models to the measurements; profiles correct modelled
// times by measured times. Error messages contain the file and the line or key.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_MEASUREMENTS_H
#define PROTEUS_COST_MEASUREMENTS_H

#include "Proteus/Cost/CostModel.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus::cost {

/// Measured time of one kernel.
struct Measurement {
  Kernel kernel;
  double seconds = 0;
  std::string device; ///< name in the table; empty if the table has none
  std::string label;  ///< origin of the kernel, such as a model
  /// True if the kernel was measured within a training step. If false, only
  /// this kernel was run repeatedly, at a higher clock than a step sustains.
  bool inStep = false;
};
using Measurements = std::vector<Measurement>;

/// Returns the kernel of `batch` products of equal size, with operands of
/// `type` and results of `resultType`.
Kernel makeProduct(double batch, double rows, double columns, double inner,
                   DType type, DType resultType, Pass pass = Pass::Forward,
                   bool accumulates = false);
/// Returns the kernel that computes `groups` products of equal size.
Kernel makeGroupedProduct(double groups, double rows, double columns,
                          double inner, DType type, DType resultType,
                          Pass pass = Pass::Forward, bool accumulates = false);
/// Returns the kernel of the forward or backward pass of fused attention.
Kernel makeAttention(const Attention &attention, DType type, bool backward);
/// Returns the kernel of one pass of a convolution.
Kernel makeConvolution(const Convolution &convolution, DType type, Pass pass);
/// Returns a memory-bound kernel that moves `bytes`.
Kernel makeMemoryKernel(Family family, double bytes, DType type);

/// Reads Vidur's table of matrix products. All are forward products in bf16.
/// Columns: gpu,model,op,tp,M_tokens,N,K,time_ms_median.
llvm::Expected<Measurements> readVidurProducts(llvm::StringRef text,
                                               llvm::StringRef source);
/// Reads Vidur's table of memory-bound kernels. Columns:
/// gpu,model,tp,tokens,hidden and one column of milliseconds for each
/// operation. The bytes of activations and rotary embeddings depend on the
/// widths of the model, which are taken from `products`. Skips these two
/// operations for models that `products` does not contain.
llvm::Expected<Measurements>
readVidurMemoryKernels(llvm::StringRef text, llvm::StringRef source,
                       const Measurements &products);
/// Reads a system file of SimuMax, which contains the efficiency of each
/// measured shape for "matmul", "group_matmul", "sdp_fwd" and "sdp_bwd".
/// SimuMax computes the efficiencies of causal attention as if all (query, key)
/// pairs were computed.
llvm::Expected<Measurements> readSimuMax(llvm::StringRef text,
                                         llvm::StringRef source);
/// Reads OpenXLA's table of matrix products. Columns: gpu,b,m,n,k,dtype,tflops.
llvm::Expected<Measurements> readOpenXLA(llvm::StringRef text,
                                         llvm::StringRef source);
/// Reads a table of DeepBench's training kernels: products, then convolutions.
llvm::Expected<Measurements> readDeepBench(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::cost

#endif // PROTEUS_COST_MEASUREMENTS_H
