//===- Recurrent.cpp - a layer of long short-term memory --------*- C++ -*-===//
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
  use.set("bias", random.chance(50));
  use.set("reverse", random.chance(30));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t batch = input.shape[0], seq = input.shape[1], hidden = input.shape[2];
  Tensor gates =
      writer.linear("lstm.input", input, 4 * hidden, use.get("bias"));
  std::vector<Tensor> operands{
      gates, writer.parameter("lstm.recurrent.weight", {4 * hidden, hidden})};
  if (use.get("bias"))
    operands.push_back(writer.parameter("lstm.recurrent.bias", {4 * hidden}));
  Tensor states = writer.fresh(input.shape);
  writer.emit("lstm", "lstm.recurrent", operands,
              use.get("reverse") ? "{reverse}" : "",
              {states, writer.fresh({batch, seq, 4 * hidden}),
               writer.fresh(input.shape)},
              {{"batch", batch}}, {4 * hidden, hidden});
  return writer.add("lstm.residual", input, states);
}

void proteus::fuzz::addRecurrent(Registry &registry) {
  registry.addBlock(
      {"recurrent", Slot::Mixer, only(Form::Sequence), 12, choose, write});
}
