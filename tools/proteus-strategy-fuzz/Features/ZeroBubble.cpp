//===- ZeroBubble.cpp - zero-bubble schedule --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void chooseZeroBubble(Random &, TreeBuilder &builder) {
  if (builder.pipeline.empty() || builder.getNumChunks() > 1)
    return;
  builder.setSchedule("micro_batches", builder.tree.getMicroBatches());
  builder.setSchedule("order", "\"zero-bubble\"");
}

void proteus::fuzz::addZeroBubble(Registry &registry) {
  Feature feature;
  feature.name = "zero-bubble";
  feature.percent = 25;
  feature.changeTree = chooseZeroBubble;
  feature.remove = [](Case &input) {
    const Entries *schedule = input.tree.findDirective("schedule");
    return schedule && schedule->get("order") == "\"zero-bubble\"" &&
           removeEntry(input.tree, "schedule", "order");
  };
  registry.addFeature(feature);
}
