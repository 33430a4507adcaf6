//===- Zero.cpp - ZeRO and hybrid sharding ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace proteus::fuzz;

/// Returns the items that ZeRO stage 1, 2 or 3 splits.
static std::vector<std::string> itemsOf(int64_t stage) {
  std::vector<std::string> items = {"state"};
  if (stage >= 2)
    items.push_back("gradient");
  if (stage >= 3)
    items.push_back("weight");
  return items;
}

/// Returns the ZeRO stage of the tree, or 0 if its splits are not those of a
/// stage.
static int64_t stageOf(const Tree &tree) {
  for (int64_t stage : {3, 2, 1})
    if (llvm::all_of(itemsOf(stage), [&](const std::string &item) {
          return tree.root.splitsItem(item);
        }))
      return stage;
  return 0;
}

/// Returns the axes with which the root splits an item.
static std::vector<std::string> axesOf(const Tree &tree, llvm::StringRef item) {
  for (const Split &split : tree.root.splits)
    if (split.item == item)
      return split.arrows.front().axes;
  return {};
}

static bool isHybrid(const Tree &tree) {
  return stageOf(tree) == 3 &&
         axesOf(tree, "weight").size() < axesOf(tree, "op").size();
}

static void shard(Random &random, TreeBuilder &builder) {
  std::vector<std::string> from = builder.batchAxes;
  if (from.size() > 1 && random.chance(75))
    from.erase(from.begin() + random.below(from.size()));
  // A flat cut divides any tensor. Without it, all dimensions of parameters are
  // at least as large as `most`.
  std::string key =
      random.pick<const char *>({"0", "flat", "flat", "flat_rows"});
  int64_t seq = builder.model.seq;
  int64_t most = seq ? std::min<int64_t>(seq, 4) : 4;
  if (key != "0") {
    most = 1000;
    // A flat cut leaves out axes that split the block already.
    if (random.chance(30))
      from = builder.freeAxes;
  }
  std::vector<std::string> axes = builder.chooseAxes(random, from, most);
  int64_t stage = random.pick<int64_t>({1, 2, 3, 3, 3});
  if (axes.empty() ||
      llvm::any_of(builder.tree.root.splits,
                   [](const Split &split) { return split.item != "op"; }))
    return;
  for (const std::string &item : itemsOf(stage))
    builder.tree.root.splits.push_back({item, {{key, axes}}});
}

static bool removeAll(Case &input) {
  auto &splits = input.tree.root.splits;
  size_t before = splits.size();
  llvm::erase_if(splits, [](const Split &split) { return split.item != "op"; });
  return splits.size() != before;
}

void proteus::fuzz::addZero(Registry &registry) {
  Feature feature;
  feature.name = "ZeRO-1";
  feature.percent = 45;
  feature.changeTree = shard;
  feature.remove = [](Case &input) {
    return stageOf(input.tree) == 1 && removeAll(input);
  };
  registry.addFeature(feature);
  Feature counted;
  counted.name = "ZeRO-2";
  counted.remove = [](Case &input) {
    return stageOf(input.tree) == 2 && removeAll(input);
  };
  registry.addFeature(counted);
  counted.name = "ZeRO-3";
  counted.remove = [](Case &input) {
    return stageOf(input.tree) == 3 && removeAll(input);
  };
  registry.addFeature(counted);
  counted.name = "hybrid sharding";
  counted.remove = [](Case &input) {
    return isHybrid(input.tree) && removeAll(input);
  };
  registry.addFeature(counted);
  for (llvm::StringRef key : {"flat", "flat_rows"}) {
    counted.name = key == "flat" ? "flat cut" : "flat cut of rows";
    counted.remove = [key](Case &input) {
      return removeArrows(input.tree, [key](const Split &, const Arrow &arrow) {
        return arrow.key == key;
      });
    };
    registry.addFeature(counted);
  }
}
