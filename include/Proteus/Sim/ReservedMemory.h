//===- ReservedMemory.h - memory reserved by the allocator ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the memory that the framework's allocator reserves in a step. The
// host requests memory when it issues an operation. It frees the memory when it
// has issued the last operation that uses the memory, long before the device
// runs these operations. The reserved memory therefore depends only on the
// order of issue, and is computed without simulated time.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_RESERVEDMEMORY_H
#define PROTEUS_SIM_RESERVEDMEMORY_H

#include "Proteus/Sim/Workload.h"

#include <string>

namespace proteus::sim {

/// The peak of the memory of an allocator during a step.
struct AllocatorPeak {
  int64_t reserved = 0; ///< largest number of reserved bytes
  /// Largest number of bytes in blocks in use: the sizes of live tensors,
  /// rounded up to blocks.
  int64_t allocated = 0;
  /// Number of micro-batches that hold memory when `allocated` is reached.
  uint32_t inFlight = 0;
  /// Number of reserved bytes that are not in use while the reserved memory is
  /// at its peak. If this number varies during the peak, its smallest value.
  int64_t fragmentation = 0;
  /// Label of the task with the allocation that raised the reserved bytes to
  /// `reserved`. Empty if no task raised them above the memory that is held
  /// during the whole step.
  std::string label;
  /// Number of times that the allocator tried to return free memory to the
  /// device, because the device had too little memory left.
  uint64_t releases = 0;
  /// True if the device had too little memory for an allocation.
  /// `exceededLabel` is the label of the task with the first such allocation;
  /// empty if this is memory that is held during the whole step.
  bool exceeded = false;
  std::string exceededLabel;
};

/// Computes the peak of a class of a checked workload: passes the buffers of
/// the class through a caching allocator for a device with `limit` bytes.
/// Buffers that are held during the whole step come first, largest first, so
/// that the order of the parameters in the workload does not matter. The
/// buffers of tasks follow in the order of issue. If the state of the allocator
/// recurs from micro-batch to micro-batch, whole periods are skipped.
AllocatorPeak reserve(const Workload &workload, uint32_t classIndex,
                      int64_t limit);

/// Returns the peaks of all classes; `limits` holds the limit of each class.
/// Classes with equal buffers and tasks are computed once if their limits are
/// equal or not reached.
std::vector<AllocatorPeak> reserveAll(const Workload &workload,
                                      llvm::ArrayRef<int64_t> limits);

} // namespace proteus::sim

#endif // PROTEUS_SIM_RESERVEDMEMORY_H
