//===- Registry.h - the blocks and features of random cases -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A random case is a model made of *blocks* and a tree made of *features*.
//
// How to add a block (something a model may contain):
//   1. Write Blocks/<Name>.cpp after the example of Blocks/FeedForward.cpp. It
//      defines `void add<Name>(Registry &registry)`, which calls `addBlock`
//      with
//      - the name, as in the table that is printed,
//      - the slot and the forms of activations it can stand in,
//      - how often: a weight against the other blocks of a slot that holds one
//        block, percent in a slot that holds any number,
//      - `choose`: draws its numbers and keeps them as options,
//      - `write`: writes its operations with the ModelWriter and returns its
//        result, of the shape of its input in `Mixer`, `Feed`, `AfterStem` and
//        `Tail`.
//      Every operation that is written lists the iterators that a tree may
//      split; random splits then find it by themselves.
//   2. Add the line `REGISTER(<Name>)` to Registry.def.
//
// How to add a feature (something a tree, or the training of a model, may say):
//   1. Write Features/<Name>.cpp after the example of Features/Recompute.cpp.
//   It
//      defines `void add<Name>(Registry &registry)`, which calls `addFeature`
//      with
//      - the name and the percentage of cases that try it,
//      - `changeModel`, run before the model is written, or `changeTree`, run
//        when its kernels are known, or both, or none: something that other
//        features do, which is only to be counted,
//      - what is counted: either `remove`, which takes it out of a case and
//      says
//        whether it was there: the case counts if it is then lowered to another
//        program or not at all; or `inProgram`, a predicate on the lowered
//        module, for what can't be taken out.
//      Both get a TreeBuilder: the mesh, the axes by role, the kernels, and
//      nodes that are made when first asked for. New settings are lines of text
//      in a node (`Node::settings`) or entries of a line of the tree
//      (`Tree::directive("schedule")`); a new line needs nothing else.
//   2. Add the line `REGISTER(<Name>)` to Registry.def. Features run in the
//   order
//      of that file: special ones before those that fill what is left.
//
// Every block and feature draws from a stream of its own, found by its name: a
// new one changes only the cases it takes part in. CMake finds the files.
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

/// Something a model may contain.
struct Block {
  llvm::StringRef name;
  Slot slot;
  /// The forms it can stand in, or-ed.
  unsigned forms;
  /// Weight against the other blocks of the slot, or percent.
  int64_t often;
  /// Draws its numbers; null if there are none.
  void (*choose)(Random &random, const Model &model, BlockUse &use) = nullptr;
  /// Writes it; `input` is empty in a stem.
  Tensor (*write)(ModelWriter &writer, const BlockUse &use,
                  const Tensor &input) = nullptr;
  /// Whether it fits what is chosen for earlier slots; null if always.
  bool (*fits)(const Model &model) = nullptr;
};

/// Something a tree, or the training of a model, may say.
struct Feature {
  llvm::StringRef name;
  /// How many cases try it.
  int64_t percent = 100;
  void (*changeModel)(Random &random, Model &model) = nullptr;
  void (*changeTree)(Random &random, TreeBuilder &builder) = nullptr;
  /// Takes it out of a case; false if it is not in it.
  std::function<bool(Case &)> remove = nullptr;
  /// Whether it is in a lowered program.
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
