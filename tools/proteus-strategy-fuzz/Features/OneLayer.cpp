//===- OneLayer.cpp - one layer with settings of its own --------*- C++ -*-===//
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

static void addNode(Random &random, TreeBuilder &builder) {
  if (builder.getLayerNodes().size() > 1)
    return;
  builder.getNode(
      builder.tree.root,
      llvm::formatv("layers[{0}]", random.below(builder.model.layers)).str());
}

static bool isOneLayer(const Node &node) {
  llvm::StringRef number(node.pattern);
  int64_t value = 0;
  return number.consume_front("layers[") && number.consume_back("]") &&
         !number.getAsInteger(10, value);
}

void proteus::fuzz::addOneLayer(Registry &registry) {
  Feature feature;
  feature.name = "one layer differs";
  feature.percent = 15;
  feature.changeTree = addNode;
  feature.remove = [](Case &input) {
    size_t before = input.tree.root.children.size();
    input.tree.root.children.remove_if(isOneLayer);
    return input.tree.root.children.size() != before;
  };
  registry.addFeature(feature);
}
