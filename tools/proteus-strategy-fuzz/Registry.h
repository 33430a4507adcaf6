//===- Registry.h - blocks and features of random cases ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A random case is a model made of *blocks* and a tree made of *features*.
//
// How to add a block (a part of a model):
//   1. Write Blocks/<Name>.cpp after the example of Blocks/FeedForward.cpp. It
//      defines `void add<Name>(Registry &registry)`, which calls `addBlock`
//      with
//      - the name in the table that is printed,
//      - the slot and the forms of activations with which the block works,
//      - the frequency: a weight against the other blocks of a slot that holds
//        one block, or percent in a slot that holds any number,
//      - `choose`: draws the numbers of the block and keeps them as options,
//      - `write`: writes the operations with the ModelWriter and returns the
//        result, of the shape of the input in `Mixer`, `Feed`, `AfterStem` and
//        `Tail`,
//      - `prepare`, if the layers read a value from outside: writes it.
//      `write` lists the iterators of every operation that a tree may split;
//      random splits find them there.
//   2. Add the line `REGISTER(<Name>)` to Registry.def.
//
// How to add a feature (a setting of a tree or of the training):
//   1. Write Features/<Name>.cpp after the example of Features/Recompute.cpp.
//      It defines `void add<Name>(Registry &registry)`, which calls
//      `addFeature` with
//      - the name and the percentage of cases that try the feature,
//      - `changeModel`, which runs before the model is written, or
//        `changeTree`, which runs when its kernels are known, or both, or none
//        for an effect of other features that is only counted,
//      - how the feature is counted. `remove` takes the feature out of a case
//        and returns true if it was there; the case counts if its lowering then
//        gives another program or fails. `inProgram` is a predicate on the
//        lowered module, for features that can't be removed.
//      `changeTree` gets a TreeBuilder with the mesh, the axes by role and the
//      kernels; it creates nodes on request. New settings are lines of text in
//      a node (`Node::settings`) or entries of a line of the tree
//      (`Tree::directive("schedule")`); a new line needs no other change.
//   2. Add the line `REGISTER(<Name>)` to Registry.def. Features run in the
//      order of that file: special features before general ones, which fill the
//      remaining nodes.
//
// Every block and feature draws from its own stream, which its name selects. A
// new one therefore changes only the cases in which it takes part. CMake finds
// the files.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_REGISTRY_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_REGISTRY_H

#include "Case.h"
#include "Random.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <list>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace proteus {
namespace fuzz {

class ModelWriter;
class TreeBuilder;
struct Tensor;

/// A part of a model.
struct Block {
  llvm::StringRef name;
  Slot slot;
  /// Forms of activations with which it works, combined by `|`.
  unsigned forms;
  /// Weight against the other blocks of the slot, or percent.
  int64_t often;
  /// Draws the options of the block; null for blocks without options.
  void (*choose)(Random &random, const Model &model, BlockUse &use) = nullptr;
  /// Writes the operations of the block; `input` is empty in a stem.
  Tensor (*write)(ModelWriter &writer, const BlockUse &use,
                  const Tensor &input) = nullptr;
  /// Returns true if the block works with the blocks of earlier slots; null if
  /// it always does.
  bool (*fits)(const Model &model) = nullptr;
  /// In the slot `Mixer`: writes operations before the layers. `input` is the
  /// input of the first layer. `write` finds the result in
  /// `ModelWriter::outer`. Null for blocks without such operations.
  Tensor (*prepare)(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) = nullptr;
};

/// A setting of a tree or of the training of a model.
struct Feature {
  llvm::StringRef name;
  /// Percentage of the cases that try the feature.
  int64_t percent = 100;
  void (*changeModel)(Random &random, Model &model) = nullptr;
  void (*changeTree)(Random &random, TreeBuilder &builder) = nullptr;
  /// Takes the feature out of a case. Returns false if the case does not have
  /// it.
  std::function<bool(Case &)> remove = nullptr;
  /// Returns true if the feature is in a lowered program.
  bool (*inProgram)(mlir::ModuleOp module) = nullptr;
};

/// All blocks and features, in the order of Registry.def.
class Registry {
public:
  static const Registry &get();

  void addBlock(Block block) { blocks.push_back(block); }
  void addFeature(Feature feature) { features.push_back(std::move(feature)); }

  const std::list<Block> &getBlocks() const { return blocks; }
  const std::list<Feature> &getFeatures() const { return features; }

private:
  Registry();

  std::list<Block> blocks;
  std::list<Feature> features;
};

inline constexpr unsigned operator|(Form a, Form b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}
inline constexpr unsigned operator|(unsigned a, Form b) {
  return a | static_cast<unsigned>(b);
}
inline constexpr unsigned only(Form form) {
  return static_cast<unsigned>(form);
}

#define REGISTER(Name) void add##Name(Registry &registry);
#include "Registry.def"
#undef REGISTER

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_REGISTRY_H
