//===- Generator.h - generator of random jobs -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_GENERATOR_H
#define PROTEUS_TOOLS_JOBFUZZ_GENERATOR_H

#include "Checks.h"

namespace proteus {
namespace fuzz {

/// Returns job `index` of the stream `seed`. Each flag draws from its own
/// stream, so that a new flag does not change the others.
JobCase generate(uint64_t seed, uint64_t index);

/// Returns job `index` with all rules in random order.
Task generateTask(uint64_t seed, uint64_t index, size_t rulesPerJob);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_GENERATOR_H
