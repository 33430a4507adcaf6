//===- Overlap.cpp - products in chunks -------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace proteus::fuzz;

/// Splits products into chunks. This changes the program, other kinds of
/// overlap only its timing.
static void cutProducts(Random &random, TreeBuilder &builder) {
  builder.tree.directive("overlap").set("tensor", "\"chunked\"");
  if (random.chance(80))
    builder.tree.directive("overlap").set("chunks",
                                          random.pick<int64_t>({2, 3, 4}));
}

void proteus::fuzz::addOverlap(Registry &registry) {
  Feature feature;
  feature.name = "overlap tensor = \"chunked\"";
  feature.percent = 40;
  feature.changeTree = cutProducts;
  feature.remove = [](Case &input) {
    size_t before = input.tree.directives.size();
    llvm::erase_if(input.tree.directives,
                   [](auto &line) { return line.first == "overlap"; });
    return input.tree.directives.size() != before;
  };
  registry.addFeature(feature);
}
