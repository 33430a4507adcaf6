//===- Schedule.cpp - micro-batches and their order -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void chooseMicroBatches(Random &random, TreeBuilder &builder) {
  std::vector<int64_t> choices{1};
  // The product of micro-batches and parts must divide the batch. Kernels with
  // another split of the batch may still violate this.
  for (int64_t micro = 2; micro <= 6; ++micro)
    if (builder.model.batch % (micro * builder.numParts(builder.batchAxes)) ==
        0)
      choices.push_back(micro);
  builder.tree.directive("schedule")
      .set("micro_batches", choices[random.below(choices.size())]);
}

static void chooseOrder(Random &random, TreeBuilder &builder) {
  if (!builder.tree.findDirective("schedule"))
    return;
  builder.tree.directive("schedule")
      .set("order", random.pick<const char *>({"\"gpipe\"", "\"1f1b\""}));
}

static void chooseMaxOngoing(Random &random, TreeBuilder &builder) {
  if (builder.tree.findDirective("schedule"))
    builder.tree.directive("schedule").set("max_ongoing", random.between(1, 3));
}

/// Sets one micro-batch and keeps the rest of the schedule.
static bool removeMicroBatches(Case &input) {
  if (input.tree.getMicroBatches() == 1)
    return false;
  input.tree.directive("schedule").set("micro_batches", 1);
  return true;
}

void proteus::fuzz::addSchedule(Registry &registry) {
  Feature micro;
  micro.name = "micro-batches";
  micro.percent = 65;
  micro.changeTree = chooseMicroBatches;
  micro.remove = removeMicroBatches;
  registry.addFeature(micro);
  Feature order;
  order.name = "gpipe";
  order.percent = 60;
  order.changeTree = chooseOrder;
  order.remove = [](Case &input) {
    const Entries *schedule = input.tree.findDirective("schedule");
    return schedule && schedule->get("order") == "\"gpipe\"" &&
           removeEntry(input.tree, "schedule", "order");
  };
  registry.addFeature(order);
  Feature ongoing;
  ongoing.name = "max_ongoing";
  ongoing.percent = 25;
  ongoing.changeTree = chooseMaxOngoing;
  ongoing.remove = [](Case &input) {
    return removeEntry(input.tree, "schedule", "max_ongoing");
  };
  registry.addFeature(ongoing);
}
