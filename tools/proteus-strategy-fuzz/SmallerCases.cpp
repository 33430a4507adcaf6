//===- SmallerCases.cpp - everything one step smaller than a case -*- C++
//-*-===//
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

/// All trees of nodes in which one setting of `node` or below is missing.
static void dropSettings(Node &node, llvm::function_ref<void()> found) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    Node child = node.children[i];
    node.children.erase(node.children.begin() + i);
    found();
    node.children.insert(node.children.begin() + i, child);
  }
  for (size_t i = 0; i < node.splits.size(); ++i) {
    Split split = node.splits[i];
    node.splits.erase(node.splits.begin() + i);
    found();
    node.splits.insert(node.splits.begin() + i, split);
    for (size_t k = 0; k < split.arrows.size() && split.arrows.size() > 1;
         ++k) {
      Arrow arrow = split.arrows[k];
      std::vector<Arrow> &arrows = node.splits[i].arrows;
      arrows.erase(arrows.begin() + k);
      found();
      arrows.insert(arrows.begin() + k, arrow);
    }
  }
  if (node.recompute) {
    node.recompute = false;
    found();
    node.recompute = true;
  }
  if (!node.place.empty()) {
    std::string place;
    std::swap(place, node.place);
    found();
    std::swap(place, node.place);
  }
  for (Node &child : node.children)
    dropSettings(child, found);
}

std::vector<Case> proteus::fuzz::simplify(const Case &input) {
  std::vector<Case> list;
  Case next = input;
  auto take = [&] {
    list.push_back(next);
    next = input;
  };
  dropSettings(next.tree.root, [&] { list.push_back(next); });
  auto reset = [&](auto &field, auto value) {
    if (field == value)
      return;
    field = value;
    take();
  };
  reset(next.tree.microBatches, int64_t(0));
  reset(next.tree.order, std::string());
  reset(next.tree.maxOngoing, int64_t(0));
  reset(next.tree.bucketSize, int64_t(0));
  reset(next.tree.bucketFirst, int64_t(0));
  if (!input.tree.devices.empty()) {
    next.tree.devices.clear();
    take();
  }
  for (size_t i = 0; i < input.tree.mesh.size(); ++i)
    if (input.tree.devices.empty() && input.tree.mesh[i].second > 1) {
      --next.tree.mesh[i].second;
      take();
    }
  if (input.model.layers > 1) {
    --next.model.layers;
    next.model.repeatFrom = std::min(next.model.repeatFrom, next.model.layers);
    take();
  }
  bool Model::*flags[] = {
      &Model::bias,   &Model::residual, &Model::dropout,    &Model::gelu,
      &Model::causal, &Model::matmul,   &Model::pool,       &Model::position,
      &Model::tied,   &Model::lastNorm, &Model::castLogits, &Model::flatLoss};
  for (bool Model::*flag : flags)
    reset(next.model.*flag, false);
  std::string Model::*types[] = {&Model::gradient, &Model::master,
                                 &Model::reduction};
  for (std::string Model::*type : types)
    reset(next.model.*type, std::string());
  reset(next.model.optimizer, std::string("sgd"));
  int64_t Model::*sizes[] = {&Model::batch, &Model::width, &Model::inner,
                             &Model::classes};
  for (int64_t Model::*size : sizes)
    if (input.model.*size > 4) {
      --(next.model.*size);
      take();
    }
  return list;
}
