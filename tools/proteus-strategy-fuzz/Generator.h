//===- Generator.h - random small models and strategies ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a model and a tree as plain structures, which are easy to make
// smaller, and is written as MLIR text.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace proteus {
namespace fuzz {

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

enum class ModelKind { Perceptron, Transformer, Convolution };

/// What a model is built from; sizes are those of the global batch.
struct Model {
  ModelKind kind = ModelKind::Perceptron;
  int64_t batch = 4;
  /// Length of a sequence; 0 where the activations have none.
  int64_t seq = 0;
  int64_t width = 4;
  /// Width inside a layer.
  int64_t inner = 4;
  int64_t classes = 4;
  int64_t heads = 1;
  int64_t keyHeads = 1;
  int64_t headDim = 1;
  int64_t layers = 1;
  /// Layers before this one are written out, the others are one `nn.repeat`.
  int64_t repeatFrom = 0;
  bool bias = false;
  bool residual = false;
  bool dropout = false;
  bool gelu = false;
  bool causal = false;
  bool matmul = false;
  bool pool = false;
  bool embedding = false;
  bool position = false;
  /// One table is embedding and head.
  bool tied = false;
  bool lastNorm = false;
  bool castLogits = false;
  /// The loss sees one row per token.
  bool flatLoss = false;
  std::string element = "f32";
  std::string optimizer = "sgd";
  std::string gradient;
  std::string master;
  std::string reduction;
};

/// `key -> [axes]`
struct Arrow {
  std::string key;
  std::vector<std::string> axes;
};

struct Split {
  /// `op`, `weight` or `state`.
  std::string item;
  std::vector<Arrow> arrows;
};

/// A node of the tree, or the tree itself.
struct Node {
  std::string pattern;
  std::vector<Split> splits;
  /// `stages pp`, `at [pp = 1]` or nothing.
  std::string place;
  bool recompute = false;
  std::vector<Node> children;
};

struct Tree {
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<int64_t> devices;
  /// 0 where there is no schedule.
  int64_t microBatches = 0;
  std::string order;
  /// 0 where there is none.
  int64_t maxOngoing = 0;
  int64_t bucketSize = 0;
  int64_t bucketFirst = 0;
  Node root;
};

struct Case {
  Model model;
  Tree tree;
};

/// Case `index` of the stream `seed`; depends on these two numbers alone.
Case generate(uint64_t seed, uint64_t index);

/// The case as a module.
std::string write(const Case &input);

/// Everything that is one step smaller.
std::vector<Case> simplify(const Case &input);

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// Something a tree may say.
struct TreeFeature {
  llvm::StringRef name;
  /// Takes it out of the tree; false if it is not in it.
  bool (*remove)(Tree &tree);
};

/// The features of trees, in the order of the table.
llvm::ArrayRef<TreeFeature> getTreeFeatures();

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H
