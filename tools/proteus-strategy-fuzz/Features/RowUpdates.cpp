//===- RowUpdates.cpp - tables of which rows are updated --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

/// The option of the tables of a model; null if it has none.
static Option *findOption(Model &model) {
  for (BlockUse &use : model.in(Slot::Stem))
    for (Option &option : use.options)
      if (option.name == "row updates")
        return &option;
  return nullptr;
}

/// There is no gradient of a whole table that could be clipped or scaled.
static void updateRows(Random &, Model &model) {
  Option *option = findOption(model);
  if (!option)
    return;
  option->value = 1;
  model.training.erase("clip");
  model.training.erase("loss_scale");
}

/// All lookups of a step are needed at once.
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
