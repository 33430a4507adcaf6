//===- Stages.cpp - layers in the stages of a pipeline ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;

/// Every range of layers has a place and settings of its own.
static void placeRanges(Random &random, TreeBuilder &builder) {
  if (builder.pipeline.empty())
    return;
  int64_t stages = builder.sizeOf(builder.pipeline), begin = 0;
  for (int64_t stage = 0; stage < stages; ++stage) {
    int64_t left = stages - stage - 1;
    int64_t end = left ? random.between(begin + 1, builder.model.layers - left)
                       : builder.model.layers;
    Node &node = builder.getNode(
        builder.tree.root, llvm::formatv("layers[{0}:{1}]", begin, end).str());
    node.settings.push_back(
        llvm::formatv("at [{0} = {1}]", builder.pipeline, stage).str());
    begin = end;
  }
}

/// One node for all layers; the nodes of layers exist after this.
static void cutEvenly(Random &, TreeBuilder &builder) {
  if (!builder.getLayerNodes().empty())
    return;
  Node &node = builder.getNode(builder.tree.root, "layers[*]");
  if (!builder.pipeline.empty())
    node.settings.push_back("stages " + builder.pipeline);
}

void proteus::fuzz::addStages(Registry &registry) {
  Feature at;
  at.name = "at";
  at.percent = 30;
  at.changeTree = placeRanges;
  at.remove = [](Case &input) { return removeSettings(input.tree, "at"); };
  registry.addFeature(at);
  Feature stages;
  stages.name = "stages";
  stages.changeTree = cutEvenly;
  stages.remove = [](Case &input) {
    return removeSettings(input.tree, "stages");
  };
  registry.addFeature(stages);
}
