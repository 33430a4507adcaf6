//===- Measurements.h - times of kernels that were measured -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of published tables. Each turns rows into the kernels that
// simulations know, so that fits and profiles compare like with like. Errors
// name the file and the place in it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_MEASUREMENTS_H
#define PROTEUS_COST_MEASUREMENTS_H

#include "Proteus/Cost/CostModel.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus::cost {

struct Measurement {
  Kernel kernel;
  double seconds = 0;
  std::string device; ///< as the table calls it; empty: it does not say
  std::string label;  ///< the model and the like, of which it is a part
  /// Taken from a step of training. Otherwise the kernel was called by itself,
  /// again and again, at a clock that a step does not sustain.
  bool inStep = false;
};
using Measurements = std::vector<Measurement>;

/// A product of `batch` equal matrices in `type`, with results of `resultType`.
Kernel makeProduct(double batch, double rows, double columns, double inner,
                   DType type, DType resultType, Pass pass = Pass::Forward,
                   bool accumulates = false);
/// The same of groups in one call.
Kernel makeGroupedProduct(double groups, double rows, double columns,
                          double inner, DType type, DType resultType,
                          Pass pass = Pass::Forward, bool accumulates = false);
Kernel makeAttention(const Attention &attention, DType type, bool backward);
Kernel makeConvolution(const Convolution &convolution, DType type, Pass pass);
/// A memory-bound kernel.
Kernel makeMemoryKernel(Family family, double bytes, DType type);

/// gpu,model,op,tp,M_tokens,N,K,time_ms_median: forward products in bf16.
llvm::Expected<Measurements> readVidurProducts(llvm::StringRef text,
                                               llvm::StringRef source);
/// gpu,model,tp,tokens,hidden and a column of milliseconds for each operation.
/// Rows of activations and rotary embeddings need the widths of the model,
/// which are those of `products`; without them they are left out.
llvm::Expected<Measurements>
readVidurMemoryKernels(llvm::StringRef text, llvm::StringRef source,
                       const Measurements &products);
/// Efficiencies by shape: "matmul", "group_matmul", "sdp_fwd", "sdp_bwd". Those
/// of causal attention count the operations of the whole square.
llvm::Expected<Measurements> readSimuMax(llvm::StringRef text,
                                         llvm::StringRef source);
/// gpu,b,m,n,k,dtype,tflops.
llvm::Expected<Measurements> readOpenXLA(llvm::StringRef text,
                                         llvm::StringRef source);
/// A sheet of DeepBench training: products, then convolutions.
llvm::Expected<Measurements> readDeepBench(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::cost

#endif // PROTEUS_COST_MEASUREMENTS_H
