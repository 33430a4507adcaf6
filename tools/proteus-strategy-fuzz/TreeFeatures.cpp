//===- TreeFeatures.cpp - what a tree may say, and without it ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <utility>

using namespace proteus::fuzz;
using llvm::ArrayRef;
using llvm::StringRef;

/// Changes every node from `node` down; true if one of the changes did
/// anything.
static bool changeNodes(Node &node, llvm::function_ref<bool(Node &)> change) {
  bool changed = change(node);
  for (Node &child : node.children)
    changed |= changeNodes(child, change);
  return changed;
}

/// Removes the arrows that `matches` selects, and the splits and nodes that are
/// then empty of splits.
static bool
removeArrows(Tree &tree,
             llvm::function_ref<bool(const Split &, const Arrow &)> matches) {
  return changeNodes(tree.root, [&](Node &node) {
    bool changed = false;
    for (Split &split : node.splits) {
      size_t before = split.arrows.size();
      llvm::erase_if(split.arrows,
                     [&](const Arrow &arrow) { return matches(split, arrow); });
      changed |= split.arrows.size() != before;
    }
    llvm::erase_if(node.splits,
                   [](const Split &split) { return split.arrows.empty(); });
    return changed;
  });
}

/// The splits of one iterator; those that say `[]` are another feature.
template <const char *const &key> static bool removeIterator(Tree &tree) {
  return removeArrows(tree, [](const Split &split, const Arrow &arrow) {
    return split.item == "op" && arrow.key == key && !arrow.axes.empty();
  });
}

template <const char *const &item> static bool removeItem(Tree &tree) {
  return removeArrows(tree, [](const Split &split, const Arrow &) {
    return split.item == item;
  });
}

static bool removeUnsplit(Tree &tree) {
  return removeArrows(tree, [](const Split &, const Arrow &arrow) {
    return arrow.axes.empty();
  });
}

static bool removeSecondAxes(Tree &tree) {
  return changeNodes(tree.root, [](Node &node) {
    bool changed = false;
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        if (arrow.axes.size() > 1) {
          arrow.axes.resize(1);
          changed = true;
        }
    return changed;
  });
}

static bool removePlaces(Tree &tree, StringRef kind) {
  return changeNodes(tree.root, [&](Node &node) {
    if (!StringRef(node.place).starts_with(kind))
      return false;
    node.place.clear();
    return true;
  });
}

static bool removeStages(Tree &tree) { return removePlaces(tree, "stages"); }
static bool removeAt(Tree &tree) { return removePlaces(tree, "at"); }

static bool removeRecompute(Tree &tree) {
  return changeNodes(tree.root, [](Node &node) {
    return std::exchange(node.recompute, false);
  });
}

static bool removeMicroBatches(Tree &tree) {
  return std::exchange(tree.microBatches, 0) > 1;
}

static bool removeGPipe(Tree &tree) {
  if (!tree.microBatches || tree.order != "gpipe")
    return false;
  tree.order.clear();
  return true;
}

static bool removeMaxOngoing(Tree &tree) {
  return tree.microBatches && std::exchange(tree.maxOngoing, 0) > 0;
}

static bool removeBuckets(Tree &tree) {
  bool any = tree.bucketSize || tree.bucketFirst;
  tree.bucketSize = tree.bucketFirst = 0;
  return any;
}

static bool removeDevices(Tree &tree) {
  return !std::exchange(tree.devices, {}).empty();
}

static constexpr const char *batch = "batch", *seq = "seq", *head = "head",
                            *out = "out", *in = "in", *vocab = "vocab",
                            *hidden = "hidden", *channel = "channel",
                            *rows = "m", *columns = "n", *inner = "k",
                            *weight = "weight", *state = "state";

static const TreeFeature treeFeatures[] = {
    {"split of batch", removeIterator<batch>},
    {"split of seq", removeIterator<seq>},
    {"split of head", removeIterator<head>},
    {"split of out", removeIterator<out>},
    {"split of in", removeIterator<in>},
    {"split of vocab", removeIterator<vocab>},
    {"split of hidden", removeIterator<hidden>},
    {"split of channel", removeIterator<channel>},
    {"split of m", removeIterator<rows>},
    {"split of n", removeIterator<columns>},
    {"split of k", removeIterator<inner>},
    {"split of weights", removeItem<weight>},
    {"split of states", removeItem<state>},
    {"several axes on one key", removeSecondAxes},
    {"key -> []", removeUnsplit},
    {"stages", removeStages},
    {"at", removeAt},
    {"recompute", removeRecompute},
    {"micro-batches", removeMicroBatches},
    {"gpipe", removeGPipe},
    {"max_ongoing", removeMaxOngoing},
    {"buckets", removeBuckets},
    {"list of devices", removeDevices},
};

ArrayRef<TreeFeature> proteus::fuzz::getTreeFeatures() { return treeFeatures; }
