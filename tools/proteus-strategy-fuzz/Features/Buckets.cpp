//===- Buckets.cpp - sizes of gradient buckets ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

using namespace proteus::fuzz;

static void chooseBuckets(Random &random, TreeBuilder &builder) {
  if (random.chance(80))
    builder.tree.directive("bucket").set(
        "size", random.pick<int64_t>({1, 100, 400, 1000}));
  else
    builder.tree.directive("bucket").set("first",
                                         random.pick<int64_t>({1, 64, 300}));
  if (random.chance(30))
    builder.tree.directive("bucket").set("first",
                                         random.pick<int64_t>({1, 64, 300}));
}

void proteus::fuzz::addBuckets(Registry &registry) {
  Feature feature;
  feature.name = "buckets";
  feature.percent = 30;
  feature.changeTree = chooseBuckets;
  feature.remove = [](Case &input) {
    bool size = removeEntry(input.tree, "bucket", "size");
    return removeEntry(input.tree, "bucket", "first") || size;
  };
  registry.addFeature(feature);
}
