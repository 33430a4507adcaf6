//===- ListedOrders.cpp - listed orders of stages ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/StringExtras.h"

#include <set>
#include <tuple>

using namespace proteus::fuzz;

namespace {

/// Random run of a pipeline that respects its dependences and records the order
/// of each stage.
class RandomRun {
public:
  RandomRun(Random &random, int64_t stages, int64_t chunks, int64_t micro,
            bool trains)
      : random(random), stages(stages), chunks(chunks), micro(micro),
        trains(trains), orders(stages) {
    // No stage waits for an input gradient of the first chunk.
    for (int64_t stage = 0; stage < stages * chunks; ++stage)
      split.push_back(stage > 0 && trains && random.chance(40));
  }

  /// Returns the items of every stage in order.
  std::vector<std::vector<std::string>> run() {
    while (true) {
      std::vector<Item> ready;
      for (int64_t stage = 0; stage < stages * chunks; ++stage)
        for (int64_t i = 0; i < micro; ++i)
          for (char kind : llvm::StringRef("FBIW"))
            if (isReady({kind, stage, i}))
              ready.push_back({kind, stage, i});
      if (ready.empty())
        return orders;
      take(ready[random.below(ready.size())]);
    }
  }

private:
  /// Letter, virtual stage, micro-batch.
  using Item = std::tuple<char, int64_t, int64_t>;

  bool isReady(const Item &item) const {
    auto [kind, stage, i] = item;
    if (done.count(item) || (kind != 'F' && !trains))
      return false;
    if (kind == 'F')
      return stage == 0 || done.count({'F', stage - 1, i});
    if (kind == 'W')
      return split[stage] && done.count({'I', stage, i});
    if (split[stage] != (kind == 'I') || !done.count({'F', stage, i}))
      return false;
    int64_t next = stage + 1;
    return next == stages * chunks ||
           done.count({split[next] ? 'I' : 'B', next, i});
  }

  void take(const Item &item) {
    auto [kind, stage, i] = item;
    done.insert(item);
    std::string text = kind + std::to_string(i);
    if (stage >= stages)
      text += "." + std::to_string(stage / stages);
    orders[stage % stages].push_back(text);
  }

  Random &random;
  int64_t stages, chunks, micro;
  bool trains;
  std::vector<std::vector<std::string>> orders;
  std::vector<bool> split;
  std::set<Item> done;
};

} // namespace

static void listOrders(Random &random, TreeBuilder &builder) {
  if (builder.pipeline.empty())
    return;
  int64_t micro = builder.tree.getMicroBatches();
  builder.setSchedule("micro_batches", micro);
  builder.setSchedule("order", "\"explicit\"");
  removeEntry(builder.tree, "schedule", "max_ongoing");
  RandomRun run(random, builder.getNumStages(), builder.getNumChunks(), micro,
                !builder.model.training.list.empty());
  int64_t stage = 0;
  for (const std::vector<std::string> &items : run.run())
    builder.tree.root.settings.push_back("order stage " +
                                         std::to_string(stage++) + " [" +
                                         llvm::join(items, ", ") + "]");
}

void proteus::fuzz::addListedOrders(Registry &registry) {
  Feature feature;
  feature.name = "listed orders";
  feature.percent = 25;
  feature.changeTree = listOrders;
  feature.remove = [](Case &input) {
    if (!removeSettings(input.tree, "order"))
      return false;
    return removeEntry(input.tree, "schedule", "order");
  };
  registry.addFeature(feature);
}
