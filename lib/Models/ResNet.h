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

/// The convolutional part of a residual network: a stem and stages of residual
/// blocks. In each stage, all blocks after the first have the same shapes.
struct ResNetTrunk {
  /// Number of blocks per stage.
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  /// True if a block is a bottleneck: a 1x1, a 3x3 and a 1x1 convolution. In
  /// the first stage, the last convolution of a block has 4 * `width` output
  /// channels. If false, a block has two 3x3 convolutions.
  bool bottleneck = true;
  /// Number of channels of the stem. If `groupWidth` is 0, the inner
  /// convolutions of the first stage have this number of channels too. Each
  /// further stage has twice the channels of the stage before it.
  int64_t width = 64;
  /// `groups`: number of groups of the 3x3 convolution of a bottleneck.
  /// `groupWidth`: channels per group in the first stage; 0: width / groups.
  int64_t groups = 1, groupWidth = 0;
  /// Number of groups of samples in batch normalisations.
  NormGroups normGroups = 1;
  /// Index of the stage that does not halve the height and width of the image,
  /// in addition to stage 0, which never does; -1: there is no such stage.
  int64_t sameSize = -1;

  /// Declares the dimensions of the convolutional part.
  void declare(Dimensions &dimensions);
  /// Returns an error if the dimensions are inconsistent.
  llvm::Error check() const;
  /// Builds the convolutional part on the images `x` and returns the features.
  mlir::Value build(GraphBuilder &graph, mlir::Value x) const;

private:
  mlir::Value block(GraphBuilder &graph, mlir::Value x, size_t stage,
                    int64_t stride) const;
  /// Return numbers of output channels in a block of stage `stage`: `outer` for
  /// the last convolution of the block, `inner` for its other convolutions.
  int64_t inner(size_t stage) const;
  int64_t outer(size_t stage) const;
};

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_RESNET_H
