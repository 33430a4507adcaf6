//===- TreeBuilder.cpp - construction of a random tree ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace proteus::fuzz;
using llvm::ArrayRef;
using llvm::StringRef;

int64_t TreeBuilder::sizeOf(StringRef axis) const {
  for (auto &[name, size] : tree.mesh)
    if (name == axis)
      return size;
  return 1;
}

int64_t TreeBuilder::getNumChunks() const {
  int64_t number = 1;
  if (const Entries *schedule = tree.findDirective("schedule"))
    schedule->get("virtual_stages").getAsInteger(10, number);
  return number;
}

void TreeBuilder::setSchedule(StringRef key, StringRef value) {
  Entries &schedule = tree.directive("schedule");
  schedule.set(key, value);
  Entries sorted;
  for (StringRef known :
       {"micro_batches", "order", "max_ongoing", "virtual_stages"})
    if (StringRef entry = schedule.get(known); !entry.empty())
      sorted.set(known, entry);
  schedule = std::move(sorted);
}

int64_t TreeBuilder::numParts(ArrayRef<std::string> axes) const {
  int64_t parts = 1;
  for (const std::string &axis : axes)
    parts *= sizeOf(axis);
  return parts;
}

std::vector<std::string> TreeBuilder::chooseAxes(Random &random,
                                                 std::vector<std::string> from,
                                                 int64_t limit) const {
  random.shuffle(from);
  std::vector<std::string> chosen;
  int64_t parts = 1;
  for (const std::string &axis : from)
    if (parts * sizeOf(axis) <= limit &&
        (chosen.empty() || random.chance(30))) {
      chosen.push_back(axis);
      parts *= sizeOf(axis);
    }
  return chosen;
}

Node &TreeBuilder::getNode(Node &parent, StringRef pattern) {
  for (Node &child : parent.children)
    if (child.pattern == pattern)
      return child;
  parent.children.emplace_back();
  parent.children.back().pattern = pattern.str();
  return parent.children.back();
}

std::vector<Node *> TreeBuilder::getLayerNodes() {
  std::vector<Node *> nodes;
  for (Node &child : tree.root.children)
    if (StringRef(child.pattern).starts_with("layers["))
      nodes.push_back(&child);
  return nodes;
}

void TreeBuilder::forEachKernel(
    llvm::function_ref<void(const Kernel &, Node &)> change) {
  std::vector<Node *> layers = getLayerNodes();
  for (const Kernel &kernel : kernels) {
    if (!kernel.inLayer) {
      change(kernel, getNode(tree.root, kernel.path));
      continue;
    }
    for (Node *layer : layers)
      change(kernel, getNode(*layer, kernel.path));
  }
}

bool TreeBuilder::splitKernel(const Kernel &kernel, Node &node,
                              std::vector<Arrow> arrows) {
  if (arrows.empty() || node.splitsItem("op"))
    return false;
  std::vector<std::string> rest;
  for (const std::string &axis : batchAxes)
    if (llvm::none_of(arrows, [&](const Arrow &arrow) {
          return llvm::is_contained(arrow.axes, axis);
        }))
      rest.push_back(axis);
  if (rest.size() < batchAxes.size() && kernel.getSize("batch") &&
      llvm::none_of(arrows,
                    [](const Arrow &arrow) { return arrow.key == "batch"; }))
    arrows.push_back({"batch", rest});
  node.splits.push_back({"op", std::move(arrows)});
  return true;
}

static bool removeEmpty(Node &node) {
  node.children.remove_if(removeEmpty);
  return node.splits.empty() && node.settings.empty() && node.children.empty();
}

Tree TreeBuilder::take() {
  removeEmpty(tree.root);
  return std::move(tree);
}

bool proteus::fuzz::changeNodes(Node &node,
                                llvm::function_ref<bool(Node &)> change) {
  bool changed = change(node);
  for (Node &child : node.children)
    changed |= changeNodes(child, change);
  return changed;
}

bool proteus::fuzz::removeArrows(
    Tree &tree,
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

bool proteus::fuzz::removeSettings(Tree &tree, StringRef keyword) {
  return changeNodes(tree.root, [&](Node &node) {
    size_t before = node.settings.size();
    llvm::erase_if(node.settings, [&](StringRef setting) {
      return setting.split(' ').first == keyword;
    });
    return node.settings.size() != before;
  });
}

bool proteus::fuzz::removeEntry(Tree &tree, StringRef keyword, StringRef key) {
  bool removed = false;
  for (auto &[name, entries] : tree.directives)
    if (name == keyword)
      removed = entries.erase(key);
  llvm::erase_if(tree.directives,
                 [](auto &line) { return line.second.list.empty(); });
  return removed;
}
