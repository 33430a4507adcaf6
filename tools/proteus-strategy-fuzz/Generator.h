//===- Generator.h - random small models and strategies ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H

#include "Case.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus {
namespace fuzz {

/// Returns case `index` of the stream `seed`. It depends on these two numbers
/// alone.
Case generate(uint64_t seed, uint64_t index);

/// Writes a case as the text of a module.
std::string write(const Case &input);

/// Returns all cases that are one step smaller.
std::vector<Case> simplify(const Case &input);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_GENERATOR_H
