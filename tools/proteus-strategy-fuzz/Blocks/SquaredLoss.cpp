//===- SquaredLoss.cpp - mean squared difference ----------------*- C++ -*-===//
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
  Tensor target =
      writer.argument("target", input.shape, input.element, "input");
  Tensor result = writer.fresh({}, "f32");
  writer.emit("mse_loss", "loss", {input, target}, "", result,
              writer.dims(input, "hidden"));
  return result;
}

void proteus::fuzz::addSquaredLoss(Registry &registry) {
  registry.addBlock({"squared loss", Slot::Loss,
                     Form::Rows | Form::Sequence | Form::Image, 15, nullptr,
                     write});
}
