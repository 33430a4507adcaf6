//===- LastNorm.cpp - a normalisation after the layers ----------*- C++ -*-===//
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
  return writer.layerNorm("ln_f", input);
}

void proteus::fuzz::addLastNorm(Registry &registry) {
  registry.addBlock({"last norm", Slot::Tail, Form::Rows | Form::Sequence, 40,
                     nullptr, write});
}
