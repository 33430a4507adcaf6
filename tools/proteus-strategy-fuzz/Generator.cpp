//===- Generator.cpp - random small models and strategies -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "ModelWriter.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace proteus::fuzz;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {
/// Number n of a stream is a hash of the stream and n.
class Random {
public:
  Random(uint64_t seed, uint64_t index) : stream(mix(mix(seed) ^ index)) {}

  /// A number in `[0, end)`.
  int64_t below(int64_t end) {
    return static_cast<int64_t>(mix(stream + counter++) %
                                static_cast<uint64_t>(end));
  }
  /// A number in `[first, last]`.
  int64_t between(int64_t first, int64_t last) {
    return first + below(last - first + 1);
  }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  /// The finaliser of SplitMix64.
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t stream;
  uint64_t counter = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Random models
//===----------------------------------------------------------------------===//

static Model generateModel(Random &random) {
  Model model;
  int64_t kind = random.below(10);
  model.kind = kind < 4   ? ModelKind::Perceptron
               : kind < 8 ? ModelKind::Transformer
                          : ModelKind::Convolution;
  bool convolution = model.kind == ModelKind::Convolution;
  bool transformer = model.kind == ModelKind::Transformer;
  model.batch = random.pick<int64_t>({4, 5, 6, 7, 8, 8, 8, 9, 12, 12});
  if (transformer || (!convolution && random.chance(60)))
    model.seq = random.pick<int64_t>({2, 3, 4, 4, 5, 6});
  model.width = random.between(4, convolution ? 6 : 12);
  model.inner = random.between(4, 12);
  model.classes = random.between(4, 12);
  model.keyHeads = random.pick<int64_t>({1, 2, 2, 3, 4, 4});
  model.heads =
      model.keyHeads * (model.keyHeads <= 2 ? random.between(1, 2) : 1);
  model.headDim = random.between(1, 3);
  model.layers = random.between(1, convolution ? 3 : 4);
  model.repeatFrom = random.chance(60)   ? 0
                     : random.chance(50) ? model.layers
                                         : random.below(model.layers);
  model.bias = random.chance(50);
  model.residual = random.chance(50);
  model.dropout = random.chance(25);
  model.gelu = random.chance(50);
  model.causal = random.chance(50);
  model.matmul = model.seq && !transformer && random.chance(60);
  model.pool = random.chance(40);
  model.embedding = !convolution && random.chance(transformer ? 70 : 25);
  model.position = model.seq && random.chance(50);
  model.tied = model.embedding && random.chance(20);
  model.lastNorm = !convolution && random.chance(40);
  model.flatLoss = model.seq && random.chance(25);
  model.optimizer = random.pick<const char *>({"sgd", "momentum", "adam"});
  if (random.chance(40)) {
    model.element = "bf16";
    model.castLogits = random.chance(30);
    if (random.chance(60))
      model.gradient = "f32";
    if (random.chance(50))
      model.master = "f32";
    if (!model.gradient.empty() && random.chance(30))
      model.reduction = "bf16";
  } else if (random.chance(20)) {
    model.reduction = "bf16";
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Random trees
//===----------------------------------------------------------------------===//

namespace {
/// Random settings for one model, most of them possible.
class TreeGenerator {
public:
  TreeGenerator(Random &random, const Model &model, ArrayRef<Kernel> kernels)
      : random(random), model(model), kernels(kernels) {}

  Tree run();

private:
  int64_t sizeOf(StringRef axis) const;
  int64_t numParts(ArrayRef<std::string> axes) const;
  void chooseMesh();
  /// One or several of `from`, in any order, with at most `limit` parts.
  std::vector<std::string> chooseAxes(std::vector<std::string> from,
                                      int64_t limit);
  void chooseSchedule();
  /// A split of the iterators of a kernel.
  bool splitKernel(const Kernel &kernel, Node &node);
  void splitMemory(Node &node, const Sizes &shape);
  /// Settings inside a node that selects layers.
  void fillLayers(Node &node);

  Random &random;
  const Model &model;
  ArrayRef<Kernel> kernels;
  Tree tree;
  /// The axis of the pipeline, if any.
  std::string pipeline;
  /// The other axes, those of them that split the batch of everything, and
  /// those that do not.
  std::vector<std::string> freeAxes, batchAxes, innerAxes;
};
} // namespace

int64_t TreeGenerator::sizeOf(StringRef axis) const {
  for (auto &[name, size] : tree.mesh)
    if (name == axis)
      return size;
  return 1;
}

int64_t TreeGenerator::numParts(ArrayRef<std::string> axes) const {
  int64_t parts = 1;
  for (const std::string &axis : axes)
    parts *= sizeOf(axis);
  return parts;
}

void TreeGenerator::chooseMesh() {
  constexpr int64_t maxDevices = 16;
  std::vector<std::string> names{"x", "y", "z"};
  int64_t rank = random.pick<int64_t>({1, 2, 2, 2, 3, 3, 3});
  int64_t devices = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = random.pick<int64_t>({1, 2, 2, 2, 2, 3, 3, 4});
    size = std::min(size, maxDevices / devices);
    devices *= size;
    tree.mesh.push_back({names[i], size});
  }
  if (random.chance(10)) {
    for (int64_t i = 0; i < devices; ++i)
      tree.devices.push_back(i);
    random.shuffle(tree.devices);
  }
  for (auto &[name, size] : tree.mesh)
    if (pipeline.empty() && size >= 2 && size <= model.layers &&
        random.chance(model.tied ? 4 : 40))
      pipeline = name;
    else
      freeAxes.push_back(name);
}

std::vector<std::string>
TreeGenerator::chooseAxes(std::vector<std::string> from, int64_t limit) {
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

void TreeGenerator::chooseSchedule() {
  if (!random.chance(65))
    return;
  std::vector<int64_t> choices{1};
  // Micro-batches times parts have to divide the batch; kernels that split it
  // otherwise may still break this.
  for (int64_t micro = 2; micro <= 6; ++micro)
    if (model.batch % (micro * numParts(batchAxes)) == 0)
      choices.push_back(micro);
  tree.microBatches = choices[random.below(choices.size())];
  if (random.chance(60))
    tree.order = random.pick<const char *>({"gpipe", "1f1b"});
  if (random.chance(25))
    tree.maxOngoing = random.between(1, 3);
}

bool TreeGenerator::splitKernel(const Kernel &kernel, Node &node) {
  // Axes that split the batch are taken from it where they are used otherwise.
  bool anyAxes = innerAxes.empty() || random.chance(25);
  std::vector<std::string> available = anyAxes ? freeAxes : innerAxes;
  std::vector<std::pair<std::string, int64_t>> iterators(kernel.iterators);
  llvm::erase_if(iterators, [](auto &it) { return it.first == "batch"; });
  random.shuffle(iterators);
  Split split{"op", {}};
  int64_t wanted = random.chance(25) ? 2 : 1;
  for (auto &[name, size] : iterators) {
    if (static_cast<int64_t>(split.arrows.size()) == wanted)
      break;
    std::vector<std::string> axes = chooseAxes(available, size);
    if (axes.empty())
      continue;
    llvm::erase_if(available, [&](const std::string &axis) {
      return llvm::is_contained(axes, axis);
    });
    split.arrows.push_back({name, axes});
  }
  std::vector<std::string> rest;
  for (const std::string &axis : batchAxes)
    if (llvm::none_of(split.arrows, [&](const Arrow &arrow) {
          return llvm::is_contained(arrow.axes, axis);
        }))
      rest.push_back(axis);
  if (rest.size() < batchAxes.size() && !kernel.iterators.empty())
    split.arrows.push_back({"batch", rest});
  else if (!batchAxes.empty() && !kernel.iterators.empty() && random.chance(8))
    split.arrows.push_back({"batch", {}});
  if (split.arrows.empty())
    return false;
  random.shuffle(split.arrows);
  node.splits.push_back(std::move(split));
  return true;
}

void TreeGenerator::splitMemory(Node &node, const Sizes &shape) {
  if (shape.empty() || freeAxes.empty())
    return;
  int64_t dim = random.chance(70) ? 0 : random.below(shape.size());
  std::vector<std::string> axes =
      chooseAxes(batchAxes.empty() || random.chance(20) ? freeAxes : batchAxes,
                 shape[dim]);
  if (axes.empty())
    return;
  node.splits.push_back({random.pick<const char *>({"weight", "state"}),
                         {{std::to_string(dim), axes}}});
}

void TreeGenerator::fillLayers(Node &node) {
  node.recompute = random.chance(30);
  for (const Kernel &kernel : kernels) {
    if (!kernel.inLayer || !random.chance(30))
      continue;
    Node child;
    child.pattern = kernel.path;
    if (random.chance(85))
      splitKernel(kernel, child);
    if (random.chance(15))
      splitMemory(child, kernel.weight);
    child.recompute = random.chance(8);
    if (!child.splits.empty() || child.recompute)
      node.children.push_back(std::move(child));
  }
}

Tree TreeGenerator::run() {
  chooseMesh();
  if (random.chance(80))
    batchAxes = chooseAxes(freeAxes, model.batch);
  for (const std::string &axis : freeAxes)
    if (!llvm::is_contained(batchAxes, axis))
      innerAxes.push_back(axis);
  chooseSchedule();
  if (random.chance(25))
    tree.bucketSize = random.pick<int64_t>({1, 100, 400, 1000});
  if (random.chance(12))
    tree.bucketFirst = random.pick<int64_t>({1, 64, 300});

  Node &root = tree.root;
  if (!batchAxes.empty())
    root.splits.push_back({"op", {{"batch", batchAxes}}});
  if (random.chance(30))
    splitMemory(root, {4});
  root.recompute = pipeline.empty() && random.chance(6);
  for (const Kernel &kernel : kernels) {
    if (kernel.inLayer || !random.chance(30))
      continue;
    Node node;
    node.pattern = kernel.path;
    splitKernel(kernel, node);
    if (random.chance(15))
      splitMemory(node, kernel.weight);
    if (!node.splits.empty())
      root.children.push_back(std::move(node));
  }

  if (!pipeline.empty() && random.chance(30)) {
    // Every range of layers has a place and settings of its own.
    int64_t stages = sizeOf(pipeline), begin = 0;
    for (int64_t stage = 0; stage < stages; ++stage) {
      int64_t left = stages - stage - 1;
      int64_t end =
          left ? random.between(begin + 1, model.layers - left) : model.layers;
      Node node;
      node.pattern = llvm::formatv("layers[{0}:{1}]", begin, end).str();
      node.place = llvm::formatv("at [{0} = {1}]", pipeline, stage).str();
      fillLayers(node);
      root.children.push_back(std::move(node));
      begin = end;
    }
    return std::move(tree);
  }
  Node node;
  node.pattern = "layers[*]";
  if (!pipeline.empty())
    node.place = "stages " + pipeline;
  fillLayers(node);
  if (!node.place.empty() || node.recompute || !node.children.empty())
    root.children.push_back(std::move(node));
  if (random.chance(15)) {
    // One layer is different.
    Node other;
    other.pattern =
        llvm::formatv("layers[{0}]", random.below(model.layers)).str();
    fillLayers(other);
    if (other.recompute || !other.children.empty())
      root.children.push_back(std::move(other));
  }
  return std::move(tree);
}

Case proteus::fuzz::generate(uint64_t seed, uint64_t index) {
  Random random(seed, index);
  Case result;
  result.model = generateModel(random);
  ModelWriter writer(result.model);
  writer.write();
  result.tree = TreeGenerator(random, result.model, writer.getKernels()).run();
  return result;
}
