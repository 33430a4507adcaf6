//===- Layers.cpp - layers written out and repeated -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include <utility>

using namespace proteus::fuzz;

/// Chooses the number of layers that are written out.
static void changeModel(Random &random, Model &model) {
  model.repeatFrom =
      random.chance(50) ? model.layers : random.below(model.layers);
}

void proteus::fuzz::addLayers(Registry &registry) {
  Feature feature;
  feature.name = "layers written out";
  feature.percent = 40;
  feature.changeModel = changeModel;
  feature.remove = [](Case &input) {
    return std::exchange(input.model.repeatFrom, 0) > 0;
  };
  registry.addFeature(feature);
}
