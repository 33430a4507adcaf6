//===- KernelSplits.cpp - random splits of random kernels -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace proteus::fuzz;

/// Chooses splits of one or two iterators other than the batch.
static std::vector<Arrow>
chooseArrows(Random &random, const TreeBuilder &builder, const Kernel &kernel) {
  // A split may also use axes of the batch, which then loses them.
  bool anyAxes = builder.innerAxes.empty() || random.chance(25);
  std::vector<std::string> available =
      anyAxes ? builder.freeAxes : builder.innerAxes;
  std::vector<std::pair<std::string, int64_t>> iterators(kernel.iterators);
  llvm::erase_if(iterators, [](auto &it) { return it.first == "batch"; });
  random.shuffle(iterators);
  std::vector<Arrow> arrows;
  size_t wanted = random.chance(25) ? 2 : 1;
  for (auto &[name, size] : iterators) {
    if (arrows.size() == wanted)
      break;
    std::vector<std::string> axes = builder.chooseAxes(random, available, size);
    if (axes.empty())
      continue;
    llvm::erase_if(available, [&](const std::string &axis) {
      return llvm::is_contained(axes, axis);
    });
    arrows.push_back({name, axes});
  }
  if (!builder.batchAxes.empty() && kernel.getSize("batch") && random.chance(8))
    arrows.push_back({"batch", {}});
  random.shuffle(arrows);
  return arrows;
}

static void splitKernels(Random &random, TreeBuilder &builder) {
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (random.chance(27))
      builder.splitKernel(kernel, node, chooseArrows(random, builder, kernel));
  });
}

/// Returns the feature that counts splits of one iterator over axes.
static Feature splitOf(llvm::StringRef key, llvm::StringRef name) {
  Feature feature;
  feature.name = name;
  feature.remove = [key](Case &input) {
    return removeArrows(
        input.tree, [key](const Split &split, const Arrow &arrow) {
          return split.item == "op" && arrow.key == key && !arrow.axes.empty();
        });
  };
  return feature;
}

static bool removeSecondAxes(Case &input) {
  return changeNodes(input.tree.root, [](Node &node) {
    bool changed = false;
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        if (arrow.axes.size() > 1) {
          arrow.axes.resize(1);
          changed = true;
        }
    return changed;
  });
}

void proteus::fuzz::addKernelSplits(Registry &registry) {
  Feature splits;
  splits.name = "splits of kernels";
  splits.changeTree = splitKernels;
  registry.addFeature(splits);
  // One feature per iterator, so that each has a row in the table.
  registry.addFeature(splitOf("seq", "split of seq"));
  registry.addFeature(splitOf("head", "split of head"));
  registry.addFeature(splitOf("out", "split of out"));
  registry.addFeature(splitOf("in", "split of in"));
  registry.addFeature(splitOf("vocab", "split of vocab"));
  registry.addFeature(splitOf("hidden", "split of hidden"));
  registry.addFeature(splitOf("channel", "split of channel"));
  registry.addFeature(splitOf("m", "split of m"));
  registry.addFeature(splitOf("n", "split of n"));
  registry.addFeature(splitOf("k", "split of k"));
  registry.addFeature(splitOf("slot", "split of slot"));
  Feature several;
  several.name = "several axes on one key";
  several.remove = removeSecondAxes;
  registry.addFeature(several);
  Feature unsplit;
  unsplit.name = "key -> []";
  unsplit.remove = [](Case &input) {
    return removeArrows(input.tree, [](const Split &, const Arrow &arrow) {
      return arrow.axes.empty();
    });
  };
  registry.addFeature(unsplit);
}
