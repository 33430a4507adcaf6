//===- VirtualStages.cpp - several chunks per stage -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

/// Raises the number of layers to four, the minimum for two stages of two
/// chunks.
static void needFourLayers(Random &, Model &model) {
  if (model.form != Form::Image && model.layers < 4)
    model.layers = 4;
}

static void chooseChunks(Random &random, TreeBuilder &builder) {
  int64_t stages = builder.getNumStages();
  int64_t most = builder.model.layers / stages;
  if (builder.pipeline.empty() || most < 2)
    return;
  int64_t micro = builder.tree.getMicroBatches();
  builder.setSchedule("micro_batches", micro);
  builder.setSchedule("virtual_stages", random.between(2, most));
  // In the interleaved order, the number of stages must divide that of
  // micro-batches. Otherwise gpipe runs one chunk after the other.
  builder.setSchedule("order", micro % stages == 0 && random.chance(80)
                                   ? "\"interleaved\""
                                   : "\"gpipe\"");
  removeEntry(builder.tree, "schedule", "max_ongoing");
}

void proteus::fuzz::addVirtualStages(Registry &registry) {
  Feature feature;
  feature.name = "virtual stages";
  feature.percent = 20;
  feature.changeModel = needFourLayers;
  feature.changeTree = chooseChunks;
  feature.remove = [](Case &input) {
    return removeEntry(input.tree, "schedule", "virtual_stages");
  };
  registry.addFeature(feature);
}
