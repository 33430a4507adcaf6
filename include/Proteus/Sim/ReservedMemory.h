//===- ReservedMemory.h - what the allocator reserves -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host asks the allocator for memory when it issues an operation and gives
// it back when it has issued the last one that needs it, long before the device
// runs them. So what is reserved follows from the order of issue alone, and no
// event of the simulated time is needed to know it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_RESERVEDMEMORY_H
#define PROTEUS_SIM_RESERVEDMEMORY_H

#include "Proteus/Sim/Workload.h"

#include <string>

namespace proteus::sim {

/// What the allocator of a class reserves in a step.
struct AllocatorPeak {
  int64_t reserved = 0;
  /// Most bytes in blocks that are in use: the sizes of tensors, rounded.
  int64_t allocated = 0;
  /// How many micro-batches hold memory when `allocated` is reached.
  uint32_t inFlight = 0;
  /// Reserved bytes that are not in use, at the fullest moment in which
  /// `reserved` are.
  int64_t fragmentation = 0;
  /// Label of the task whose allocation made it so; empty if it is the memory
  /// held during the whole step.
  std::string label;
  /// How often cached memory had to be given back to the device.
  uint64_t releases = 0;
  /// The first allocation that the device could not serve.
  bool exceeded = false;
  std::string exceededLabel;
};

/// Puts the buffers of a class of a checked workload through a caching
/// allocator with `limit` bytes: what is held during the whole step first,
/// largest first, so that the order in which parameters are listed does not
/// matter; then those of its tasks in the order of issue. Where micro-batches
/// leave the allocator as earlier ones did, whole periods are skipped.
AllocatorPeak reserve(const Workload &workload, uint32_t classIndex,
                      int64_t limit);

/// The same for all classes, each with its limit. Classes that differ in whom
/// they communicate with, and not in their buffers, are done once.
std::vector<AllocatorPeak> reserveAll(const Workload &workload,
                                      llvm::ArrayRef<int64_t> limits);

} // namespace proteus::sim

#endif // PROTEUS_SIM_RESERVEDMEMORY_H
