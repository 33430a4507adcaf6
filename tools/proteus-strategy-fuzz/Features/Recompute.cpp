//===- Recompute.cpp - recomputation of layers and operations ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void recompute(Random &random, TreeBuilder &builder) {
  if (builder.pipeline.empty() && random.chance(10)) {
    builder.tree.root.settings.push_back("recompute");
    return;
  }
  for (Node *layer : builder.getLayerNodes())
    if (random.chance(60))
      layer->settings.push_back("recompute");
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (kernel.inLayer && random.chance(8))
      node.settings.push_back("recompute");
  });
}

void proteus::fuzz::addRecompute(Registry &registry) {
  Feature feature;
  feature.name = "recompute";
  feature.percent = 40;
  feature.changeTree = recompute;
  feature.remove = [](Case &input) {
    return removeSettings(input.tree, "recompute");
  };
  registry.addFeature(feature);
}
