//===- Fuzzer.cpp - libFuzzer target of one reader ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The build compiles this file once per target and defines `PROTEUS_TARGET` as
// its name.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const proteus::fuzz::Target *target =
      proteus::fuzz::findTarget(PROTEUS_TARGET);
  proteus::fuzz::readInTime(
      *target, llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
