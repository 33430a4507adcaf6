//===- Measurements.h - measured times of kernels ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured kernels, and readers of published tables of measured kernels. A
// reader converts each row of a table to a cost::Kernel. The simulation
// describes its kernels by the same type, so that measured times can be
// compared with modelled times. proteus-calibrate fits models to the
// measurements. Profiles use the measurements to correct modelled times. Error
// messages contain the file and the line or key.
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
  std::string device; ///< name of the device in the table; empty if absent
  std::string label;  ///< from the table, for example "<model> tp2 <op>"
  /// True if the kernel was measured within a training step. If false, the
  /// kernel was run repeatedly by itself, at a higher clock than the device
  /// sustains in a step.
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

/// Reads Vidur's table of matrix products, which are forward products in bf16.
/// Columns: gpu,model,op,tp,M_tokens,N,K,time_ms_median.
llvm::Expected<Measurements> readVidurProducts(llvm::StringRef text,
                                               llvm::StringRef source);
/// Reads Vidur's table of memory-bound kernels. Columns:
/// gpu,model,tp,tokens,hidden and one column of milliseconds for each
/// operation. The bytes of activations and rotary embeddings depend on the
/// widths of the model. These widths come from `products`, the measurements of
/// readVidurProducts. If `products` does not contain a model, its activations
/// and rotary embeddings are skipped.
llvm::Expected<Measurements>
readVidurMemoryKernels(llvm::StringRef text, llvm::StringRef source,
                       const Measurements &products);
/// Reads a system file of SimuMax. The file contains the efficiency of each
/// measured shape for "matmul", "group_matmul", "sdp_fwd" and "sdp_bwd".
/// SimuMax counts the FLOPs of all (query, key) pairs of causal attention. This
/// reader corrects for that, because the kernels compute only half of the
/// pairs.
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
