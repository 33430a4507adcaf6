//===- NoMixer.cpp - layers with a feed-forward part only -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static Tensor write(ModelWriter &, const BlockUse &, const Tensor &input) {
  return input;
}

void proteus::fuzz::addNoMixer(Registry &registry) {
  registry.addBlock({"no mixer", Slot::Mixer,
                     Form::Rows | Form::Sequence | Form::Image, 20, nullptr,
                     write});
}
