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

/// Returns true if the model has this item. A setting without effect is an
/// error.
static bool hasItem(const Model &model, llvm::StringRef item) {
  const Entries &training = model.training;
  if (item == "state")
    return !training.get("master").empty() ||
           (!training.list.empty() && training.get("optimizer") != "sgd");
  return item == "weight" || !training.list.empty();
}

static void offload(Random &random, TreeBuilder &builder) {
  std::string line = "offload";
  for (llvm::StringRef item : {"weight", "state", "activation"})
    if (hasItem(builder.model, item) && random.chance(50))
      line += " " + item.str();
  std::vector<Node *> layers = builder.getLayerNodes();
  if (line == "offload")
    line += hasItem(builder.model, "activation") ? " activation" : " weight";
  bool everywhere = layers.empty() || random.chance(50);
  (everywhere ? builder.tree.root : *layers[random.below(layers.size())])
      .settings.push_back(line);
  if (everywhere && !layers.empty() && random.chance(15))
    layers.front()->settings.push_back("offload none");
}

/// Returns a function that removes one item from the lines, and lines that
/// become empty.
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
