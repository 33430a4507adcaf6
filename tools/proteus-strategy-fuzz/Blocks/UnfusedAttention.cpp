//===- UnfusedAttention.cpp - attention written out -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &, BlockUse &use) {
  use.set("heads", random.pick<int64_t>({1, 2, 3, 4}), 1);
  use.set("head dim", random.between(1, 3), 1);
  use.set("causal", random.chance(60));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  const Model &model = writer.model;
  int64_t heads = use.get("heads"), dim = use.get("head dim");
  int64_t batch = model.batch, seq = model.seq;
  Tensor normed = writer.rmsNorm("norm_1", input);
  auto transpose = [&](llvm::StringRef path, const Tensor &x) {
    Tensor result =
        writer.fresh({x.shape[0], x.shape[2], x.shape[1], x.shape[3]});
    writer.emit("transpose", path, x, "{permutation = array<i64: 0, 2, 1, 3>}",
                result,
                {{"batch", x.shape[0]},
                 {"channel", x.shape[1]},
                 {"height", x.shape[2]},
                 {"width", x.shape[3]}});
    return result;
  };
  auto perHead = [&](const char *name) {
    std::string path = std::string("attention.") + name;
    Tensor flat = writer.linear(path, normed, heads * dim, false);
    Tensor cut = writer.fresh({batch, seq, heads, dim});
    writer.emit("reshape", path + "_heads", flat, "", cut, {});
    return transpose(path + "_transpose", cut);
  };
  Tensor query = perHead("q"), key = perHead("k"), value = perHead("v");
  Tensor scores = writer.fresh({batch, heads, seq, seq});
  writer.emit("matmul", "attention.scores", {query, key}, "{transpose_b}",
              scores,
              {{"batch", batch},
               {"channel", heads},
               {"m", seq},
               {"n", seq},
               {"k", dim}});
  if (use.get("causal")) {
    Tensor masked = writer.fresh(scores.shape);
    writer.emit(
        "causal_mask", "attention.mask", scores, "", masked,
        {{"batch", batch}, {"channel", heads}, {"seq", seq}, {"key", seq}});
    scores = masked;
  }
  Tensor weights = writer.fresh(scores.shape);
  writer.emit(
      "softmax", "attention.softmax", scores, "", weights,
      {{"batch", batch}, {"channel", heads}, {"height", seq}, {"vocab", seq}});
  Tensor context = writer.fresh(value.shape);
  writer.emit("matmul", "attention.context", {weights, value}, "", context,
              {{"batch", batch},
               {"channel", heads},
               {"m", seq},
               {"n", dim},
               {"k", seq}});
  Tensor merged = transpose("attention.merge", context);
  Tensor flat = writer.fresh({batch, seq, heads * dim});
  writer.emit("reshape", "attention.flatten", merged, "", flat, {});
  return writer.add("residual_1", input,
                    writer.linear("attention.proj", flat, model.width, false));
}

void proteus::fuzz::addUnfusedAttention(Registry &registry) {
  registry.addBlock({"unfused attention", Slot::Mixer, only(Form::Sequence), 25,
                     choose, write});
}
