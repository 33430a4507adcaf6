//===- GroupedConv.cpp - a convolution in groups ----------------*- C++ -*-===//
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
  use.set("bias", random.chance(50));
  use.set("alone", random.chance(30));
  use.set("dilation", random.pick<int64_t>({1, 2}));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t channels = input.shape[1], dilation = use.get("dilation");
  int64_t groups = use.get("alone") ? channels : channels % 2 == 0 ? 2 : 1;
  Sizes weight = {channels, channels / groups, 3, 3};
  std::vector<Tensor> operands{input,
                               writer.parameter("grouped.weight", weight)};
  if (use.get("bias"))
    operands.push_back(writer.parameter("grouped.bias", {channels}));
  Tensor result = writer.fresh(input.shape);
  writer.emit("conv2d", "grouped", operands,
              llvm::formatv("{{stride = array<i64: 1, 1>, padding = array<i64: "
                            "{0}, {0}>, dilation = array<i64: {0}, {0}>, "
                            "groups = {1} : i64}",
                            dilation, groups)
                  .str(),
              result,
              groups > 1
                  ? Iterators{{"batch", input.shape[0]}, {"group", groups}}
                  : Iterators{{"batch", input.shape[0]},
                              {"out", channels},
                              {"in", channels}},
              weight);
  return writer.unary("gelu", "grouped.act", result);
}

void proteus::fuzz::addGroupedConv(Registry &registry) {
  registry.addBlock({"grouped convolution", Slot::Feed, only(Form::Image), 30,
                     choose, write});
}
