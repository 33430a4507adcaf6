//===- Stages.cpp - layers in the stages of a pipeline ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;

/// Returns random numbers of layers, one per stage and chunk, each at least
/// `least`.
static std::vector<int64_t>
chooseRuns(Random &random, const TreeBuilder &builder, int64_t least) {
  int64_t count = builder.getNumStages() * builder.getNumChunks();
  int64_t left = builder.model.layers;
  std::vector<int64_t> runs;
  for (int64_t behind = count - 1; behind >= 0; --behind) {
    runs.push_back(behind ? random.between(least, left - behind * least)
                          : left);
    left -= runs.back();
  }
  return runs;
}

/// Adds a node with a placement for every range of layers.
static void placeRanges(Random &random, TreeBuilder &builder) {
  if (builder.pipeline.empty())
    return;
  int64_t stages = builder.getNumStages(), begin = 0;
  std::vector<int64_t> runs = chooseRuns(random, builder, /*least=*/1);
  for (size_t run = 0; run < runs.size(); ++run) {
    int64_t end = begin + runs[run];
    Node &node = builder.getNode(
        builder.tree.root, llvm::formatv("layers[{0}:{1}]", begin, end).str());
    node.settings.push_back(
        llvm::formatv("at [{0} = {1}]", builder.pipeline, run % stages).str());
    begin = end;
  }
}

/// Adds one node for all layers with the number of layers of every stage.
static void cutUnevenly(Random &random, TreeBuilder &builder) {
  if (builder.pipeline.empty() || !builder.getLayerNodes().empty())
    return;
  std::vector<std::string> numbers;
  int64_t least = random.chance(70) ? 1 : 0;
  for (int64_t run : chooseRuns(random, builder, least))
    numbers.push_back(std::to_string(run));
  builder.getNode(builder.tree.root, "layers[*]")
      .settings.push_back("stages " + builder.pipeline + " of [" +
                          llvm::join(numbers, ", ") + "]");
}

/// Adds one node for all layers, if there is none. After this, nodes of layers
/// exist.
static void cutEvenly(Random &, TreeBuilder &builder) {
  if (!builder.getLayerNodes().empty())
    return;
  Node &node = builder.getNode(builder.tree.root, "layers[*]");
  if (!builder.pipeline.empty())
    node.settings.push_back("stages " + builder.pipeline);
}

void proteus::fuzz::addStages(Registry &registry) {
  Feature at;
  at.name = "at";
  at.percent = 30;
  at.changeTree = placeRanges;
  at.remove = [](Case &input) { return removeSettings(input.tree, "at"); };
  registry.addFeature(at);
  Feature uneven;
  uneven.name = "uneven stages";
  uneven.percent = 70;
  uneven.changeTree = cutUnevenly;
  uneven.remove = [](Case &input) {
    return changeNodes(input.tree.root, [](Node &node) {
      bool changed = false;
      for (std::string &setting : node.settings) {
        size_t numbers = setting.find(" of [");
        if (numbers == std::string::npos ||
            !llvm::StringRef(setting).starts_with("stages "))
          continue;
        setting.resize(numbers);
        changed = true;
      }
      return changed;
    });
  };
  registry.addFeature(uneven);
  Feature stages;
  stages.name = "stages";
  stages.changeTree = cutEvenly;
  stages.remove = [](Case &input) {
    return removeSettings(input.tree, "stages");
  };
  registry.addFeature(stages);
}
