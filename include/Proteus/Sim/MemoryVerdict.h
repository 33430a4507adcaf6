//===- MemoryVerdict.h - does it fit, and what would help -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job fits if on every device what the allocator reserves, what the framework
// takes and what the communication library takes are together not more than the
// device has. If it does not fit, a person wants to know by how much, whose
// memory it is, and what to change.
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

/// The memory of a device before the first tensor.
struct MemoryBudget {
  int64_t capacity = 0;
  int64_t frameworkReserve = 0;     ///< driver, context, kernels, software
  int64_t communicationLibrary = 0; ///< buffers of communicators

  int64_t forTensors() const {
    return capacity - frameworkReserve - communicationLibrary;
  }
};

/// Per class.
std::vector<MemoryBudget> budgetsOf(const Workload &workload);

/// A change of the strategy and what it saves at the peak, other things equal.
/// After it the peak may be elsewhere, so savings do not add up.
struct MemoryKnob {
  std::string name; ///< "zero_1"
  std::string description;
  int64_t saving = 0; ///< bytes, an estimate
};

struct MemoryVerdict {
  /// The class with the largest excess; the first of equals.
  uint32_t classIndex = 0;
  MemoryBudget budget;
  int64_t needed = 0;
  /// Who needs it, largest first: owners of tensors at their peak, what the
  /// allocator holds beyond that, and what is taken before the first tensor.
  /// The parts sum to `needed`.
  std::vector<std::pair<std::string, int64_t>> owners;
  /// Largest saving first; none if it fits.
  std::vector<MemoryKnob> knobs;

  /// Bytes that are missing; negative if some are left.
  int64_t excess() const { return needed - budget.capacity; }
  bool fits() const { return excess() <= 0; }
};

MemoryVerdict verdictOf(const Workload &workload,
                        const SimulationResult &result);

} // namespace proteus::sim

#endif // PROTEUS_SIM_MEMORYVERDICT_H
