//===- KeepGathered.cpp - gathered values are kept --------------*- C++ -*-===//
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

void proteus::fuzz::addKeepGathered(Registry &registry) {
  Feature feature;
  feature.name = "keep_gathered";
  feature.percent = 30;
  feature.changeTree = [](Random &, TreeBuilder &builder) {
    builder.tree.directive("keep_gathered");
  };
  feature.remove = [](Case &input) {
    size_t before = input.tree.directives.size();
    llvm::erase_if(input.tree.directives,
                   [](auto &line) { return line.first == "keep_gathered"; });
    return input.tree.directives.size() != before;
  };
  registry.addFeature(feature);
}
