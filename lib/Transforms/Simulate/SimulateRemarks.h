//===- SimulateRemarks.h - what every operation costs ----------*- C++ -* -===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_SIMULATEREMARKS_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_SIMULATEREMARKS_H

#include "Proteus/Sim/Engine.h"
#include "Proteus/Transforms/Simulate/BuildWorkload.h"

namespace proteus {

/// Tells at every operation of the lowered programs what it costs, through the
/// remark engine of the context. Listens to a run only to learn how long
/// collectives take.
class SimulateRemarks : public sim::Listener {
public:
  bool canSkip() const override { return true; }
  void onBegin(const sim::Workload &,
               llvm::ArrayRef<sim::Time> collectiveTimes) override {
    timesAlone = collectiveTimes.vec();
  }

  /// One remark per operation, in the order of the programs; one per size for
  /// an operation that reduces several buckets. Where the devices of a stage
  /// differ, of the one that spends most time in the operation.
  void emit(const sim::Workload &workload) const;

  std::vector<TaskOrigin> origins; ///< to be filled by `buildWorkload`

private:
  struct Row;
  Row rowOf(const sim::Workload &workload, const TaskOrigin &origin) const;

  std::vector<sim::Time> timesAlone;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_SIMULATEREMARKS_H
