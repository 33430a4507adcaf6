//===- GradientScaling.cpp - clipping and loss scale ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

// The norm is far above this limit, so that a wrong norm changes all
// parameters.
static void clip(Random &, Model &model) { model.training.set("clip", "0.01"); }

static void scaleLoss(Random &random, Model &model) {
  model.training.set("loss_scale",
                     random.pick<const char *>({"2.0", "128.0", "1024.0"}));
}

static void addEntry(Registry &registry, llvm::StringRef name,
                     llvm::StringRef key, void (*change)(Random &, Model &)) {
  Feature feature;
  feature.name = name;
  feature.percent = 15;
  feature.changeModel = change;
  feature.remove = [key](Case &input) {
    return input.model.training.erase(key);
  };
  registry.addFeature(feature);
}

void proteus::fuzz::addGradientScaling(Registry &registry) {
  addEntry(registry, "gradient clipping", "clip", clip);
  addEntry(registry, "loss scale", "loss_scale", scaleLoss);
}
