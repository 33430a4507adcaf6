//===- ReservedMemory.h - memory reserved by the allocator ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory that the framework's allocator reserves in a step. The host
// requests memory when it issues an operation, and returns it when it has
// issued the last operation that needs it, long before the device runs either.
// The reserved memory therefore follows from the order of issue alone and is
// computed without simulated time.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_RESERVEDMEMORY_H
#define PROTEUS_SIM_RESERVEDMEMORY_H

#include "Proteus/Sim/Workload.h"

#include <string>

namespace proteus::sim {

/// The peak of the allocator of a class in a step.
struct AllocatorPeak {
  int64_t reserved = 0; ///< bytes
  /// Largest number of bytes in blocks that are in use: the sizes of tensors,
  /// rounded.
  int64_t allocated = 0;
  /// Number of micro-batches that hold memory when `allocated` is reached.
  uint32_t inFlight = 0;
  /// Smallest number of unused bytes in the reserved memory while that memory
  /// is at its peak.
  int64_t fragmentation = 0;
  /// Label of the task whose allocation raised the reserved bytes to
  /// `reserved`. Empty if it is the memory held during the whole step.
  std::string label;
  /// Number of times that cached memory had to be released to the device.
  uint64_t releases = 0;
  /// True if the device could not serve an allocation, and the label of the
  /// task with the first such allocation.
  bool exceeded = false;
  std::string exceededLabel;
};

/// Passes the buffers of a class of a checked workload through a caching
/// allocator with `limit` bytes. Buffers that are held during the whole step
/// come first, by descending size, so that the order in which parameters are
/// listed does not matter. The buffers of tasks follow in the order of issue.
/// If the state of the allocator recurs from micro-batch to micro-batch, whole
/// periods are skipped.
AllocatorPeak reserve(const Workload &workload, uint32_t classIndex,
                      int64_t limit);

/// Returns the peaks of all classes, each with its limit. Classes that differ
/// only in their communication partners, not in their buffers, are computed
/// once.
std::vector<AllocatorPeak> reserveAll(const Workload &workload,
                                      llvm::ArrayRef<int64_t> limits);

} // namespace proteus::sim

#endif // PROTEUS_SIM_RESERVEDMEMORY_H
