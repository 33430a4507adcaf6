//===- Prefetch.cpp - time of parameter gathers -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

/// Returns true if `node` or one of its descendants splits parameters.
static bool splitsWeights(Node &node) {
  return changeNodes(node,
                     [](Node &inner) { return inner.splitsItem("weight"); });
}

/// Adds a prefetch to a node that splits parameters; elsewhere it is an error.
static void prefetch(Random &random, TreeBuilder &builder) {
  std::string line = "prefetch";
  bool keep = random.chance(50);
  if (!keep || random.chance(50))
    line += " depth = " + std::to_string(random.between(0, 3));
  if (keep)
    line += random.chance(50) ? " reshard_after_forward = false" : " once";
  Node &root = builder.tree.root;
  if (!splitsWeights(root))
    return;
  std::vector<Node *> layers = builder.getLayerNodes();
  if (!root.splitsItem("weight"))
    llvm::erase_if(layers, [](Node *layer) { return !splitsWeights(*layer); });
  bool everywhere = layers.empty() || random.chance(50);
  (everywhere ? root : *layers[random.below(layers.size())])
      .settings.push_back(line);
}

/// Returns true if a setting keeps gathered parameters for the backward pass.
static bool keepsGathered(const std::string &line) {
  return llvm::StringRef(line).starts_with("prefetch") &&
         llvm::StringRef(line).contains("reshard_after_forward");
}

static bool removeIf(Case &input, bool (*matches)(const std::string &)) {
  return changeNodes(input.tree.root, [&](Node &node) {
    size_t before = node.settings.size();
    llvm::erase_if(node.settings, matches);
    return node.settings.size() != before;
  });
}

void proteus::fuzz::addPrefetch(Registry &registry) {
  Feature feature;
  feature.name = "prefetch depth";
  feature.percent = 60;
  feature.changeTree = prefetch;
  feature.remove = [](Case &input) {
    return removeIf(input, [](const std::string &line) {
      return llvm::StringRef(line).starts_with("prefetch") &&
             !keepsGathered(line);
    });
  };
  registry.addFeature(feature);
  Feature counted;
  counted.name = "reshard_after_forward = false";
  counted.remove = [](Case &input) { return removeIf(input, keepsGathered); };
  registry.addFeature(counted);
}
