//===- Inception.cpp - Inception-v3 -----------------------------*- C++ -*-===//
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

/// Builder of the modules of Inception-v3. `width` is the number of channels of
/// the first convolution (32 in the published model).
class Modules {
public:
  Modules(GraphBuilder &graph, int64_t width, NormGroups normGroups)
      : graph(graph), width(width), normGroups(normGroups) {}

  Value stem(Value x);
  Value moduleA(Value x, int64_t poolChannels);
  Value reductionB(Value x);
  Value moduleC(Value x, int64_t inner);
  Value reductionD(Value x);
  Value moduleE(Value x);
  Value auxiliary(Value x, int64_t classes);

private:
  Value conv(StringRef path, Value x, int64_t channels, Window window) {
    graph.under(path, [&] {
      // `channels` is the published number of channels, which belongs to a
      // width of 32.
      x = normedConvolution(graph, "conv", "bn", x, channels * width / 32,
                            window, normGroups);
      x = graph.relu("act", x);
    });
    return x;
  }
  /// Builds one convolution per entry of `channels`, alternately with a 1x7 and
  /// a 7x1 kernel (height x width). The first is 7x1 if `tallFirst` is set.
  Value sevens(StringRef path, Value x, ArrayRef<int64_t> channels,
               bool tallFirst) {
    bool tall = tallFirst;
    for (auto [i, count] : llvm::enumerate(channels)) {
      x = conv((path + "_" + Twine(i + 2)).str(), x, count,
               tall ? Window({7, 1}, {3, 0}) : Window({1, 7}, {0, 3}));
      tall = !tall;
    }
    return x;
  }
  /// Builds a 1x3 and a 3x1 convolution (height x width), which both read `x`,
  /// and concatenates their channels.
  Value wideAndTall(StringRef path, Value x, int64_t channels) {
    Value wide = conv((path + "a").str(), x, channels, {{1, 3}, {0, 1}});
    Value tall = conv((path + "b").str(), x, channels, {{3, 1}, {1, 0}});
    return joinChannels(graph, (path + "_join").str(), {wide, tall});
  }

  GraphBuilder &graph;
  int64_t width;
  NormGroups normGroups;
};

} // namespace

Value Modules::stem(Value x) {
  x = conv("conv1a", x, 32, Window(3, 2));
  x = conv("conv2a", x, 32, Window(3));
  x = conv("conv2b", x, 64, Window(3, 1, 1));
  x = maxPool(graph, "pool1", x, Window(3, 2));
  x = conv("conv3b", x, 80, Window(1));
  x = conv("conv4a", x, 192, Window(3));
  return maxPool(graph, "pool2", x, Window(3, 2));
}

Value Modules::moduleA(Value x, int64_t poolChannels) {
  Value one = conv("branch1x1", x, 64, Window(1));
  Value five = conv("branch5x5_1", x, 48, Window(1));
  five = conv("branch5x5_2", five, 64, Window(5, 1, 2));
  Value three = conv("branch3x3_1", x, 64, Window(1));
  three = conv("branch3x3_2", three, 96, Window(3, 1, 1));
  three = conv("branch3x3_3", three, 96, Window(3, 1, 1));
  Value pooled = averagePool(graph, "pool", x, Window(3, 1, 1));
  pooled = conv("branch_pool", pooled, poolChannels, Window(1));
  return joinChannels(graph, "join", {one, five, three, pooled});
}

Value Modules::reductionB(Value x) {
  Value three = conv("branch3x3", x, 384, Window(3, 2));
  Value twice = conv("branch3x3dbl_1", x, 64, Window(1));
  twice = conv("branch3x3dbl_2", twice, 96, Window(3, 1, 1));
  twice = conv("branch3x3dbl_3", twice, 96, Window(3, 2));
  Value pooled = maxPool(graph, "pool", x, Window(3, 2));
  return joinChannels(graph, "join", {three, twice, pooled});
}

Value Modules::moduleC(Value x, int64_t inner) {
  Value one = conv("branch1x1", x, 192, Window(1));
  Value seven = conv("branch7x7_1", x, inner, Window(1));
  seven = sevens("branch7x7", seven, {inner, 192}, /*tallFirst=*/false);
  Value twice = conv("branch7x7dbl_1", x, inner, Window(1));
  twice = sevens("branch7x7dbl", twice, {inner, inner, inner, 192},
                 /*tallFirst=*/true);
  Value pooled = averagePool(graph, "pool", x, Window(3, 1, 1));
  pooled = conv("branch_pool", pooled, 192, Window(1));
  return joinChannels(graph, "join", {one, seven, twice, pooled});
}

Value Modules::reductionD(Value x) {
  Value three = conv("branch3x3_1", x, 192, Window(1));
  three = conv("branch3x3_2", three, 320, Window(3, 2));
  Value seven = conv("branch7x7x3_1", x, 192, Window(1));
  seven = sevens("branch7x7x3", seven, {192, 192}, /*tallFirst=*/false);
  seven = conv("branch7x7x3_4", seven, 192, Window(3, 2));
  Value pooled = maxPool(graph, "pool", x, Window(3, 2));
  return joinChannels(graph, "join", {three, seven, pooled});
}

Value Modules::moduleE(Value x) {
  Value one = conv("branch1x1", x, 320, Window(1));
  Value three = conv("branch3x3_1", x, 384, Window(1));
  three = wideAndTall("branch3x3_2", three, 384);
  Value twice = conv("branch3x3dbl_1", x, 448, Window(1));
  twice = conv("branch3x3dbl_2", twice, 384, Window(3, 1, 1));
  twice = wideAndTall("branch3x3dbl_3", twice, 384);
  Value pooled = averagePool(graph, "pool", x, Window(3, 1, 1));
  pooled = conv("branch_pool", pooled, 192, Window(1));
  return joinChannels(graph, "join", {one, three, twice, pooled});
}

Value Modules::auxiliary(Value x, int64_t classes) {
  x = averagePool(graph, "pool0", x, Window(5, 3));
  x = conv("conv0", x, 128, Window(1));
  x = conv("conv1", x, 768, Window(5));
  x = flatten(graph, "flatten", poolTo(graph, "pool1", x, 1));
  return graph.linear("fc", x, classes, /*bias=*/true);
}

namespace {

/// Inception-v3, with or without its auxiliary head.
class InceptionV3 : public Model {
public:
  explicit InceptionV3(bool aux = true) : aux(aux) {}

  /// Returns the model with the dimensions and kernels of the reference (the
  /// published Proteus).
  static std::unique_ptr<InceptionV3> original() {
    auto model = std::make_unique<InceptionV3>(/*aux=*/false);
    model->image = 224;
    model->copies = true;
    return model;
  }

  void declare(Dimensions &dimensions) override {
    dimensions.integer("image", image, 1, 16384);
    dimensions.integer("classes", classes);
    dimensions.integer("width", width, 2, 1 << 16);
    dimensions.flag("aux", aux);
    dimensions.integer("norm_groups", normGroups);
    dimensions.flag("copies", copies);
  }

  Error check() const override {
    if (width % 2 != 0)
      return createStringError(
          "width=" + Twine(width) +
          " must be even: channels are sixteenths of the published ones");
    // After the loop, `size` is the height and width, in pixels, of the
    // features that the auxiliary head and the last reduction (mixed_7a) read.
    int64_t size = image;
    for (const Window &window : {Window(3, 2), Window(3), Window(3, 2),
                                 Window(3), Window(3, 2), Window(3, 2)})
      size = window.positions(size);
    if (Window(3, 2).positions(size) < 1)
      return createStringError("image=" + Twine(image) +
                               " is too small; 75 is the least");
    if (aux && Window(5).positions(Window(5, 3).positions(size)) < 1)
      return createStringError("image=" + Twine(image) +
                               " is too small for the auxiliary head; use "
                               "aux=false or a larger image");
    return Error::success();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Modules modules(graph, width, normGroups);
    Value x = graph.input("images", {batch, 3, image, image});
    Value labels = graph.indices("labels", {batch});
    auto under = [&](StringRef path, llvm::function_ref<Value()> body) {
      graph.under(path, [&] { x = body(); });
    };
    under("stem", [&] { return modules.stem(x); });
    under("mixed_5b", [&] { return modules.moduleA(x, 32); });
    under("mixed_5c", [&] { return modules.moduleA(x, 64); });
    under("mixed_5d", [&] { return modules.moduleA(x, 64); });
    under("mixed_6a", [&] { return modules.reductionB(x); });
    under("mixed_6b", [&] { return modules.moduleC(x, 128); });
    under("mixed_6c", [&] { return modules.moduleC(x, 160); });
    under("mixed_6d", [&] { return modules.moduleC(x, 160); });
    under("mixed_6e", [&] { return modules.moduleC(x, 192); });
    Value features = x;
    under("mixed_7a", [&] { return modules.reductionD(x); });
    under("mixed_7b", [&] { return modules.moduleE(x); });
    under("mixed_7c", [&] { return modules.moduleE(x); });
    x = dropout(graph, "drop", poolTo(graph, "pool", x, 1), 0.5);
    x = flatten(graph, "flatten", x);
    if (copies)
      x = copy(graph, "flatten_copy", x);
    x = graph.linear("fc", x, classes, /*bias=*/true);
    Value loss = graph.crossEntropy("loss", x, labels);
    if (!aux)
      return loss;
    graph.under("aux", [&] {
      Value logits = modules.auxiliary(features, classes);
      Value own = graph.crossEntropy("loss", logits, labels);
      loss = graph.add("total", loss, graph.scale("weight", own, 0.4));
    });
    return loss;
  }

private:
  int64_t image = 299, classes = 1000;
  /// Number of channels of the first convolution. The numbers of channels of
  /// all other convolutions are scaled in proportion.
  int64_t width = 32;
  bool aux;
  NormGroups normGroups = 1;
  /// True if the flattened features are copied in memory, as in the reference
  /// (the published Proteus). Otherwise they are a view.
  bool copies = false;
};

} // namespace

void proteus::models::addInception(Registry &registry) {
  std::string source = "torchvision (Szegedy et al. 2015)";
  registry.add(Family{"inception_v3", "branches of convolutions", {}, [] {
                        return std::make_unique<InceptionV3>();
                      }});
  registry.add(Preset{"inception_v3", "inception_v3",
                      "Inception-v3 with its auxiliary head", source,
                      [] { return std::make_unique<InceptionV3>(); }});
  registry.add(Preset{"inception_v3-reference", "inception_v3",
                      "Inception-v3 as in the published Proteus", source,
                      [] { return InceptionV3::original(); }});
}
