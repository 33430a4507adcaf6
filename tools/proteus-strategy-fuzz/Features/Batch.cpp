//===- Batch.cpp - axes that split the batch --------------------*- C++ -*-===//
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

/// Chooses `batchAxes`.
static void splitBatch(Random &random, TreeBuilder &builder) {
  builder.batchAxes =
      builder.chooseAxes(random, builder.freeAxes, builder.model.batch);
  // Two axes for the batch are common: replicas of sharded groups.
  if (builder.batchAxes.size() == 1 && random.chance(30))
    for (const std::string &axis : builder.freeAxes)
      if (builder.batchAxes.size() == 1 && axis != builder.batchAxes.front() &&
          builder.numParts({builder.batchAxes.front(), axis}) <=
              builder.model.batch)
        builder.batchAxes.push_back(axis);
  if (!builder.batchAxes.empty())
    builder.tree.root.splits.push_back({"op", {{"batch", builder.batchAxes}}});
}

/// Sets `innerAxes`.
static void findInnerAxes(Random &, TreeBuilder &builder) {
  for (const std::string &axis : builder.freeAxes)
    if (!llvm::is_contained(builder.batchAxes, axis))
      builder.innerAxes.push_back(axis);
}

void proteus::fuzz::addBatch(Registry &registry) {
  Feature batch;
  batch.name = "split of batch";
  batch.percent = 80;
  batch.changeTree = splitBatch;
  batch.remove = [](Case &input) {
    return removeArrows(input.tree, [](const Split &split, const Arrow &arrow) {
      return split.item == "op" && arrow.key == "batch" && !arrow.axes.empty();
    });
  };
  registry.addFeature(batch);
  Feature inner;
  inner.name = "axes of other iterators";
  inner.changeTree = findInnerAxes;
  registry.addFeature(inner);
}
