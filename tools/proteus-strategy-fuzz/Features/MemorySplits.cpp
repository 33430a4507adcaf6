//===- MemorySplits.cpp - shards of parameters and states -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void splitMemory(Random &random, TreeBuilder &builder, Node &node,
                        llvm::ArrayRef<int64_t> shape) {
  if (shape.empty() || builder.freeAxes.empty())
    return;
  int64_t dim = random.chance(70) ? 0 : random.below(shape.size());
  bool anyAxes = builder.batchAxes.empty() || random.chance(20);
  bool isFlat = random.chance(35);
  std::vector<std::string> axes =
      builder.chooseAxes(random, anyAxes ? builder.freeAxes : builder.batchAxes,
                         isFlat ? 1000 : shape[dim]);
  std::string item = random.pick<const char *>({"weight", "state", "gradient"});
  if (!axes.empty() && !node.splitsItem(item))
    node.splits.push_back({item,
                           {{!isFlat             ? std::to_string(dim)
                             : random.chance(50) ? "flat"
                                                 : "flat_rows",
                             axes}}});
}

static void splitOfAll(Random &random, TreeBuilder &builder) {
  splitMemory(random, builder, builder.tree.root, {4});
}

static void splitOfKernels(Random &random, TreeBuilder &builder) {
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (random.chance(5))
      splitMemory(random, builder, node, kernel.weight);
  });
}

static std::function<bool(Case &)> removeItem(llvm::StringRef item) {
  return [item](Case &input) {
    return removeArrows(input.tree, [item](const Split &split, const Arrow &) {
      return split.item == item;
    });
  };
}

void proteus::fuzz::addMemorySplits(Registry &registry) {
  Feature all;
  all.name = "split of weights";
  all.percent = 30;
  all.changeTree = splitOfAll;
  all.remove = removeItem("weight");
  registry.addFeature(all);
  Feature some;
  some.name = "split of states";
  some.changeTree = splitOfKernels;
  some.remove = removeItem("state");
  registry.addFeature(some);
  Feature counted;
  counted.name = "split of gradients";
  counted.remove = removeItem("gradient");
  registry.addFeature(counted);
}
