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

/// The convolutional part of a residual network: a stem and stages of blocks,
/// of which all but the first of a stage are alike.
struct ResNetTrunk {
  /// Blocks of every stage.
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  /// Blocks are 1x1, 3x3, 1x1 with four times the channels at the end; else
  /// 3x3, 3x3.
  bool bottleneck = true;
  /// Channels of the stem, and of the first stage before it is expanded.
  int64_t width = 64;
  /// Groups of the 3x3 convolution of a bottleneck, and the channels of one in
  /// the first stage; 0: as many as make up the width.
  int64_t groups = 1, groupWidth = 0;
  /// Groups of samples that are normalised together.
  NormGroups normGroups = 1;
  /// The stage that keeps the size of the image where others halve it; -1: all
  /// but the first halve it.
  int64_t sameSize = -1;

  void declare(Dimensions &dimensions);
  llvm::Error check() const;
  mlir::Value build(GraphBuilder &graph, mlir::Value x) const;

private:
  mlir::Value block(GraphBuilder &graph, mlir::Value x, size_t stage,
                    int64_t stride) const;
  /// Channels of the inner and of the last convolution of a block.
  int64_t inner(size_t stage) const;
  int64_t outer(size_t stage) const;
};

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_RESNET_H
