//===- SumGate.cpp - a gate from the sum over positions ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static Tensor write(ModelWriter &writer, const BlockUse &,
                    const Tensor &input) {
  const Model &model = writer.model;
  Tensor sum = writer.fresh({model.batch, model.width});
  writer.emit("reduce_sum", "gate.sum", input, "{keep = array<i64: 0, 2>}", sum,
              writer.dims(input, "hidden"));
  Tensor gate = writer.unary("sigmoid", "gate.act", sum);
  Tensor spread = writer.fresh(input.shape);
  writer.emit("broadcast", "gate.spread", gate, "{keep = array<i64: 0, 2>}",
              spread, writer.dims(input, "hidden"));
  return writer.binary("mul", "gate.mul", input, spread);
}

void proteus::fuzz::addSumGate(Registry &registry) {
  registry.addBlock(
      {"sum gate", Slot::Mixer, only(Form::Sequence), 12, nullptr, write});
}
