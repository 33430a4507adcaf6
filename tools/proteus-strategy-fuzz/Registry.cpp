//===- Registry.cpp - blocks and features of random cases -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

using namespace proteus::fuzz;

Registry::Registry() {
#define REGISTER(Name) add##Name(*this);
#include "Registry.def"
#undef REGISTER
}

const Registry &Registry::get() {
  static const Registry registry;
  return registry;
}
