//===- CrossAttention.cpp - decoders that read an encoder -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of the layers to the output of an encoder, which is a stack of
// layers of its own with an input of its own. The layers read the output from
// outside their repeat.
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;
using llvm::Twine;

static void choose(Random &random, const Model &, BlockUse &use) {
  use.set("length", random.between(2, 6), 2);
  use.set("encoder layers", random.between(1, 3), 1);
  use.set("encoder attention", random.chance(60));
  use.set("heads", random.pick<int64_t>({1, 2, 2, 4}), 1);
  use.set("head dim", random.between(1, 3), 1);
  use.set("norm", random.chance(60));
  use.set("bias", random.chance(50));
}

/// Writes attention of `input` to `source` and the residual connection.
static Tensor attend(ModelWriter &writer, const BlockUse &use,
                     const Twine &name, const Tensor &input,
                     const Tensor &source) {
  int64_t heads = use.get("heads"), size = heads * use.get("head dim");
  auto path = [&](const char *part) { return (name + "." + part).str(); };
  bool bias = use.get("bias");
  Tensor normed = use.get("norm") ? writer.layerNorm(path("ln"), input) : input;
  Tensor query = writer.linear(path("q"), normed, size, bias);
  Tensor both = writer.linear(path("kv"), source, 2 * size, bias);
  Sizes half(source.shape);
  half.back() = size;
  Tensor key = writer.fresh(half), value = writer.fresh(half);
  Iterators split = writer.dims(source, "");
  split.push_back({"head", heads});
  writer.emit("split", path("split"), both,
              llvm::formatv("{{groups = {0} : i64}", heads).str(), {key, value},
              split);
  Tensor mixed = writer.fresh(query.shape);
  Tensor rows = writer.fresh({input.shape[0], heads, input.shape[1]}, "f32");
  Iterators iterators = writer.dims(input, "");
  iterators.push_back({"head", heads});
  writer.emit("attention", path("core"), {query, key, value},
              llvm::formatv("{{heads = {0} : i64}", heads).str(), {mixed, rows},
              iterators);
  Tensor projected =
      writer.linear(path("proj"), mixed, writer.model.width, bias);
  return writer.add(path("residual"), input, projected);
}

/// Writes the encoder.
static Tensor prepare(ModelWriter &writer, const BlockUse &use,
                      const Tensor &) {
  const Model &model = writer.model;
  Tensor source =
      writer.argument("source", {model.batch, use.get("length"), model.width},
                      model.element, "input");
  return writer.repeat(
      "encoder", 0, use.get("encoder layers"), source,
      [&](const Tensor &carried) {
        Tensor x = carried;
        if (use.get("encoder attention"))
          x = attend(writer, use, "self", x, x);
        Tensor wide = writer.linear("fc", x, model.width, use.get("bias"));
        return writer.add("residual", x, writer.unary("gelu", "act", wide));
      });
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  return attend(writer, use, "cross", input, *writer.outer);
}

void proteus::fuzz::addCrossAttention(Registry &registry) {
  registry.addBlock({"encoder-decoder", Slot::Mixer, only(Form::Sequence), 30,
                     choose, write, nullptr, prepare});
}
