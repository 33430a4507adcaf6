//===- Case.h - structures of a random case ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain structures for the model and the tree of a random case. Contributions
// of blocks and features have general types (options, settings, directives). A
// case can therefore be written as text and reduced without knowledge of its
// blocks and features.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_CASE_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_CASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace proteus {
namespace fuzz {

struct Block;

/// `key = value` pairs in the order in which they are written.
struct Entries {
  std::vector<std::pair<std::string, std::string>> list;

  /// Returns the value of `key`, or an empty text if there is none.
  llvm::StringRef get(llvm::StringRef key) const;
  void set(llvm::StringRef key, llvm::StringRef value);
  void set(llvm::StringRef key, int64_t value) {
    set(key, std::to_string(value));
  }
  /// Removes `key`. Returns false if there was no such entry.
  bool erase(llvm::StringRef key);
};

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// A number chosen by a block.
struct Option {
  std::string name;
  int64_t value;
  /// Lower bound for the value when a case is reduced.
  int64_t smallest;
};

/// A block in a model, with its options.
struct BlockUse {
  const Block *block;
  std::vector<Option> options;

  void set(llvm::StringRef name, int64_t value, int64_t smallest = 0) {
    options.push_back({name.str(), value, smallest});
  }
  /// Returns an option that the block's `choose` has set.
  int64_t get(llvm::StringRef name) const;
};

/// Shape of the activations between blocks: `[batch, width]`, `[batch, seq,
/// width]` or `[batch, channels, 4, 4]`.
enum class Form : unsigned { Rows = 1, Sequence = 2, Image = 4 };

/// Position of a block in a model.
enum class Slot {
  /// Produces the first activation; one block.
  Stem,
  /// After the stem, any number of blocks.
  AfterStem,
  /// First part of a layer; one block.
  Mixer,
  /// Second part of a layer; one block.
  Feed,
  /// After the layers, any number of blocks.
  Tail,
  /// Produces the logits; one block.
  Head,
  /// Produces the loss, a scalar; one block.
  Loss,
};
inline constexpr unsigned numSlots = 7;

/// A random model. Sizes are those of the global batch.
struct Model {
  Form form = Form::Rows;
  int64_t batch = 4;
  /// Length of a sequence; 0 for activations without one.
  int64_t seq = 0;
  /// Width of the activations between blocks.
  int64_t width = 4;
  int64_t classes = 4;
  int64_t layers = 1;
  /// Number of layers that are written out. The others are one `nn.repeat`.
  int64_t repeatFrom = 0;
  std::string element = "f32";
  /// Entries of `#nn.training`; empty for a model without a backward pass.
  Entries training;
  /// Attributes of the module other than the cluster.
  Entries moduleAttributes;
  /// Blocks by slot.
  std::vector<BlockUse> blocks[numSlots];

  llvm::ArrayRef<BlockUse> in(Slot slot) const {
    return blocks[static_cast<unsigned>(slot)];
  }
  std::vector<BlockUse> &in(Slot slot) {
    return blocks[static_cast<unsigned>(slot)];
  }
  /// Returns true if the model has a block with this name.
  bool uses(llvm::StringRef name) const;
};

/// An operation that a tree may split.
struct Kernel {
  /// Path, relative to the layer for operations in a layer.
  std::string path;
  bool inLayer;
  std::vector<std::pair<std::string, int64_t>> iterators;
  /// Shape of the weight; empty for operations without one.
  std::vector<int64_t> weight;

  /// Returns the size of an iterator, or 0 if there is none with this name.
  int64_t getSize(llvm::StringRef iterator) const;
};

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// One entry of a split: `key -> [axes]`.
struct Arrow {
  std::string key;
  std::vector<std::string> axes;
  /// Words before the axes, each followed by a space: `zigzag `, `ring `.
  std::string how = "";
};

struct Split {
  /// Item that is split: `op`, `weight`, `state`, ...
  std::string item;
  std::vector<Arrow> arrows;
};

/// A node of the tree, or the tree itself.
struct Node {
  std::string pattern;
  std::vector<Split> splits;
  /// Other lines: `recompute`, `stages x`, `at [x = 1]`, ...
  std::vector<std::string> settings;
  std::list<Node> children;

  /// Returns true if this node splits `item`.
  bool splitsItem(llvm::StringRef item) const;
  /// Returns true if a setting of this node starts with the word `keyword`.
  bool says(llvm::StringRef keyword) const;
};

struct Tree {
  /// Attribute that names or describes the cluster.
  std::string cluster = "\"dgx-a100:2\"";
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<int64_t> devices;
  /// Lines with `key = value` pairs: `schedule`, `bucket`, ...
  std::vector<std::pair<std::string, Entries>> directives;
  Node root;

  /// Returns the entries of a line. Adds the line if it does not exist.
  Entries &directive(llvm::StringRef keyword);
  /// Returns the entries of a line, or null if it does not exist.
  const Entries *findDirective(llvm::StringRef keyword) const;
  /// Returns the number of micro-batches; 1 without a schedule.
  int64_t getMicroBatches() const;
};

struct Case {
  Model model;
  Tree tree;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_CASE_H
