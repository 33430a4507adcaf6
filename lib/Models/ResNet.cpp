//===- ResNet.cpp - residual networks ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResNet.h"

#include "Families.h"

#include "Proteus/Models/Registry.h"

using namespace llvm;
using namespace mlir;
using namespace proteus::models;

//===----------------------------------------------------------------------===//
// The convolutional part
//===----------------------------------------------------------------------===//

void ResNetTrunk::declare(Dimensions &dimensions) {
  dimensions.list("blocks", blocks, 1, 1000);
  dimensions.flag("bottleneck", bottleneck);
  dimensions.integer("width", width, 1, 1 << 16);
  dimensions.integer("groups", groups, 1, 1 << 16);
  dimensions.integer("group_width", groupWidth, 0, 1 << 16);
  dimensions.integer("norm_groups", normGroups);
}

Error ResNetTrunk::check() const {
  if (blocks.size() > 8)
    return createStringError("blocks has " + Twine(blocks.size()) +
                             " stages; 8 are the most");
  if (groups > 1 && !bottleneck)
    return createStringError("groups=" + Twine(groups) +
                             " needs blocks with a bottleneck");
  if (groupWidth == 0 && width % groups != 0)
    return createStringError("groups=" + Twine(groups) + " must divide width=" +
                             Twine(width) + ", or group_width must be given");
  return Error::success();
}

int64_t ResNetTrunk::inner(size_t stage) const {
  int64_t first = groupWidth == 0 ? width : groups * groupWidth;
  return first << stage;
}

int64_t ResNetTrunk::outer(size_t stage) const {
  return (width << stage) * (bottleneck ? 4 : 1);
}

Value ResNetTrunk::block(GraphBuilder &graph, Value x, size_t stage,
                         int64_t stride) const {
  // In a bottleneck, the 3x3 convolution has the stride (ResNet v1.5), instead
  // of the first 1x1 convolution (ResNet v1).
  Value y = x, shortcut = x;
  auto layer = [&](const std::string &number, int64_t channels, Window window,
                   int64_t convGroups = 1) {
    y = normedConvolution(graph, "conv" + number, "bn" + number, y, channels,
                          window, normGroups, convGroups);
  };
  if (bottleneck) {
    layer("1", inner(stage), Window(1));
    y = graph.relu("act1", y);
    layer("2", inner(stage), Window(3, stride, 1), groups);
    y = graph.relu("act2", y);
    layer("3", outer(stage), Window(1));
  } else {
    layer("1", inner(stage), Window(3, stride, 1));
    y = graph.relu("act1", y);
    layer("2", outer(stage), Window(3, 1, 1));
  }
  if (stride != 1 || GraphBuilder::shapeOf(x)[1] != outer(stage))
    shortcut = normedConvolution(graph, "downsample.conv", "downsample.bn", x,
                                 outer(stage), Window(1, stride), normGroups);
  return graph.relu("act", graph.add("residual", y, shortcut));
}

Value ResNetTrunk::build(GraphBuilder &graph, Value x) const {
  x = normedConvolution(graph, "conv1", "bn1", x, width, Window(7, 2, 3),
                        normGroups);
  x = maxPool(graph, "pool1", graph.relu("act1", x), Window(3, 2, 1));
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    bool halves = stage > 0 && static_cast<int64_t>(stage) != sameSize;
    std::string name = "layer" + std::to_string(stage + 1);
    graph.under(name + "[0]",
                [&] { x = block(graph, x, stage, halves ? 2 : 1); });
    if (blocks[stage] > 1)
      x = graph.repeat(
          name, blocks[stage] - 1, x,
          [&](Value y) { return block(graph, y, stage, 1); }, /*first=*/1);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

namespace {
/// Image classification with a residual network.
class ResNet : public Model {
public:
  ResNet() = default;
  ResNet(std::vector<int64_t> blocks, bool bottleneck, bool copies = false)
      : copies(copies) {
    trunk.blocks = std::move(blocks);
    trunk.bottleneck = bottleneck;
  }

  void declare(Dimensions &dimensions) override {
    dimensions.integer("image", image, 1, 16384);
    dimensions.integer("classes", classes);
    dimensions.flag("copies", copies);
    trunk.declare(dimensions);
  }
  Error check() const override { return trunk.check(); }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value x = graph.input("images", {batch, 3, image, image});
    Value labels = graph.indices("labels", {batch});
    x = trunk.build(graph, x);
    x = flatten(graph, "flatten", poolTo(graph, "pool", x, 1));
    if (copies)
      x = copy(graph, "flatten_copy", x);
    x = graph.linear("fc", x, classes, /*bias=*/true);
    return graph.crossEntropy("loss", x, labels);
  }

  ResNetTrunk trunk;

private:
  int64_t image = 224, classes = 1000;
  /// True if the flattened features are copied in memory, as in the reference
  /// (the published Proteus). Otherwise they are a view.
  bool copies = false;
};
} // namespace

void proteus::models::addResNets(Registry &registry) {
  registry.add(Family{"resnet", "residual networks", {"resnext"}, [] {
                        return std::make_unique<ResNet>();
                      }});
  struct Depth {
    int layers;
    std::vector<int64_t> blocks;
    bool bottleneck;
  };
  const Depth depths[] = {{18, {2, 2, 2, 2}, false},
                          {34, {3, 4, 6, 3}, false},
                          {50, {3, 4, 6, 3}, true},
                          {101, {3, 4, 23, 3}, true},
                          {152, {3, 8, 36, 3}, true}};
  std::string source = "torchvision (He et al. 2015, version 1.5)";
  for (const Depth &depth : depths) {
    std::string number = std::to_string(depth.layers);
    registry.add(Preset{"resnet" + number, "resnet",
                        "ResNet-" + number + " v1.5", source,
                        [blocks = depth.blocks, bottle = depth.bottleneck] {
                          return std::make_unique<ResNet>(blocks, bottle);
                        }});
  }
  registry.add(Preset{
      "resnext101-32x4d", "resnet", "ResNeXt-101, 32 groups of 4 channels",
      "timm (Xie et al. 2016)", [] {
        auto model = std::make_unique<ResNet>(std::vector<int64_t>{3, 4, 23, 3},
                                              /*bottleneck=*/true);
        model->trunk.groups = 32;
        model->trunk.groupWidth = 4;
        return model;
      }});
  registry.add(Preset{"resnet50-reference", "resnet",
                      "ResNet-50 as in the published Proteus", source, [] {
                        return std::make_unique<ResNet>(
                            std::vector<int64_t>{3, 4, 6, 3},
                            /*bottleneck=*/true, /*copies=*/true);
                      }});
}
