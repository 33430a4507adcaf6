//===- Offload.cpp - memory items in host memory ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void offload(Random &random, TreeBuilder &builder) {
  std::string line = "offload";
  for (const char *item : {" weight", " state", " activation"})
    if (random.chance(50))
      line += item;
  std::vector<Node *> layers = builder.getLayerNodes();
  if (line == "offload")
    line += " activation";
  bool everywhere = layers.empty() || random.chance(50);
  (everywhere ? builder.tree.root : *layers[random.below(layers.size())])
      .settings.push_back(line);
  if (everywhere && !layers.empty() && random.chance(15))
    layers.front()->settings.push_back("offload none");
}

/// Takes one item out of the lines, and lines that then name none.
static std::function<bool(Case &)> removeItem(llvm::StringRef item) {
  return [item](Case &input) {
    return changeNodes(input.tree.root, [&](Node &node) {
      bool changed = false;
      for (std::string &line : node.settings) {
        size_t position = line.find(" " + item.str());
        if (!llvm::StringRef(line).starts_with("offload") ||
            position == std::string::npos)
          continue;
        line.erase(position, item.size() + 1);
        changed = true;
      }
      llvm::erase_if(node.settings,
                     [](const std::string &line) { return line == "offload"; });
      return changed;
    });
  };
}

void proteus::fuzz::addOffload(Registry &registry) {
  Feature feature;
  feature.name = "offload weight";
  feature.percent = 20;
  feature.changeTree = offload;
  feature.remove = removeItem("weight");
  registry.addFeature(feature);
  Feature counted;
  counted.name = "offload state";
  counted.remove = removeItem("state");
  registry.addFeature(counted);
  counted.name = "offload activation";
  counted.remove = removeItem("activation");
  registry.addFeature(counted);
}
