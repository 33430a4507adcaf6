//===- LargeCase.h - random cases with more to fold -------------*- C++ -*-===//
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

/// Case `index` of the stream `seed` with more ranks along a data-parallel axis
/// of its own, more micro-batches, more layers and larger tensors, on a random
/// cluster.
Case generateLarge(uint64_t seed, uint64_t index);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_FOLDFUZZ_LARGECASE_H
