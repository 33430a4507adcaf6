//===- MessageParts.cpp - parts of messages between stages ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void scatterMessages(Random &, TreeBuilder &builder) {
  if (builder.pipeline.empty())
    return;
  builder.setSchedule("micro_batches", builder.tree.getMicroBatches());
  builder.setSchedule("scatter", "true");
}

void proteus::fuzz::addMessageParts(Registry &registry) {
  Feature feature;
  feature.name = "message parts";
  feature.percent = 40;
  feature.changeTree = scatterMessages;
  feature.remove = [](Case &input) {
    return removeEntry(input.tree, "schedule", "scatter");
  };
  registry.addFeature(feature);
}
