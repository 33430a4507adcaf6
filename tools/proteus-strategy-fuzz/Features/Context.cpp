//===- Context.cpp - sequences split over devices ---------------*- C++ -*-===//
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
using llvm::StringRef;

static constexpr llvm::StringLiteral attentionPath = "attention.core";

/// Chooses a length that zigzags of some meshes divide.
static void chooseSize(Random &random, Model &model) {
  if (model.uses("attention") && random.chance(70))
    model.seq = random.pick<int64_t>({4, 8, 8, 12});
}

/// Chooses how attention reads the keys of other devices.
static std::vector<Arrow> chooseForm(Random &random, const Kernel &attention,
                                     const std::vector<std::string> &axes,
                                     int64_t parts, const std::string &how) {
  int64_t form = random.below(11);
  if (form <= 3)
    return {};
  // Choose heads often, because their number is not always divisible.
  if (form <= 9 && attention.getSize("head") % parts == 0)
    return {{"seq", {}}, {"head", axes}};
  return {{"key", axes, "ring " + how}};
}

static void splitContext(Random &random, TreeBuilder &builder) {
  if (!builder.model.uses("attention"))
    return;
  std::vector<std::string> axes =
      builder.chooseAxes(random, builder.innerAxes, builder.model.seq);
  if (axes.empty())
    return;
  int64_t parts = builder.numParts(axes);
  bool even = builder.model.seq % (2 * parts) == 0;
  std::string how = even && random.chance(60) ? "zigzag " : "";
  Node &root = builder.tree.root;
  if (!root.splitsItem("op"))
    root.splits.push_back({"op", {}});
  for (Split &split : root.splits)
    if (split.item == "op")
      split.arrows.push_back({"seq", axes, how});
  builder.forEachKernel([&](const Kernel &kernel, Node &node) {
    if (kernel.path == attentionPath)
      builder.splitKernel(kernel, node,
                          chooseForm(random, kernel, axes, parts, how));
  });
  // All operations with a sequence now use these axes.
  for (std::vector<std::string> *rest : {&builder.freeAxes, &builder.innerAxes})
    llvm::erase_if(*rest, [&](const std::string &axis) {
      return llvm::is_contained(axes, axis);
    });
}

static bool isRing(const Arrow &arrow) {
  return StringRef(arrow.how).contains("ring");
}

/// Returns true if attention is split by heads and the rest by sequence.
static bool isByHeads(const Node &node) {
  auto has = [&](StringRef key, bool split) {
    return llvm::any_of(node.splits, [&](const Split &item) {
      return llvm::any_of(item.arrows, [&](const Arrow &arrow) {
        return arrow.key == key && arrow.axes.empty() != split;
      });
    });
  };
  return node.pattern == attentionPath && has("seq", false) &&
         has("head", true);
}

/// Removes the split of sequences if attention gathers the keys of other
/// devices, that is, uses neither a ring nor heads.
static bool removeGather(Case &input) {
  bool other = changeNodes(input.tree.root, [](Node &node) {
    return isByHeads(node) || llvm::any_of(node.splits, [](Split &split) {
             return llvm::any_of(split.arrows, isRing);
           });
  });
  if (other || !input.model.uses("attention"))
    return false;
  Node &root = input.tree.root;
  bool removed = false;
  for (Split &split : root.splits) {
    size_t before = split.arrows.size();
    llvm::erase_if(split.arrows,
                   [](const Arrow &arrow) { return arrow.key == "seq"; });
    removed |= split.arrows.size() != before;
  }
  llvm::erase_if(root.splits,
                 [](const Split &split) { return split.arrows.empty(); });
  return removed;
}

static bool removeHeads(Case &input) {
  return changeNodes(input.tree.root, [](Node &node) {
    if (!isByHeads(node))
      return false;
    node.splits.clear();
    return true;
  });
}

static bool removeZigzag(Case &input) {
  return changeNodes(input.tree.root, [](Node &node) {
    bool changed = false;
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        if (StringRef(arrow.how).contains("zigzag")) {
          arrow.how = isRing(arrow) ? "ring " : "";
          changed = true;
        }
    return changed;
  });
}

void proteus::fuzz::addContext(Registry &registry) {
  Feature context;
  context.name = "context parallel";
  context.percent = 75;
  context.changeModel = chooseSize;
  context.changeTree = splitContext;
  registry.addFeature(context);
  Feature gather;
  gather.name = "keys gathered";
  gather.remove = removeGather;
  registry.addFeature(gather);
  Feature heads;
  heads.name = "sequence to heads";
  heads.remove = removeHeads;
  registry.addFeature(heads);
  Feature ring;
  ring.name = "ring of keys";
  ring.remove = [](Case &input) {
    return removeArrows(input.tree, [](const Split &, const Arrow &arrow) {
      return isRing(arrow);
    });
  };
  registry.addFeature(ring);
  Feature zigzag;
  zigzag.name = "zigzag parts";
  zigzag.remove = removeZigzag;
  registry.addFeature(zigzag);
}
