//===- SimulateRemarks.h - remarks with costs of operations -----*- C++ -*-===//
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

/// Emits remarks with the costs of all operations of the lowered programs that
/// run as tasks. While the engine runs, this listener only records the time
/// that each collective takes if nothing else slows it.
class SimulateRemarks : public sim::Listener {
public:
  bool canSkip() const override { return true; }
  void onBegin(const sim::Workload &,
               llvm::ArrayRef<sim::Time> collectiveTimes) override {
    timesAlone = collectiveTimes.vec();
  }

  /// Emits one remark per operation that runs as a task, in the order of the
  /// programs. If the executions of an operation differ in cost, for example
  /// those of a reduction of several buckets, emits one remark per cost. If the
  /// devices of a stage differ, the remark is about the devices that spend the
  /// most time in the operation.
  void emit(const sim::Workload &workload) const;

  std::vector<TaskOrigin> origins; ///< filled by `buildWorkload`

private:
  struct Row;
  Row rowOf(const sim::Workload &workload, const TaskOrigin &origin) const;

  std::vector<sim::Time> timesAlone;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_SIMULATEREMARKS_H
