//===- RandomCluster.h - random clusters ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_FOLDFUZZ_RANDOMCLUSTER_H
#define PROTEUS_TOOLS_FOLDFUZZ_RANDOMCLUSTER_H

#include "Random.h"

#include <string>

namespace proteus {
namespace fuzz {

/// Returns a random cluster of at least `devices` devices, as the text of an
/// attribute. Links are slow, so that the small messages of random models
/// contend for them.
std::string drawCluster(Random &random, int64_t devices);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_FOLDFUZZ_RANDOMCLUSTER_H
