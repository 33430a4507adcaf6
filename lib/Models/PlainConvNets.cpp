//===- PlainConvNets.cpp - AlexNet and VGG ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Layers.h"

#include "Proteus/Models/Registry.h"

using namespace llvm;
using namespace mlir;
using namespace proteus::models;

namespace {

/// A sequence of convolutions and max poolings, followed by three linear
/// layers.
class PlainConvNet : public Model {
public:
  void declare(Dimensions &dimensions) override {
    dimensions.integer("image", image, 1, 16384);
    dimensions.integer("classes", classes);
    dimensions.list("channels", channels);
    dimensions.integer("hidden", hidden);
    dimensions.integer("pool", pool, 1, 1024);
    dimensions.flag("copies", copies);
  }

  Error check() const override {
    int64_t size = featureSize();
    if (size < 1)
      return createStringError("image=" + Twine(image) +
                               " is too small: a window is larger than the "
                               "output of the windows before it");
    if (size % pool != 0)
      return createStringError("image=" + Twine(image) + " gives features of " +
                               Twine(size) + " by " + Twine(size) +
                               ", which can't be cut into pool=" + Twine(pool) +
                               " equal parts");
    return Error::success();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value x = graph.input("images", {batch, 3, image, image});
    Value labels = graph.indices("labels", {batch});
    graph.under("features", [&] { x = features(graph, x); });
    x = poolTo(graph, "pool", x, pool);
    x = flatten(graph, "flatten", x);
    if (copies)
      x = copy(graph, "flatten_copy", x);
    graph.under("classifier", [&] { x = classifier(graph, x); });
    return graph.crossEntropy("loss", x, labels);
  }

protected:
  /// Returns the height of the features in pixels, which is also their width.
  /// Returns 0 if a window is larger than its input.
  virtual int64_t featureSize() const = 0;
  virtual Value features(GraphBuilder &graph, Value x) const = 0;
  virtual Value classifier(GraphBuilder &graph, Value x) const = 0;

  int64_t image = 224, classes = 1000, hidden = 4096, pool = 1;
  std::vector<int64_t> channels;
  /// True if the flattened features are copied in memory, as in the reference
  /// (the published Proteus). Otherwise they are a view.
  bool copies = false;
};

class AlexNet : public PlainConvNet {
public:
  explicit AlexNet(bool original = false) {
    channels = {64, 192, 384, 256, 256};
    pool = 6;
    copies = original;
  }

  Error check() const override {
    if (channels.size() != 5)
      return createStringError("channels must be those of the 5 convolutions");
    return PlainConvNet::check();
  }

protected:
  int64_t featureSize() const override {
    int64_t size = image;
    for (const Window &window : {first, reduction, reduction, reduction})
      size = window.positions(size);
    return size;
  }

  Value features(GraphBuilder &graph, Value x) const override {
    const Window windows[] = {first, Window(5, 1, 2), Window(3, 1, 1),
                              Window(3, 1, 1), Window(3, 1, 1)};
    for (unsigned i = 0; i < 5; ++i) {
      std::string number = std::to_string(i + 1);
      x = convolution(graph, "conv" + number, x, channels[i], windows[i]);
      x = graph.relu("act" + number, x);
      if (i < 2 || i == 4)
        x = maxPool(graph, "pool" + number, x, reduction);
    }
    return x;
  }

  Value classifier(GraphBuilder &graph, Value x) const override {
    x = dropout(graph, "drop6", x, 0.5);
    x = graph.relu("act6", graph.linear("fc6", x, hidden, /*bias=*/true));
    x = dropout(graph, "drop7", x, 0.5);
    x = graph.relu("act7", graph.linear("fc7", x, hidden, /*bias=*/true));
    return graph.linear("fc8", x, classes, /*bias=*/true);
  }

private:
  Window first{11, 4, 2}, reduction{3, 2};
};

class VGG : public PlainConvNet {
public:
  explicit VGG(std::vector<int64_t> depths = {2, 2, 3, 3, 3},
               bool original = false)
      : depths(std::move(depths)) {
    channels = {64, 128, 256, 512, 512};
    pool = 7;
    copies = original;
  }

  void declare(Dimensions &dimensions) override {
    PlainConvNet::declare(dimensions);
    dimensions.list("depths", depths, 1, 1000);
  }

  Error check() const override {
    if (channels.size() != depths.size())
      return createStringError(
          "channels and depths must have the same length: one entry per stage");
    return PlainConvNet::check();
  }

protected:
  int64_t featureSize() const override {
    int64_t size = image;
    for (size_t i = 0; i < depths.size(); ++i)
      size /= 2;
    return size;
  }

  Value features(GraphBuilder &graph, Value x) const override {
    for (size_t stage = 0; stage < depths.size(); ++stage)
      graph.under("stage" + Twine(stage + 1), [&] {
        for (int64_t i = 1; i <= depths[stage]; ++i) {
          x = convolution(graph, "conv" + std::to_string(i), x, channels[stage],
                          Window(3, 1, 1));
          x = graph.relu("act" + std::to_string(i), x);
        }
        x = maxPool(graph, "pool", x, Window(2, 2));
      });
    return x;
  }

  Value classifier(GraphBuilder &graph, Value x) const override {
    x = graph.relu("act1", graph.linear("fc1", x, hidden, /*bias=*/true));
    x = dropout(graph, "drop1", x, 0.5);
    x = graph.relu("act2", graph.linear("fc2", x, hidden, /*bias=*/true));
    x = dropout(graph, "drop2", x, 0.5);
    return graph.linear("fc3", x, classes, /*bias=*/true);
  }

private:
  std::vector<int64_t> depths; ///< number of convolutions per stage
};

} // namespace

void proteus::models::addPlainConvNets(Registry &registry) {
  registry.add(
      Family{"alexnet", "five convolutions, three linear layers", {}, [] {
               return std::make_unique<AlexNet>();
             }});
  registry.add(Family{"vgg", "stages of 3x3 convolutions", {}, [] {
                        return std::make_unique<VGG>();
                      }});
  std::string source = "torchvision (Krizhevsky 2014, one tower)";
  registry.add(Preset{"alexnet", "alexnet", "AlexNet, 61 M parameters", source,
                      [] { return std::make_unique<AlexNet>(); }});
  registry.add(Preset{"alexnet-reference", "alexnet",
                      "AlexNet as in the published Proteus", source,
                      [] { return std::make_unique<AlexNet>(true); }});
  struct Depth {
    int layers;
    std::vector<int64_t> stages;
  };
  const Depth depths[] = {{11, {1, 1, 2, 2, 2}},
                          {13, {2, 2, 2, 2, 2}},
                          {16, {2, 2, 3, 3, 3}},
                          {19, {2, 2, 4, 4, 4}}};
  source = "torchvision (Simonyan and Zisserman 2014, without batch norm)";
  for (const Depth &depth : depths) {
    std::string number = std::to_string(depth.layers);
    registry.add(Preset{
        "vgg" + number, "vgg", "VGG-" + number, source,
        [stages = depth.stages] { return std::make_unique<VGG>(stages); }});
  }
  registry.add(Preset{"vgg19-reference", "vgg",
                      "VGG-19 as in the published Proteus", source, [] {
                        return std::make_unique<VGG>(
                            std::vector<int64_t>{2, 2, 4, 4, 4}, true);
                      }});
}
