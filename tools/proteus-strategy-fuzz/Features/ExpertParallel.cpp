//===- ExpertParallel.cpp - experts split over devices ----------*- C++ -*-===//
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

/// Splits the experts of all operations between dispatch and combination over
/// the same axes. Mostly these also split the tokens, which gives all-to-alls.
static void splitExperts(Random &random, TreeBuilder &builder) {
  std::vector<std::string> axes;
  for (const Kernel &kernel : builder.kernels)
    if (int64_t experts = kernel.getSize("expert"); experts && axes.empty()) {
      bool tokens = !builder.batchAxes.empty() && random.chance(75);
      if (tokens && builder.sizeOf(builder.batchAxes.back()) <= experts)
        axes = {builder.batchAxes.back()};
      else
        axes = builder.chooseAxes(random, builder.freeAxes, experts);
    }
  if (axes.empty())
    return;
  std::vector<std::string> rest;
  llvm::copy_if(
      builder.batchAxes, std::back_inserter(rest),
      [&](const std::string &axis) { return !llvm::is_contained(axes, axis); });
  bool taken = rest.size() != builder.batchAxes.size();
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (!llvm::StringRef(kernel.path).starts_with("moe.experts"))
      return;
    std::vector<Arrow> arrows;
    if (kernel.getSize("expert"))
      arrows.push_back({"expert", axes});
    else if (taken)
      arrows.push_back({"batch", rest});
    if (!arrows.empty())
      builder.splitKernel(kernel, node, arrows);
  });
}

void proteus::fuzz::addExpertParallel(Registry &registry) {
  Feature feature;
  feature.name = "split of experts";
  feature.percent = 70;
  feature.changeTree = splitExperts;
  feature.remove = [](Case &input) {
    return removeArrows(input.tree, [](const Split &split, const Arrow &arrow) {
      return split.item == "op" && arrow.key == "expert" && !arrow.axes.empty();
    });
  };
  registry.addFeature(feature);
}
