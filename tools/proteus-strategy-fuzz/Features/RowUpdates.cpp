//===- RowUpdates.cpp - updates of single table rows ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

/// Returns the option "row updates" of the model's tables, or null if there is
/// none.
static Option *findOption(Model &model) {
  for (BlockUse &use : model.in(Slot::Stem))
    for (Option &option : use.options)
      if (option.name == "row updates")
        return &option;
  return nullptr;
}

/// Chooses row updates. They have no gradient of a whole table that could be
/// clipped or scaled.
static void updateRows(Random &, Model &model) {
  Option *option = findOption(model);
  if (!option)
    return;
  option->value = 1;
  model.training.erase("clip");
  model.training.erase("loss_scale");
}

/// Sets one micro-batch, because row updates need all lookups of a step at
/// once.
static void useOneMicroBatch(Random &, TreeBuilder &builder) {
  Model model = builder.model;
  const Option *option = findOption(model);
  if (option && option->value && builder.tree.findDirective("schedule"))
    builder.tree.directive("schedule").set("micro_batches", 1);
}

void proteus::fuzz::addRowUpdates(Registry &registry) {
  Feature feature;
  feature.name = "updates of single rows";
  feature.percent = 50;
  feature.changeModel = updateRows;
  feature.changeTree = useOneMicroBatch;
  feature.remove = [](Case &input) {
    Option *option = findOption(input.model);
    return option && std::exchange(option->value, 0) == 1;
  };
  registry.addFeature(feature);
}
