//===- MemoryVerdict.h - the memory verdict and its remedies ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verdict on the memory of a job, for the report and the summary. A job
// fits if, on every device, the memory that the allocator reserves, the memory
// of the framework and the memory of the communication library together do not
// exceed the capacity. If the job does not fit, the verdict names the excess,
// the largest owners, and changes that save memory.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_MEMORYVERDICT_H
#define PROTEUS_SIM_MEMORYVERDICT_H

#include "Proteus/Sim/Workload.h"

#include <string>
#include <utility>
#include <vector>

namespace proteus::sim {

struct SimulationResult;

/// The capacity of a device, and the memory that is taken before the first
/// tensor is allocated, in bytes.
struct MemoryBudget {
  int64_t capacity = 0;
  int64_t frameworkReserve = 0; ///< driver, context, kernels, software stack
  int64_t communicationLibrary = 0; ///< buffers of all communicators

  /// Returns the bytes that remain for tensors.
  int64_t forTensors() const {
    return capacity - frameworkReserve - communicationLibrary;
  }
};

/// Returns the budget of every class.
std::vector<MemoryBudget> budgetsOf(const Workload &workload);

/// A change of the plan that would save memory. `saving` is the memory that the
/// change saves at the time of the present peak. After the change the peak may
/// be at another time, so the savings of two changes must not be added.
struct MemoryKnob {
  std::string name; ///< "zero_1"
  std::string description;
  int64_t saving = 0; ///< estimate in bytes
};

/// The verdict on the memory of a job: whether it fits, with the figures of the
/// class that has the least memory left or the largest excess.
struct MemoryVerdict {
  /// Index of the class with the largest excess. If several are equal, the
  /// first one.
  uint32_t classIndex = 0;
  MemoryBudget budget;
  int64_t needed = 0; ///< bytes that the class needs
  /// Parts of `needed` by owner, largest first; they sum to `needed`. The
  /// owners are the MemoryOwners of the tensors at the peak; "allocator", for
  /// memory reserved beyond these tensors; and "framework" and
  /// "communication_library", for memory that is taken before the first tensor.
  std::vector<std::pair<std::string, int64_t>> owners;
  /// Changes of the plan that would save memory, largest saving first. Empty if
  /// the job fits.
  std::vector<MemoryKnob> knobs;

  /// Returns the bytes by which `needed` exceeds the capacity; negative if
  /// memory is left.
  int64_t excess() const { return needed - budget.capacity; }
  bool fits() const { return excess() <= 0; }
};

/// Returns the verdict on the simulated memory.
MemoryVerdict verdictOf(const Workload &workload,
                        const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_MEMORYVERDICT_H
