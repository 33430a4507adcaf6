//===- Generator.cpp - random small models and strategies -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "ModelWriter.h"
#include "Random.h"
#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace proteus::fuzz;

namespace {
/// Random streams of one case.
struct Streams {
  uint64_t seed, index;

  Random get(const llvm::Twine &name) const {
    return Random(seed, index, name.str());
  }
};
} // namespace

static void chooseSizes(Random random, Model &model) {
  int64_t form = random.below(10);
  model.form = form < 2 ? Form::Rows : form < 8 ? Form::Sequence : Form::Image;
  bool image = model.form == Form::Image;
  model.batch = random.pick<int64_t>({4, 5, 6, 7, 8, 8, 8, 9, 12, 12});
  if (model.form == Form::Sequence)
    model.seq = random.pick<int64_t>({2, 3, 4, 4, 5, 6});
  model.width = random.between(4, image ? 6 : 12);
  model.classes = random.between(4, 12);
  model.layers = random.between(1, image ? 3 : 5);
}

/// Returns true if a slot holds any number of blocks.
static bool holdsMany(Slot slot) {
  return slot == Slot::AfterStem || slot == Slot::Tail;
}

/// Fills a slot. In a slot of one block, each block draws a time from its own
/// stream, exponentially distributed with its weight, and the earliest one is
/// used. Its probability is proportional to its weight. A new block therefore
/// changes only the cases in which it is used.
static void chooseBlocks(const Streams &streams, Slot slot, Model &model) {
  const Block *winner = nullptr;
  double best = 0;
  auto use = [&](const Block &block) {
    Random random = streams.get("options of " + block.name);
    BlockUse use{&block, {}};
    if (block.choose)
      block.choose(random, model, use);
    model.in(slot).push_back(std::move(use));
  };
  for (const Block &block : Registry::get().getBlocks()) {
    if (block.slot != slot || !(block.forms & only(model.form)) ||
        (block.fits && !block.fits(model)))
      continue;
    Random random = streams.get("choice of " + block.name);
    if (holdsMany(slot)) {
      if (random.chance(block.often))
        use(block);
      continue;
    }
    double time = -std::log(random.fraction()) / block.often;
    if (!winner || time < best) {
      winner = &block;
      best = time;
    }
  }
  if (winner)
    use(*winner);
}

Case proteus::fuzz::generate(uint64_t seed, uint64_t index) {
  Streams streams{seed, index};
  Case result;
  Model &model = result.model;
  chooseSizes(streams.get("sizes"), model);
  for (unsigned slot = 0; slot < numSlots; ++slot)
    chooseBlocks(streams, static_cast<Slot>(slot), model);
  auto tries = [&](const Feature &feature) {
    return streams.get("choice of " + feature.name).chance(feature.percent);
  };
  for (const Feature &feature : Registry::get().getFeatures())
    if (feature.changeModel && tries(feature)) {
      Random random = streams.get("model of " + feature.name);
      feature.changeModel(random, model);
    }
  ModelWriter writer(model);
  writer.write();
  TreeBuilder builder(model, writer.getKernels());
  for (const Feature &feature : Registry::get().getFeatures())
    if (feature.changeTree && tries(feature)) {
      Random random = streams.get("tree of " + feature.name);
      feature.changeTree(random, builder);
    }
  result.tree = builder.take();
  return result;
}
