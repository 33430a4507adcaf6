//===- Grid.h - all presets with a grid of settings -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_GRID_H
#define PROTEUS_TOOLS_JOBFUZZ_GRID_H

#include "Checks.h"

namespace proteus {
namespace fuzz {

/// Returns a job for every preset of the registry and every setting of the
/// grid, with the rules about recomputation and ZeRO. Keeps every `stride`-th
/// of these jobs.
std::vector<Task> makeGrid(size_t stride);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_GRID_H
