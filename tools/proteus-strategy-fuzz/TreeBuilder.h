//===- TreeBuilder.h - a random tree while it grows -------------*- C++ -*-===//
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

/// What a feature knows and changes. Fields are filled by the features at the
/// top of the list, see there; later ones may rely on them.
class TreeBuilder {
public:
  TreeBuilder(const Model &model, llvm::ArrayRef<Kernel> kernels)
      : model(model), kernels(kernels) {}

  const Model &model;
  /// Those of layers once.
  llvm::ArrayRef<Kernel> kernels;
  Tree tree;
  /// The axis of the pipeline, empty if there is none.
  std::string pipeline;
  /// The other axes, those of them that split the batch of everything, and
  /// those that do not.
  std::vector<std::string> freeAxes, batchAxes, innerAxes;

  int64_t sizeOf(llvm::StringRef axis) const;
  /// Stages of the pipeline; 1 without one.
  int64_t getNumStages() const { return sizeOf(pipeline); }
  /// Chunks per stage.
  int64_t getNumChunks() const;
  /// Sets an entry of the schedule, in the order in which they are written.
  void setSchedule(llvm::StringRef key, llvm::StringRef value);
  void setSchedule(llvm::StringRef key, int64_t value) {
    setSchedule(key, std::to_string(value));
  }
  int64_t numParts(llvm::ArrayRef<std::string> axes) const;
  /// One or several of `from`, in any order, with at most `limit` parts; none
  /// if the first one has more.
  std::vector<std::string> chooseAxes(Random &random,
                                      std::vector<std::string> from,
                                      int64_t limit) const;
  /// The child of `parent` with this pattern, which is added if it is not
  /// there. Children that say nothing in the end are not written.
  Node &getNode(Node &parent, llvm::StringRef pattern);
  /// Calls `change` for every kernel with its node: those outside layers once,
  /// those of layers once in every node that selects layers.
  void forEachKernel(llvm::function_ref<void(const Kernel &, Node &)> change);
  /// The nodes that select layers.
  std::vector<Node *> getLayerNodes();
  /// Adds the arrows `key -> axes` of a kernel as `split op`, and says what is
  /// left for its batch if they take axes from it. Does nothing if the kernel
  /// is split already.
  bool splitKernel(const Kernel &kernel, Node &node, std::vector<Arrow> arrows);

  /// The tree, without nodes that say nothing.
  Tree take();
};

/// Calls `change` for every node from `node` down; true if a call returns it.
bool changeNodes(Node &node, llvm::function_ref<bool(Node &)> change);

/// Removes the arrows that `matches` selects, and the splits that are then
/// empty.
bool removeArrows(
    Tree &tree, llvm::function_ref<bool(const Split &, const Arrow &)> matches);

/// Removes the lines of nodes that start with `keyword`.
bool removeSettings(Tree &tree, llvm::StringRef keyword);

/// Removes one entry of a line; false if it is not there.
bool removeEntry(Tree &tree, llvm::StringRef keyword, llvm::StringRef key);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_TREEBUILDER_H
