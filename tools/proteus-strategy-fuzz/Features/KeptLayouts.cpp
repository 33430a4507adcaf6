//===- KeptLayouts.cpp - layouts of results and kept operands ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

/// Iterators that index results, and iterators that index first operands.
static constexpr llvm::StringLiteral ofResults[] = {"seq", "out", "hidden",
                                                    "channel"};
static constexpr llvm::StringLiteral ofOperands[] = {"seq", "in", "hidden"};

static void keepInLayouts(Random &random, TreeBuilder &builder) {
  if (builder.freeAxes.empty())
    return;
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (!random.chance(12))
      return;
    std::string item = random.pick<const char *>(
        {"output", "output", "output_gradient", "input 0", "input 0"});
    bool operand = item == "input 0";
    std::vector<std::pair<std::string, int64_t>> keys;
    for (auto &[name, size] : kernel.iterators)
      if (operand ? llvm::is_contained(ofOperands, llvm::StringRef(name))
                  : llvm::is_contained(ofResults, llvm::StringRef(name)))
        keys.push_back({name, size});
    if (keys.empty() || node.splitsItem(item))
      return;
    auto [key, size] = keys[random.below(keys.size())];
    std::vector<std::string> axes;
    if (random.chance(65))
      axes = builder.chooseAxes(random, builder.freeAxes, size);
    node.splits.push_back({item, {{key, axes}}});
  });
}

static std::function<bool(Case &)> removeItem(llvm::StringRef item) {
  return [item](Case &input) {
    return removeArrows(input.tree, [item](const Split &split, const Arrow &) {
      return split.item == item;
    });
  };
}

void proteus::fuzz::addKeptLayouts(Registry &registry) {
  Feature feature;
  feature.name = "split of results";
  feature.percent = 40;
  feature.changeTree = keepInLayouts;
  feature.remove = removeItem("output");
  registry.addFeature(feature);
  Feature counted;
  counted.name = "split of gradients of results";
  counted.remove = removeItem("output_gradient");
  registry.addFeature(counted);
  counted.name = "split of kept operands";
  counted.remove = removeItem("input 0");
  registry.addFeature(counted);
}
