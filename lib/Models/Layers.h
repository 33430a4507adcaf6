//===- Layers.h - layers of several families --------------------*- C++ -*-===//
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

/// Window that slides over an image. A pair is (height, width). A constructor
/// argument that is a single number applies to height and width.
struct Window {
  Window(int64_t kernel, int64_t stride = 1, int64_t padding = 0)
      : kernel(kernel, kernel), stride(stride, stride),
        padding(padding, padding) {}
  Window(std::pair<int64_t, int64_t> kernel,
         std::pair<int64_t, int64_t> padding)
      : kernel(kernel), stride(1, 1), padding(padding) {}

  std::pair<int64_t, int64_t> kernel, stride, padding;

  /// Returns the number of vertical positions of the window on an image with a
  /// height of `size` pixels. Returns 0 if the window is higher than the padded
  /// image.
  int64_t positions(int64_t size) const {
    int64_t span = size + 2 * padding.first - kernel.first;
    return size < 1 || span < 0 ? 0 : span / stride.first + 1;
  }
};

/// Number of groups of samples in batch normalisations. Each group has its own
/// mean and variance. With one group, mean and variance are those of the whole
/// batch, over all devices.
using NormGroups = int64_t;

/// Adds a convolution with a bias.
mlir::Value convolution(GraphBuilder &graph, llvm::StringRef path,
                        mlir::Value x, int64_t channels, Window window);
/// Adds the convolution `path`, without a bias, and after it the batch
/// normalisation `norm`.
mlir::Value normedConvolution(GraphBuilder &graph, llvm::StringRef path,
                              llvm::StringRef norm, mlir::Value x,
                              int64_t channels, Window window,
                              NormGroups normGroups, int64_t groups = 1);
mlir::Value maxPool(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                    Window window);
mlir::Value averagePool(GraphBuilder &graph, llvm::StringRef path,
                        mlir::Value x, Window window);
/// Adds an average pooling to `size` by `size` pixels. The image must be
/// square, and `size` must divide its height.
mlir::Value poolTo(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                   int64_t size);
/// Merges all dimensions but the batch into one.
mlir::Value flatten(GraphBuilder &graph, llvm::StringRef path, mlir::Value x);
/// Concatenates images along their channels.
mlir::Value joinChannels(GraphBuilder &graph, llvm::StringRef path,
                         mlir::ValueRange images);

/// Adds a dropout. Its seed is a hash of the path, so dropouts with different
/// paths drop different elements.
mlir::Value dropout(GraphBuilder &graph, llvm::StringRef path, mlir::Value x,
                    double probability);
/// Adds a kernel that copies `x` in memory. Frameworks make such copies to get
/// a contiguous tensor.
mlir::Value copy(GraphBuilder &graph, llvm::StringRef path, mlir::Value x);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_LAYERS_H
