//===- Measurements.h - measured times of kernels ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured kernels, and readers of published tables of them. A reader turns
// each row into the same description of a kernel as the simulation uses, so
// that measured and modelled times are comparable. proteus-calibrate fits
// models to the measurements; profiles replace modelled times by them. Errors
// contain the file and the line or key.
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
  std::string device; ///< name of the device in the table; empty if not given
  std::string label;  ///< origin of the kernel, such as the model it is part of
  /// True if the kernel was measured within a training step. If false, the
  /// kernel was called alone and repeatedly, at a higher clock than a step
  /// sustains.
  bool inStep = false;
};
using Measurements = std::vector<Measurement>;

/// Returns the kernel of `batch` products of equal size, with operands of
/// `type` and results of `resultType`.
Kernel makeProduct(double batch, double rows, double columns, double inner,
                   DType type, DType resultType, Pass pass = Pass::Forward,
                   bool accumulates = false);
/// Returns the kernel of `groups` products of equal size in one call.
Kernel makeGroupedProduct(double groups, double rows, double columns,
                          double inner, DType type, DType resultType,
                          Pass pass = Pass::Forward, bool accumulates = false);
/// Returns the kernel of a forward or backward pass of fused attention.
Kernel makeAttention(const Attention &attention, DType type, bool backward);
/// Returns the kernel of one pass of a convolution.
Kernel makeConvolution(const Convolution &convolution, DType type, Pass pass);
/// Returns a memory-bound kernel that moves `bytes`.
Kernel makeMemoryKernel(Family family, double bytes, DType type);

/// Reads the matrix products of Vidur, forward in bf16. Columns:
/// gpu,model,op,tp,M_tokens,N,K,time_ms_median.
llvm::Expected<Measurements> readVidurProducts(llvm::StringRef text,
                                               llvm::StringRef source);
/// Reads the memory-bound kernels of Vidur. Columns: gpu,model,tp,tokens,hidden
/// and one column of milliseconds per operation. The bytes of activations and
/// rotary embeddings depend on the widths of the model, which `products`
/// contains. Skips these operations for models without products.
llvm::Expected<Measurements>
readVidurMemoryKernels(llvm::StringRef text, llvm::StringRef source,
                       const Measurements &products);
/// Reads the efficiencies by shape of SimuMax: "matmul", "group_matmul",
/// "sdp_fwd" and "sdp_bwd". Its efficiencies of causal attention count the
/// operations of all pairs of queries and keys.
llvm::Expected<Measurements> readSimuMax(llvm::StringRef text,
                                         llvm::StringRef source);
/// Reads the matrix products of OpenXLA. Columns: gpu,b,m,n,k,dtype,tflops.
llvm::Expected<Measurements> readOpenXLA(llvm::StringRef text,
                                         llvm::StringRef source);
/// Reads a sheet of DeepBench training: products, then convolutions.
llvm::Expected<Measurements> readDeepBench(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::cost

#endif // PROTEUS_COST_MEASUREMENTS_H
