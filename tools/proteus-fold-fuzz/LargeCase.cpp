//===- LargeCase.cpp - random cases that fold well --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargeCase.h"

#include "Generator.h"
#include "Random.h"
#include "RandomCluster.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace proteus::fuzz;

/// Largest number of ranks; the run without folding simulates each of them.
static constexpr int64_t maxRanks = 64;

static int64_t numRanks(const Tree &tree) {
  int64_t ranks = 1;
  for (auto &[name, size] : tree.mesh)
    ranks *= size;
  return ranks;
}

/// Splits the batch of all operations over a new axis too.
static void widen(Random &random, Case &input) {
  Tree &tree = input.tree;
  int64_t copies = random.pick<int64_t>({1, 2, 2, 3, 4, 4, 8, 8});
  copies = std::min(copies, maxRanks / numRanks(tree));
  if (copies < 2)
    return;
  auto where = random.chance(60) ? tree.mesh.begin() : tree.mesh.end();
  tree.mesh.insert(where, {"copy", copies});
  tree.devices.clear();
  changeNodes(tree.root, [&](Node &node) {
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        if (split.item == "op" && arrow.key == "batch")
          arrow.axes.insert(arrow.axes.begin(), "copy");
    return false;
  });
  auto splitsBatch = [](const Split &split) {
    return split.item == "op" &&
           llvm::any_of(split.arrows, [](const Arrow &arrow) {
             return arrow.key == "batch";
           });
  };
  if (!llvm::any_of(tree.root.splits, splitsBatch)) {
    auto op = llvm::find_if(tree.root.splits, [](const Split &split) {
      return split.item == "op";
    });
    if (op == tree.root.splits.end())
      op = tree.root.splits.insert(op, {"op", {}});
    op->arrows.push_back({"batch", {"copy"}});
  }
  input.model.batch *= copies;
}

/// Returns the axis of the pipeline, or null if there is none.
static std::pair<std::string, int64_t> *findPipeline(Tree &tree) {
  std::pair<std::string, int64_t> *found = nullptr;
  changeNodes(tree.root, [&](Node &node) {
    for (const std::string &setting : node.settings)
      for (auto &axis : tree.mesh)
        if (setting == "stages " + axis.first ||
            llvm::StringRef(setting).starts_with("stages " + axis.first + " "))
          found = &axis;
    return found != nullptr;
  });
  return found;
}

/// Doubles the number of stages and layers.
static void deepen(Random &random, Case &input) {
  auto *pipeline = findPipeline(input.tree);
  if (!pipeline || !random.chance(40) || 2 * numRanks(input.tree) > maxRanks ||
      input.tree.root.says("order"))
    return;
  pipeline->second *= 2;
  input.model.layers *= 2;
  input.tree.devices.clear();
}

/// Multiplies the number of micro-batches at the same size, so that a steady
/// state can recur.
static void lengthen(Random &random, Case &input) {
  if (input.tree.root.says("order"))
    return;
  int64_t factor = findPipeline(input.tree)
                       ? random.pick<int64_t>({8, 12, 16, 24})
                       : random.pick<int64_t>({1, 4, 16});
  int64_t number = input.tree.getMicroBatches() * factor;
  if (number == 1)
    return;
  Entries &schedule = input.tree.directive("schedule");
  schedule.set("micro_batches", number);
  // An order with all forward passes before the first backward pass has no
  // steady state.
  if (schedule.get("order") == "\"gpipe\"" &&
      schedule.get("virtual_stages").empty() && random.chance(70))
    schedule.set("order", "\"1f1b\"");
  input.model.batch *= factor;
}

/// Chooses the devices of the mesh.
static void place(Random &random, Tree &tree) {
  int64_t how = random.below(100);
  if (how < 60 || !tree.devices.empty())
    return;
  int64_t stride = how < 70 ? 2 : 1;
  int64_t first = how < 85 ? random.between(1, 8) : 0;
  for (int64_t rank = 0; rank < numRanks(tree); ++rank)
    tree.devices.push_back(first + rank * stride);
  if (how >= 85)
    random.shuffle(tree.devices);
}

/// Returns a random stack with host times, whose host may wait for messages.
static std::string drawStack(Random &random) {
  std::string stack = "{name = \"random\", host = {kernel_us = ";
  stack += random.pick({"0", "0.5", "30.0"});
  stack += ", collective_us = ";
  stack += random.pick({"0", "7.0", "100.0"});
  stack += ", message_us = ";
  stack += random.pick({"0", "20.0"});
  stack += ", waits_for_messages = ";
  stack += random.pick({"false", "true", "true"});
  stack += ", pause_us = ";
  stack += random.pick({"0", "40.0"});
  return stack + ", pause_share = 0.25}}";
}

Case proteus::fuzz::generateLarge(uint64_t seed, uint64_t index) {
  Case result = generate(seed, index);
  Random random(seed, index, "large case");
  deepen(random, result);
  widen(random, result);
  lengthen(random, result);
  place(random, result.tree);
  // These factors have no small divisors, so that uneven splits stay uneven.
  result.model.width *= random.pick({1, 17, 257});
  result.model.classes *= random.pick({1, 17});
  if (result.model.seq > 0)
    result.model.seq *= random.pick({1, 1, 17});
  int64_t devices = numRanks(result.tree);
  for (int64_t device : result.tree.devices)
    devices = std::max(devices, device + 1);
  result.tree.cluster = drawCluster(random, devices);
  if (random.chance(50))
    result.model.moduleAttributes.set("proteus.stack", drawStack(random));
  return result;
}
