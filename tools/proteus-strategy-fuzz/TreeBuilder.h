//===- TreeBuilder.h - construction of a random tree ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_TREEBUILDER_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_TREEBUILDER_H

#include "Case.h"
#include "Random.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace proteus {
namespace fuzz {

/// The tree under construction, with the data that features use. The first
/// features of Registry.def fill the fields; later ones rely on them.
class TreeBuilder {
public:
  TreeBuilder(const Model &model, llvm::ArrayRef<Kernel> kernels)
      : model(model), kernels(kernels) {}

  const Model &model;
  /// Kernels of the model, those of layers once.
  llvm::ArrayRef<Kernel> kernels;
  Tree tree;
  /// Axis of the pipeline; empty without a pipeline.
  std::string pipeline;
  /// All other axes; of these, the axes that split the batch of all operations,
  /// and the rest.
  std::vector<std::string> freeAxes, batchAxes, innerAxes;

  int64_t sizeOf(llvm::StringRef axis) const;
  /// Returns the number of pipeline stages; 1 without a pipeline.
  int64_t getNumStages() const { return sizeOf(pipeline); }
  /// Returns the number of chunks per stage.
  int64_t getNumChunks() const;
  /// Sets an entry of the schedule. Sorts the entries as the syntax requires.
  void setSchedule(llvm::StringRef key, llvm::StringRef value);
  void setSchedule(llvm::StringRef key, int64_t value) {
    setSchedule(key, std::to_string(value));
  }
  int64_t numParts(llvm::ArrayRef<std::string> axes) const;
  /// Returns one or several axes of `from`, in random order, with at most
  /// `limit` parts in total. Returns none if every axis has more parts.
  std::vector<std::string> chooseAxes(Random &random,
                                      std::vector<std::string> from,
                                      int64_t limit) const;
  /// Returns the child of `parent` with this pattern, which is added if it does
  /// not exist. Children that stay empty are not written.
  Node &getNode(Node &parent, llvm::StringRef pattern);
  /// Calls `change` for every kernel and its node. Kernels in layers occur once
  /// for every node that selects layers.
  void forEachKernel(llvm::function_ref<void(const Kernel &, Node &)> change);
  /// Returns the nodes that select layers.
  std::vector<Node *> getLayerNodes();
  /// Adds the arrows `key -> axes` of a kernel as `split op`. If they use axes
  /// of the batch, adds an arrow with the remaining axes for it. Returns false
  /// and does nothing if the kernel is already split.
  bool splitKernel(const Kernel &kernel, Node &node, std::vector<Arrow> arrows);

  /// Returns the tree without empty nodes.
  Tree take();
};

/// Calls `change` for `node` and all nodes below it. Returns true if any call
/// does.
bool changeNodes(Node &node, llvm::function_ref<bool(Node &)> change);

/// Removes the arrows that `matches` selects, and splits that become empty.
bool removeArrows(
    Tree &tree, llvm::function_ref<bool(const Split &, const Arrow &)> matches);

/// Removes the settings of nodes that start with the word `keyword`.
bool removeSettings(Tree &tree, llvm::StringRef keyword);

/// Removes one entry of a line. Returns false if it does not exist.
bool removeEntry(Tree &tree, llvm::StringRef keyword, llvm::StringRef key);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_TREEBUILDER_H
