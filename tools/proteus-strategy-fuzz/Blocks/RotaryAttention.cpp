//===- RotaryAttention.cpp - attention with rotary embedding ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &, BlockUse &use) {
  int64_t keyHeads = random.pick<int64_t>({1, 2, 2, 4, 4});
  use.set("key heads", keyHeads, 1);
  // Number of query heads per key head.
  use.set("group", keyHeads <= 2 ? random.between(1, 2) : 1, 1);
  use.set("causal", random.chance(50));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  const Model &model = writer.model;
  // Rotations need pairs of elements.
  constexpr int64_t headDim = 2;
  int64_t keyHeads = use.get("key heads");
  int64_t heads = keyHeads * use.get("group");
  Tensor normed = writer.rmsNorm("norm_1", input);
  auto rotated = [&](const char *name, int64_t count) {
    std::string path = std::string("attention.") + name;
    Tensor x = writer.linear(path, normed, count * headDim, false);
    Tensor result = writer.fresh(x.shape);
    Iterators iterators = writer.dims(x, "");
    iterators.push_back({"head", count});
    writer.emit(
        "rope", path + "_rope", x,
        llvm::formatv("{{heads = {0} : i64, base = 50.0 : f64}", count).str(),
        result, iterators);
    return result;
  };
  Tensor query = rotated("q", heads), key = rotated("k", keyHeads);
  Tensor value =
      writer.linear("attention.v", normed, keyHeads * headDim, false);
  Tensor result = writer.fresh(query.shape);
  Tensor rows = writer.fresh({model.batch, heads, model.seq}, "f32");
  Iterators iterators = writer.dims(input, "");
  iterators.push_back({"head", keyHeads});
  writer.emit("attention", "attention.core", {query, key, value},
              llvm::formatv("{{heads = {0} : i64, kv_heads = {1} : i64{2}}",
                            heads, keyHeads,
                            use.get("causal") ? ", causal" : "")
                  .str(),
              {result, rows}, iterators);
  return writer.add(
      "residual_1", input,
      writer.linear("attention.proj", result, model.width, false));
}

void proteus::fuzz::addRotaryAttention(Registry &registry) {
  registry.addBlock({"rotary attention", Slot::Mixer, only(Form::Sequence), 25,
                     choose, write});
}
