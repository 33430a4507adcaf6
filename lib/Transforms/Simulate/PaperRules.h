//===- PaperRules.h - kernels as the original has them ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of building workloads for fidelity=paper. Our programs have other
// kernels than the original's graphs: a gradient is several of them, some read
// more. Docs/reference.md lists the rules.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_PAPERRULES_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_PAPERRULES_H

#include "FlatProgram.h"
#include "LocalWork.h"

namespace proteus {

/// The work of `op` at `coordinates`, with the bytes that the original counts.
/// None where it has no kernel.
std::optional<cost::Kernel> paperWork(nn::IterationSpaceOpInterface op,
                                      sim::Phase phase,
                                      llvm::ArrayRef<int64_t> coordinates);

/// Makes kernels of `tasks`, which come from `flat`, those of the original:
/// all kernels of one gradient are one, which is launched once and ends as a
/// whole, and the gradient of a sum is a copy to both sides. `gap` is the time
/// before every launch, `cost` that of a kernel with it.
void joinPaperKernels(
    const FlatList &flat, std::vector<sim::Task> &tasks, cost::Time gap,
    llvm::ArrayRef<int64_t> coordinates,
    llvm::function_ref<cost::Time(const cost::Kernel &)> cost);

/// The time before every launch.
cost::Time paperLaunchGap();

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_PAPERRULES_H
