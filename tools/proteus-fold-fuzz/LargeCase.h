//===- LargeCase.h - random cases that fold well ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_FOLDFUZZ_LARGECASE_H
#define PROTEUS_TOOLS_FOLDFUZZ_LARGECASE_H

#include "Case.h"

namespace proteus {
namespace fuzz {

/// Returns case `index` of the stream `seed`, enlarged: more ranks along a new
/// data-parallel axis, more micro-batches, more layers and larger tensors, on a
/// random cluster.
Case generateLarge(uint64_t seed, uint64_t index);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_FOLDFUZZ_LARGECASE_H
