//===- ForwardOnly.cpp - programs without a backward pass -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

using namespace proteus::fuzz;

void proteus::fuzz::addForwardOnly(Registry &registry) {
  Feature feature;
  feature.name = "forward only";
  feature.percent = 10;
  feature.changeModel = [](Random &random, Model &model) {
    model.training.list.clear();
    // Without a loss the model returns its logits.
    if (random.chance(60))
      model.in(Slot::Loss).clear();
  };
  feature.remove = [](Case &input) {
    if (!input.model.training.list.empty())
      return false;
    input.model.training.set("optimizer", "sgd");
    return true;
  };
  registry.addFeature(feature);
}
