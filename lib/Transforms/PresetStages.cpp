//===- PresetStages.cpp - what runs in which stage --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PresetStages.h"

using namespace mlir;
using namespace proteus;

/// Elements of the weights of a product.
static int64_t weightsOf(Operation *op) {
  Value weight;
  if (auto linear = dyn_cast<nn::LinearOp>(op))
    weight = linear.getWeight();
  else if (auto linear = dyn_cast<nn::ExpertLinearOp>(op))
    weight = linear.getWeight();
  return weight ? cast<RankedTensorType>(weight.getType()).getNumElements() : 0;
}

namespace {
/// What is never cut: a layer, or an operation outside of the layers.
struct Piece {
  Operation *op = nullptr; ///< none: a layer
  int64_t weights = 0;
};
} // namespace

/// The pieces of a model in the order in which they run.
static SmallVector<Piece> piecesOf(const PresetModel &model) {
  const PresetModel::Layers &layers = model.getLayers(model.getMainLayers());
  // A layer in a repeat is written once for all; layers that are written out
  // are of one kind.
  int64_t inLayers = 0;
  bool isRepeat = false;
  SmallVector<Piece> front, behind;
  bool seen = false;
  for (Operation *op : model.getOperations()) {
    const PresetModel::Position *position = model.getPosition(op);
    if (position && position->layers == model.getMainLayers()) {
      seen = true;
      isRepeat |= position->index == "*";
      inLayers += weightsOf(op);
      continue;
    }
    (seen ? behind : front).push_back({op, weightsOf(op)});
  }
  int64_t count = layers.indices.size();
  SmallVector<Piece> pieces = std::move(front);
  pieces.append(count, Piece{nullptr, isRepeat ? inLayers : inLayers / count});
  pieces.append(behind);
  return pieces;
}

/// A stage ends with the piece with which the sum of weights from the beginning
/// of the model on exceeds the share of the stages up to it. What has no weights
/// stays with what is in front of it. Where a piece has the weights of several
/// stages, the last ones are idle.
void PresetStages::cutByWeights(const PresetModel &model, int64_t numStages) {
  SmallVector<Piece> pieces = piecesOf(model);
  int64_t all = 0, sum = 0, stage = 0;
  for (const Piece &piece : pieces)
    all += piece.weights;
  layers.assign(numStages, 0);
  int64_t begun = 0; ///< the last stage that has a piece
  for (const Piece &piece : pieces) {
    if (piece.weights == 0)
      continue;
    if (!piece.op)
      ++layers[stage];
    else if (stage != begun)
      first[piece.op] = stage;
    begun = stage;
    sum += piece.weights;
    // In numbers that have no rounding; the last stage takes what is left.
    if (stage + 1 < numStages &&
        static_cast<__int128>(sum) * numStages >
            static_cast<__int128>(all) * (stage + 1))
      ++stage;
  }
}

PresetStages::PresetStages(const PresetModel &model,
                           const ApplyStrategyOptions &options) {
  if (options.pipelineParallel > 1 &&
      options.stagePartition == StagePartition::Weights)
    cutByWeights(model, options.pipelineParallel);
}
