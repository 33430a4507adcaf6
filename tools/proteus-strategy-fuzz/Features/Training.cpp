//===- Training.cpp - optimizers and types ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void chooseOptimizer(Random &random, Model &model) {
  model.training.set("optimizer",
                     random.pick<const char *>({"sgd", "momentum", "adam"}));
}

static void chooseTypes(Random &random, Model &model) {
  if (random.chance(70)) {
    model.element = "bf16";
    if (random.chance(60))
      model.training.set("gradient", "f32");
    if (random.chance(50))
      model.training.set("master", "f32");
    if (model.training.get("gradient").empty() || !random.chance(30))
      return;
  }
  model.training.set("reduction", "bf16");
}

static bool removeOptimizer(Case &input) {
  if (input.model.training.get("optimizer") == "sgd")
    return false;
  input.model.training.set("optimizer", "sgd");
  return true;
}

void proteus::fuzz::addTraining(Registry &registry) {
  Feature optimizer;
  optimizer.name = "optimizer with states";
  optimizer.changeModel = chooseOptimizer;
  optimizer.remove = removeOptimizer;
  registry.addFeature(optimizer);
  Feature types;
  types.name = "types of training";
  types.percent = 55;
  types.changeModel = chooseTypes;
  types.remove = [](Case &input) {
    Entries &training = input.model.training;
    bool gradient = training.erase("gradient");
    bool master = training.erase("master");
    return training.erase("reduction") || gradient || master;
  };
  registry.addFeature(types);
}
