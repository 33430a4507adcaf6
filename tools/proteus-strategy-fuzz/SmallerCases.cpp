//===- SmallerCases.cpp - reduction of a case by one step -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace proteus::fuzz;

/// Calls `found` with each element left out in turn.
template <typename List>
static void dropEach(List &list, llvm::function_ref<void()> found) {
  for (size_t i = 0; i < list.size(); ++i) {
    auto it = std::next(list.begin(), i);
    auto element = *it;
    list.erase(it);
    found();
    list.insert(std::next(list.begin(), i), element);
  }
}

/// Calls `found` with each setting of `node` and its descendants left out in
/// turn.
static void dropSettings(Node &node, llvm::function_ref<void()> found) {
  dropEach(node.children, found);
  dropEach(node.splits, found);
  for (Split &split : node.splits) {
    if (split.arrows.size() > 1)
      dropEach(split.arrows, found);
    for (Arrow &arrow : split.arrows)
      if (arrow.axes.size() > 1)
        dropEach(arrow.axes, found);
  }
  dropEach(node.settings, found);
  for (Node &child : node.children)
    dropSettings(child, found);
}

static void shrinkTree(Tree &tree, llvm::function_ref<void()> found) {
  dropSettings(tree.root, found);
  dropEach(tree.directives, found);
  for (auto &[keyword, entries] : tree.directives)
    if (entries.list.size() > 1)
      dropEach(entries.list, found);
  if (!tree.devices.empty()) {
    std::vector<int64_t> devices = std::exchange(tree.devices, {});
    found();
    tree.devices = std::move(devices);
    return;
  }
  for (auto &[name, size] : tree.mesh)
    if (size > 1) {
      --size;
      found();
      ++size;
    }
}

static void shrinkModel(Model &model, llvm::function_ref<void()> found) {
  auto change = [&](auto &field, auto value) {
    auto before = std::exchange(field, value);
    found();
    field = before;
  };
  if (model.layers > 1) {
    int64_t from = model.repeatFrom;
    model.repeatFrom = std::min(from, model.layers - 1);
    change(model.layers, model.layers - 1);
    model.repeatFrom = from;
  }
  dropEach(model.in(Slot::AfterStem), found);
  dropEach(model.in(Slot::Tail), found);
  for (std::vector<BlockUse> &uses : model.blocks)
    for (BlockUse &use : uses)
      for (Option &option : use.options) {
        if (option.value > option.smallest + 1)
          change(option.value, option.smallest);
        if (option.value > option.smallest)
          change(option.value, option.value - 1);
      }
  if (model.training.list.size() > 1)
    dropEach(model.training.list, found);
  dropEach(model.moduleAttributes.list, found);
  for (int64_t Model::*size : {&Model::batch, &Model::width, &Model::classes})
    if (model.*size > 4)
      change(model.*size, model.*size - 1);
  if (model.seq > 2)
    change(model.seq, model.seq - 1);
}

std::vector<Case> proteus::fuzz::simplify(const Case &input) {
  std::vector<Case> list;
  Case next = input;
  auto take = [&] { list.push_back(next); };
  shrinkTree(next.tree, take);
  shrinkModel(next.model, take);
  return list;
}
