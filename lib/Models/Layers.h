//===- Layers.h - layers that several models have ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_LAYERS_H
#define PROTEUS_LIB_MODELS_LAYERS_H

#include "Proteus/Models/GraphBuilder.h"

namespace proteus::models {

/// A window that slides over an image, the same in both directions unless two
/// numbers are given.
struct Window {
  Window(int64_t kernel, int64_t stride = 1, int64_t padding = 0)
      : kernel(kernel, kernel), stride(stride, stride),
        padding(padding, padding) {}
  Window(std::pair<int64_t, int64_t> kernel,
         std::pair<int64_t, int64_t> padding)
      : kernel(kernel), stride(1, 1), padding(padding) {}

  std::pair<int64_t, int64_t> kernel, stride, padding;

  /// Positions of it in `size` pixels of the first direction; 0 if it does not
  /// fit.
  int64_t positions(int64_t size) const {
    int64_t span = size + 2 * padding.first - kernel.first;
    return size < 1 || span < 0 ? 0 : span / stride.first + 1;
  }
};

/// Groups of samples over which a batch is normalised: 1 is all samples
/// together, on whatever device they are.
using NormGroups = int64_t;

/// Convolution with a bias.
mlir::Value convolution(GraphBuilder &graph, llvm::StringRef path,
                        mlir::Value x, int64_t channels, Window window);
/// Convolution without a bias, and the normalisation `norm`.
mlir::Value normedConvolution(GraphBuilder &graph, llvm::StringRef path,
                              llvm::StringRef norm, mlir::Value x,
                              int64_t channels, Window window,
                              NormGroups normGroups, int64_t groups = 1);
mlir::Value maxPool(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                    Window window);
mlir::Value averagePool(GraphBuilder &graph, llvm::StringRef path,
                        mlir::Value x, Window window);
/// Averages over equal parts of an image so that `size` by `size` are left;
/// `size` divides it.
mlir::Value poolTo(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                   int64_t size);
/// All but the batch in one dimension.
mlir::Value flatten(GraphBuilder &graph, llvm::StringRef path, mlir::Value x);
/// Joins images along their channels.
mlir::Value joinChannels(GraphBuilder &graph, llvm::StringRef path,
                         mlir::ValueRange images);

/// Random zeroes; what is dropped is a function of the path.
mlir::Value dropout(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                    double probability);
/// A copy in memory, where a framework makes one that changes no value.
mlir::Value copy(GraphBuilder &graph, llvm::StringRef path, mlir::Value x);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_LAYERS_H
