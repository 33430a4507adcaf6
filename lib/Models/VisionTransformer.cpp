//===- VisionTransformer.cpp - transformers on image patches ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "Families.h"
#include "Layers.h"

#include "Proteus/Models/Registry.h"

using namespace llvm;
using namespace mlir;
using namespace proteus::models;

namespace {

/// An encoder over a class token and the patches of an image. A linear output
/// head computes the class from the final state of the class token.
class VisionTransformer : public Model {
public:
  VisionTransformer() = default;
  VisionTransformer(int64_t patch, int64_t layers, int64_t hidden,
                    int64_t heads, int64_t ffn)
      : patch(patch), layers(layers), hidden(hidden), heads(heads), ffn(ffn) {}

  void declare(Dimensions &dimensions) override {
    dimensions.integer("image", image, 1, 16384);
    dimensions.integer("classes", classes);
    dimensions.integer("patch", patch, 1, 16384);
    dimensions.integer("layers", layers, 1, Dimensions::mostLayers);
    dimensions.integer("hidden", hidden);
    dimensions.integer("heads", heads);
    dimensions.integer("ffn", ffn);
  }

  Error check() const override {
    if (image % patch != 0)
      return createStringError("patch=" + Twine(patch) +
                               " must divide image=" + Twine(image));
    if (hidden % heads != 0)
      return createStringError("heads=" + Twine(heads) +
                               " must divide hidden=" + Twine(hidden));
    return Error::success();
  }

  Value build(GraphBuilder &graph, int64_t batch) const override {
    Value x = graph.input("images", {batch, 3, image, image});
    Value labels = graph.indices("labels", {batch});
    graph.under("embedding", [&] { x = embed(graph, x, batch); });
    x = graph.repeat("layers", layers, x,
                     [&](Value y) { return layer(graph, y); });
    x = graph.layerNorm("norm", x);
    // The class token is the first token of each image.
    x = splitSequence(graph, "states", x, {1, patches()})[0];
    x = graph.reshape("class_state", x, {batch, hidden});
    x = graph.linear("head", x, classes, /*bias=*/true);
    return graph.crossEntropy("loss", x, labels);
  }

private:
  int64_t patches() const { return (image / patch) * (image / patch); }

  Value embed(GraphBuilder &graph, Value x, int64_t batch) const {
    x = convolution(graph, "patches", x, hidden, Window(patch, patch));
    x = graph.reshape("positions", x, {batch, hidden, patches()});
    x = graph.transpose("tokens", x, {0, 2, 1});
    Value first =
        graph.broadcast("class_token", graph.parameter("class_token", {hidden}),
                        {batch, hidden}, {1});
    first = graph.reshape("class_row", first, {batch, 1, hidden});
    x = joinSequences(graph, "join", {first, x});
    return graph.add("add_position", x,
                     graph.parameter("position", {patches() + 1, hidden}));
  }

  Value layer(GraphBuilder &graph, Value x) const {
    Value y = graph.layerNorm("ln_1", x);
    y = graph.linear("attention.qkv", y, 3 * hidden, /*bias=*/true);
    GraphBuilder::Values parts =
        graph.split("attention.split", y, {hidden, hidden, hidden}, heads);
    y = graph.attention("attention.core", parts[0], parts[1], parts[2], heads,
                        heads, /*causal=*/false);
    y = graph.linear("attention.proj", y, hidden, /*bias=*/true);
    x = graph.add("attention.residual", x, y);
    y = graph.layerNorm("ln_2", x);
    y = plainFeedForward(graph, "mlp", y, ffn, "gelu", /*bias=*/true);
    return graph.add("mlp.residual", x, y);
  }

  int64_t image = 224, classes = 1000;
  int64_t patch = 16, layers = 12, hidden = 768, heads = 12, ffn = 3072;
};

} // namespace

void proteus::models::addVisionTransformers(Registry &registry) {
  std::string source = "torchvision (Dosovitskiy et al. 2020)";
  registry.add(Family{"vit", "transformers on patches of an image", {}, [] {
                        return std::make_unique<VisionTransformer>();
                      }});
  auto add = [&](StringRef name, int64_t patch, int64_t layers, int64_t hidden,
                 int64_t heads) {
    registry.add(Preset{("vit-" + name.lower()), "vit", ("ViT-" + name).str(),
                        source, [=] {
                          return std::make_unique<VisionTransformer>(
                              patch, layers, hidden, heads, 4 * hidden);
                        }});
  };
  add("B-16", 16, 12, 768, 12);
  add("L-16", 16, 24, 1024, 16);
  add("H-14", 14, 32, 1280, 16);
}
