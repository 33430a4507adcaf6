//===- SSD.cpp - single-shot detection --------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "ResNet.h"

#include "Proteus/Models/Registry.h"

using namespace llvm;
using namespace mlir;
using namespace proteus::models;

namespace {

/// A detector. Its feature maps are the output of a residual network with three
/// stages, and the outputs of extra layers, which reduce the image further.
/// Each feature map has one head for the positions of boxes and one head for
/// the classes of boxes.
class SSD : public Model {
public:
  SSD() {
    trunk.blocks = {3, 4, 6};
    // The last stage does not halve its input (38 by 38 pixels in SSD300), so
    // that small objects are detected.
    trunk.sameSize = 2;
  }

  void declare(Dimensions &dimensions) override {
    dimensions.integer("image", image, 1, 16384);
    dimensions.integer("classes", classes);
    dimensions.list("extra_channels", extraChannels);
    dimensions.list("extra_inner", extraInner);
    dimensions.list("boxes", boxes, 1, 1000);
    trunk.declare(dimensions);
  }

  Error check() const override {
    if (extraChannels.size() != extraInner.size() ||
        boxes.size() != extraChannels.size() + 1)
      return createStringError(
          "extra_channels and extra_inner must have the same length, and boxes "
          "one entry more: its first entry is for the trunk");
    int64_t size = Window(3, 2, 1).positions(Window(7, 2, 3).positions(image));
    for (size_t stage = 1; stage < trunk.blocks.size(); ++stage)
      if (static_cast<int64_t>(stage) != trunk.sameSize)
        size = Window(3, 2, 1).positions(size);
    for (size_t i = 0; i < extraChannels.size(); ++i)
      size = extraWindow(i).positions(size);
    if (size < 1)
      return createStringError("image=" + Twine(image) + " is too small for " +
                               Twine(extraChannels.size()) +
                               " extra layers; use fewer of them");
    return trunk.check();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value x = graph.input("images", {batch, 3, image, image});
    graph.under("trunk", [&] { x = trunk.build(graph, x); });
    GraphBuilder::Values places, scores;
    heads(graph, x, 0, places, scores);
    for (size_t i = 0; i < extraChannels.size(); ++i) {
      graph.under("extra" + Twine(i + 1), [&] {
        x = normedConvolution(graph, "conv1", "bn1", x, extraInner[i],
                              Window(1), trunk.normGroups);
        x = graph.relu("act1", x);
        x = normedConvolution(graph, "conv2", "bn2", x, extraChannels[i],
                              extraWindow(i), trunk.normGroups);
        x = graph.relu("act2", x);
      });
      heads(graph, x, i + 1, places, scores);
    }
    return loss(graph, graph.concat("places", places),
                graph.concat("scores", scores));
  }

private:
  /// Returns the window of the extra layer with index `number`. The first three
  /// extra layers halve the height and width of the feature map. The others
  /// remove a border of one pixel.
  static Window extraWindow(size_t number) {
    return number < 3 ? Window(3, 2, 1) : Window(3);
  }

  /// Builds the two heads of the feature map `x`, which has the index `number`.
  /// Appends the positions of the boxes to `places`, and the scores of the
  /// boxes for each class to `scores`.
  void heads(GraphBuilder &graph, Value x, size_t number,
             GraphBuilder::Values &places, GraphBuilder::Values &scores) const {
    auto head = [&](const std::string &name, int64_t perBox) {
      Value y =
          convolution(graph, name, x, boxes[number] * perBox, Window(3, 1, 1));
      GraphBuilder::Shape shape = GraphBuilder::shapeOf(y);
      return graph.reshape(
          name + "_boxes", y,
          {shape[0], perBox, boxes[number] * shape[2] * shape[3]});
    };
    graph.under("heads" + Twine(number + 1), [&] {
      places.push_back(head("place", 4));
      scores.push_back(head("class", classes));
    });
  }

  Value loss(GraphBuilder &graph, Value places, Value scores) const {
    GraphBuilder::Shape shape = GraphBuilder::shapeOf(places);
    Value targets = graph.input("places", {shape[0], 4, shape[2]});
    Value labels = graph.indices("labels", {shape[0], shape[2]});
    Value ofClasses = graph.crossEntropy(
        "loss.classes", graph.transpose("loss.rows", scores, {0, 2, 1}),
        labels);
    Value ofPlaces = graph.mseLoss("loss.places", places, targets);
    return graph.add("loss", ofClasses, ofPlaces);
  }

  int64_t image = 300, classes = 81;
  ResNetTrunk trunk;
  /// Numbers of output channels of the two convolutions of each extra layer:
  /// `extraInner` for the first, `extraChannels` for the second.
  std::vector<int64_t> extraChannels = {512, 512, 256, 256, 256};
  std::vector<int64_t> extraInner = {256, 256, 128, 128, 128};
  /// Number of boxes per pixel of each feature map.
  std::vector<int64_t> boxes = {4, 6, 6, 6, 4, 4};
};

} // namespace

void proteus::models::addSSD(Registry &registry) {
  registry.add(Family{"ssd", "detection on a residual network", {}, [] {
                        return std::make_unique<SSD>();
                      }});
  registry.add(Preset{
      "ssd300-resnet50", "ssd",
      "SSD300 on ResNet-50; squared loss of box positions, over all boxes",
      "NVIDIA DeepLearningExamples, SSD300 v1.1",
      [] { return std::make_unique<SSD>(); }});
}
