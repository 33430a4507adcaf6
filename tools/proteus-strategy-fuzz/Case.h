//===- Case.h - a model and a tree as plain structures ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What blocks and features put into a case is held in general forms (options,
// settings, directives), so that a case can be written as text and made smaller
// without knowing them.
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

/// `key = value` pairs, in the order in which they are written.
struct Entries {
  std::vector<std::pair<std::string, std::string>> list;

  /// The value, empty if there is none.
  llvm::StringRef get(llvm::StringRef key) const;
  void set(llvm::StringRef key, llvm::StringRef value);
  void set(llvm::StringRef key, int64_t value) {
    set(key, std::to_string(value));
  }
  /// False if there was none.
  bool erase(llvm::StringRef key);
};

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// A number that a block has chosen.
struct Option {
  std::string name;
  int64_t value;
  /// A case is made smaller by lowering the value down to this one.
  int64_t smallest;
};

/// A block as a model uses it.
struct BlockUse {
  const Block *block;
  std::vector<Option> options;

  void set(llvm::StringRef name, int64_t value, int64_t smallest = 0) {
    options.push_back({name.str(), value, smallest});
  }
  /// The value of an option that `choose` of the block has set.
  int64_t get(llvm::StringRef name) const;
};

/// What the activations between blocks are: `[batch, width]`, `[batch, seq,
/// width]` or `[batch, channels, 4, 4]`.
enum class Form : unsigned { Rows = 1, Sequence = 2, Image = 4 };

/// Where a block stands in a model.
enum class Slot {
  /// Makes the first activation; one block.
  Stem,
  /// After the stem, any number of blocks.
  AfterStem,
  /// First part of a layer; one block.
  Mixer,
  /// Second part of a layer; one block.
  Feed,
  /// After the layers, any number of blocks.
  Tail,
  /// Makes the logits; one block.
  Head,
  /// Makes the loss, a scalar; one block.
  Loss,
};
inline constexpr unsigned numSlots = 7;

/// Sizes are those of the global batch.
struct Model {
  Form form = Form::Rows;
  int64_t batch = 4;
  /// Length of a sequence; 0 where the activations have none.
  int64_t seq = 0;
  /// Of the activations between blocks.
  int64_t width = 4;
  int64_t classes = 4;
  int64_t layers = 1;
  /// Layers before this one are written out, the others are one `nn.repeat`.
  int64_t repeatFrom = 0;
  std::string element = "f32";
  /// Those of `#nn.training`; where this is empty the model is only run
  /// forward.
  Entries training;
  /// Attributes of the module besides the cluster.
  Entries moduleAttributes;
  /// By slot.
  std::vector<BlockUse> blocks[numSlots];

  llvm::ArrayRef<BlockUse> in(Slot slot) const {
    return blocks[static_cast<unsigned>(slot)];
  }
  std::vector<BlockUse> &in(Slot slot) {
    return blocks[static_cast<unsigned>(slot)];
  }
  /// Whether a block of this name is in the model.
  bool uses(llvm::StringRef name) const;
};

/// An operation as the tree may split it.
struct Kernel {
  /// Relative to the layer if it is in one.
  std::string path;
  bool inLayer;
  std::vector<std::pair<std::string, int64_t>> iterators;
  /// Shape of the weight; empty if there is none.
  std::vector<int64_t> weight;

  /// Size of an iterator, 0 if there is none of this name.
  int64_t getSize(llvm::StringRef iterator) const;
};

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// `key -> [axes]`
struct Arrow {
  std::string key;
  std::vector<std::string> axes;
  /// Words in front of the axes, each followed by a space: `zigzag `, `ring `.
  std::string how = "";
};

struct Split {
  /// `op`, `weight`, `state`, ...
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

  /// Whether `item` is split here.
  bool splitsItem(llvm::StringRef item) const;
  /// Whether a line here starts with `keyword`.
  bool says(llvm::StringRef keyword) const;
};

struct Tree {
  /// The attribute that names or describes the cluster.
  std::string cluster = "\"dgx-a100:2\"";
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<int64_t> devices;
  /// Lines of `key = value` pairs: `schedule`, `bucket`, ...
  std::vector<std::pair<std::string, Entries>> directives;
  Node root;

  /// The entries of a line, which is added if it is not there.
  Entries &directive(llvm::StringRef keyword);
  /// The entries of a line, nothing if it is not there.
  const Entries *findDirective(llvm::StringRef keyword) const;
  /// 1 where there is no schedule.
  int64_t getMicroBatches() const;
};

struct Case {
  Model model;
  Tree tree;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_CASE_H
