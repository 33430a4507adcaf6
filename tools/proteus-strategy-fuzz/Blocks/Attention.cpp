//===- Attention.cpp - fused attention with grouped queries -----*- C++ -*-===//
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
  int64_t keyHeads = random.pick<int64_t>({1, 2, 2, 3, 4, 4});
  use.set("key heads", keyHeads, 1);
  // Number of query heads per key head.
  use.set("group", random.pick<int64_t>({1, 1, 2, 3}), 1);
  use.set("head dim", random.between(1, 3), 1);
  use.set("value dim", random.between(1, 3), 1);
  use.set("causal", random.chance(50));
  use.set("bias", random.chance(50));
  use.set("dropout", random.chance(25));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  const Model &model = writer.model;
  int64_t keyHeads = use.get("key heads");
  int64_t heads = keyHeads * use.get("group");
  int64_t queries = heads * use.get("head dim");
  int64_t keys = keyHeads * use.get("head dim");
  int64_t values = keyHeads * use.get("value dim");
  Tensor normed = writer.layerNorm("ln_1", input);
  Tensor fused = writer.linear("attention.qkv", normed, queries + keys + values,
                               use.get("bias"));
  auto part = [&](int64_t size) {
    return writer.fresh({model.batch, model.seq, size});
  };
  Tensor query = part(queries), key = part(keys), value = part(values);
  Iterators split = writer.dims(input, "");
  split.push_back({"head", keyHeads});
  writer.emit("split", "attention.split", fused,
              llvm::formatv("{{groups = {0} : i64}", keyHeads).str(),
              {query, key, value}, split);
  Tensor result = part(heads * use.get("value dim"));
  Tensor rows = writer.fresh({model.batch, heads, model.seq}, "f32");
  // `group` is not listed: it is a minor part of a dimension and can't be
  // split.
  writer.emit("attention", "attention.core", {query, key, value},
              llvm::formatv("{{heads = {0} : i64, kv_heads = {1} : i64{2}}",
                            heads, keyHeads,
                            use.get("causal") ? ", causal" : "")
                  .str(),
              {result, rows}, split);
  Tensor mixed =
      writer.linear("attention.proj", result, model.width, use.get("bias"));
  if (use.get("dropout"))
    mixed = writer.dropout("attention.drop", mixed);
  return writer.add("residual_1", input, mixed);
}

void proteus::fuzz::addAttention(Registry &registry) {
  registry.addBlock(
      {"attention", Slot::Mixer, only(Form::Sequence), 110, choose, write});
}
