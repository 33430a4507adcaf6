//===- SequenceParallel.cpp - tensor and sequence parallelism ---*- C++ -*-===//
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
using llvm::StringRef;

/// Returns the split of a kernel: linears and attention by tensor parallelism,
/// the rest of a layer along the sequence over the same axes.
static std::vector<Arrow> arrowsOf(const Kernel &kernel,
                                   const std::vector<std::string> &axes,
                                   int64_t parts) {
  StringRef path = kernel.path;
  auto fits = [&](StringRef iterator) {
    return kernel.getSize(iterator) >= parts;
  };
  if (path == "attention.qkv" || path == "mlp.fc1")
    return fits("out") ? std::vector<Arrow>{{"out", axes}, {"seq", {}}}
                       : std::vector<Arrow>{};
  if (path == "attention.proj" || path == "mlp.fc2")
    return fits("in") ? std::vector<Arrow>{{"in", axes}, {"seq", {}}}
                      : std::vector<Arrow>{};
  if (kernel.getSize("head"))
    return kernel.getSize("head") % parts == 0
               ? std::vector<Arrow>{{"head", axes}}
               : std::vector<Arrow>{};
  if (kernel.getSize("out") || !fits("seq"))
    return {};
  return {{"seq", axes}};
}

static void splitSequence(Random &random, TreeBuilder &builder) {
  if (!builder.model.uses("attention"))
    return;
  std::vector<std::string> axes =
      builder.chooseAxes(random, builder.innerAxes, builder.model.seq);
  if (axes.empty())
    return;
  int64_t parts = builder.numParts(axes);
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (kernel.inLayer)
      builder.splitKernel(kernel, node, arrowsOf(kernel, axes, parts));
  });
}

/// Removes the splits by sequence in layers with column-split linears.
static bool removeSequence(Case &input) {
  bool columns = changeNodes(input.tree.root, [](Node &node) {
    return node.pattern == "attention.qkv" &&
           llvm::any_of(node.splits, [](Split &split) {
             return llvm::any_of(split.arrows, [](const Arrow &arrow) {
               return arrow.key == "out" && !arrow.axes.empty();
             });
           });
  });
  return columns && changeNodes(input.tree.root, [](Node &node) {
           if (node.pattern != "ln_1" && node.pattern != "residual_1")
             return false;
           bool changed = false;
           for (Split &split : node.splits) {
             size_t before = split.arrows.size();
             llvm::erase_if(split.arrows, [](const Arrow &arrow) {
               return arrow.key == "seq" && !arrow.axes.empty();
             });
             changed |= split.arrows.size() != before;
           }
           llvm::erase_if(node.splits, [](const Split &split) {
             return split.arrows.empty();
           });
           return changed;
         });
}

void proteus::fuzz::addSequenceParallel(Registry &registry) {
  Feature feature;
  feature.name = "sequence parallel";
  feature.percent = 60;
  feature.changeTree = splitSequence;
  feature.remove = removeSequence;
  registry.addFeature(feature);
}
