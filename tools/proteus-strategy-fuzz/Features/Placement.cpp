//===- Placement.cpp - tables on single devices -----------------*- C++ -*-===//
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

static bool isTable(llvm::StringRef path) {
  return path == "embedding" || path == "bag";
}

/// Places lookups in tables at one coordinate of axes that split the batch.
static void placeTables(Random &random, TreeBuilder &builder) {
  // A table that the head reads too can't be on a single device.
  if (builder.batchAxes.empty() || builder.model.uses("tied head"))
    return;
  for (const Kernel &kernel : builder.kernels) {
    if (kernel.inLayer || !isTable(kernel.path))
      continue;
    std::string coordinates;
    for (const std::string &axis : builder.batchAxes)
      if (coordinates.empty() || random.chance(50))
        coordinates +=
            llvm::formatv("{0}{1} = {2}", coordinates.empty() ? "" : ", ", axis,
                          random.below(builder.sizeOf(axis)))
                .str();
    Node &node = builder.getNode(builder.tree.root, kernel.path);
    if (!node.says("at"))
      node.settings.push_back("at [" + coordinates + "]");
  }
}

void proteus::fuzz::addPlacement(Registry &registry) {
  Feature feature;
  feature.name = "tables at single places";
  feature.percent = 25;
  feature.changeTree = placeTables;
  feature.remove = [](Case &input) {
    return changeNodes(input.tree.root, [](Node &node) {
      if (!isTable(node.pattern))
        return false;
      size_t before = node.settings.size();
      llvm::erase_if(node.settings, [](const std::string &line) {
        return llvm::StringRef(line).starts_with("at ");
      });
      return node.settings.size() != before;
    });
  };
  registry.addFeature(feature);
}
