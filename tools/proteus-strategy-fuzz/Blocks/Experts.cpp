//===- Experts.cpp - a mixture of experts -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace proteus::fuzz;

static void choose(Random &random, const Model &model, BlockUse &use) {
  use.set("experts", random.between(2, 6), 2);
  use.set("choices", random.between(1, 3), 1);
  use.set("inner", random.between(2, 8), 2);
  // Groups of several samples must be split evenly.
  use.set("samples", random.chance(25) ? random.pick<int64_t>({2, 3, 4}) : 1,
          1);
  // Capacity factor in percent.
  use.set("factor", random.pick<int64_t>({50, 80, 100, 125, 200}), 50);
  use.set("normalize", random.chance(50));
  use.set("bias", random.chance(40));
  use.set("shared", random.chance(30));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t batch = input.shape.front(), width = input.shape.back();
  int64_t experts = use.get("experts"), inner = use.get("inner");
  int64_t choices = std::min(use.get("choices"), experts);
  int64_t samples = use.get("samples");
  int64_t groups = batch % samples == 0 ? batch / samples : batch;
  int64_t tokens = batch / groups * (writer.model.seq ? writer.model.seq : 1);
  int64_t factor = use.get("factor");
  int64_t slots = std::max<int64_t>(
      1, (factor * tokens * choices + 100 * experts - 1) / (100 * experts));

  Tensor logits = writer.linear("moe.gate", input, experts, false);
  Sizes chosen(input.shape);
  chosen.back() = choices;
  Tensor gates = writer.fresh(chosen), numbers = writer.fresh(chosen, "i32"),
         places = writer.fresh(chosen, "i32");
  writer.emit("moe_route", "moe.route", logits,
              llvm::formatv(" {{groups = {0} : i64, capacity_factor = {1:F2} : "
                            "f64{2}}",
                            groups, static_cast<double>(factor) / 100,
                            use.get("normalize") ? ", normalize" : "")
                  .str(),
              {gates, numbers, places}, {{"batch", groups}});
  Iterators common{{"batch", groups}, {"expert", experts}, {"slot", slots}};
  auto with = [&](Iterators more) {
    more.insert(more.begin(), common.begin(), common.end());
    return more;
  };
  Tensor x = writer.fresh({experts, groups, slots, width});
  writer.emit("moe_dispatch", "moe.dispatch", {input, numbers, places}, "", x,
              with({{"hidden", width}}));
  auto linear = [&](llvm::StringRef path, int64_t out) {
    int64_t in = x.shape.back();
    std::vector<Tensor> operands{
        x, writer.parameter(path + ".weight", {experts, out, in})};
    if (use.get("bias"))
      operands.push_back(writer.parameter(path + ".bias", {experts, out}));
    Tensor result = writer.fresh({experts, groups, slots, out});
    writer.emit("expert_linear", path, operands, "", result,
                with({{"out", out}, {"in", in}}), {experts, out, in});
    x = result;
  };
  linear("moe.experts.up", inner);
  Tensor active = writer.fresh(x.shape);
  writer.emit("gelu", "moe.experts.act", x, "", active,
              {{"batch", groups}, {"height", slots}, {"width", inner}});
  x = active;
  linear("moe.experts.down", width);
  Tensor result = writer.fresh(input.shape);
  Iterators iterators = with({{"hidden", width}});
  if (writer.model.seq)
    iterators.push_back({"seq", writer.model.seq});
  writer.emit("moe_combine", "moe.combine", {x, numbers, places, gates}, "",
              result, iterators);
  if (use.get("shared"))
    result = writer.add("moe.sum", result,
                        writer.linear("moe.shared", input, width, false));
  return writer.add("residual_2", input, result);
}

void proteus::fuzz::addExperts(Registry &registry) {
  registry.addBlock({"mixture of experts", Slot::Feed,
                     Form::Rows | Form::Sequence, 15, choose, write});
}
