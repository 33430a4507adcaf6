//===- ResNet.h - residual networks -----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_RESNET_H
#define PROTEUS_LIB_MODELS_RESNET_H

#include "Layers.h"

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// The convolutional part of a residual network: a stem and stages of blocks.
/// All blocks of a stage but the first are equal.
struct ResNetTrunk {
  /// Number of blocks of every stage.
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  /// True if a block consists of 1x1, 3x3 and 1x1 convolutions, the last with
  /// four times the channels. Otherwise it consists of two 3x3 convolutions.
  bool bottleneck = true;
  /// Channels of the stem, and of the first stage before the expansion at the
  /// end of a bottleneck.
  int64_t width = 64;
  /// Number of groups of the 3x3 convolution of a bottleneck, and number of
  /// channels of a group in the first stage; 0: width / groups.
  int64_t groups = 1, groupWidth = 0;
  /// Number of groups of samples with their own statistics.
  NormGroups normGroups = 1;
  /// Index of a stage that does not halve the image; -1: all stages but the
  /// first halve it.
  int64_t sameSize = -1;

  /// Declares the dimensions of the trunk.
  void declare(Dimensions &dimensions);
  /// Returns an error if the dimensions are inconsistent.
  llvm::Error check() const;
  /// Builds the trunk on the images `x` and returns the features.
  mlir::Value build(GraphBuilder &graph, mlir::Value x) const;

private:
  mlir::Value block(GraphBuilder &graph, mlir::Value x, size_t stage,
                    int64_t stride) const;
  /// Return the channels of the inner and of the last convolution of a block.
  int64_t inner(size_t stage) const;
  int64_t outer(size_t stage) const;
};

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_RESNET_H
