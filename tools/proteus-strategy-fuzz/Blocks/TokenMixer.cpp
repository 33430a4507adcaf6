//===- TokenMixer.cpp - a linear over the positions -------------*- C++ -*-===//
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
  auto swapped = [&](llvm::StringRef path, const Tensor &x) {
    Tensor result = writer.fresh({x.shape[0], x.shape[2], x.shape[1]});
    writer.emit("transpose", path, x, "{permutation = array<i64: 0, 2, 1>}",
                result, writer.dims(x, "hidden"));
    return result;
  };
  Tensor x = swapped("tokens.in", writer.rmsNorm("tokens.norm", input));
  x = writer.linear("tokens.mix", x, writer.model.seq, false);
  x = swapped("tokens.out", writer.unary("tanh", "tokens.act", x));
  return writer.add("tokens.residual", input, x);
}

void proteus::fuzz::addTokenMixer(Registry &registry) {
  registry.addBlock(
      {"token mixer", Slot::Mixer, only(Form::Sequence), 12, nullptr, write});
}
