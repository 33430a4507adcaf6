//===- Comparison.h - comparison of folded runs -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_FOLDFUZZ_COMPARISON_H
#define PROTEUS_TOOLS_FOLDFUZZ_COMPARISON_H

#include "Proteus/Sim/Simulation.h"
#include "Proteus/Transforms/Simulate/Passes.h"

#include <map>
#include <string>

namespace proteus {
namespace fuzz {

/// A workload, its simulation and its traffic.
struct FoldedRun {
  sim::Workload workload;
  sim::SimulationResult result;
  /// Sum of bytes times load over the links with each capacity, in units of
  /// 1/sim::loadUnit byte.
  std::map<int64_t, __int128> linkBytes;
};

/// Simulates a lowered module with the stack that it names. Emits an error and
/// fails if that is not possible.
llvm::FailureOr<FoldedRun> simulate(mlir::ModuleOp module,
                                    const MachineModel &machine, Fold fold);

/// Returns the first difference between two runs, or an empty text. Compares
/// the time of the step, every figure of every rank, all communications and the
/// traffic of the links.
std::string compare(const FoldedRun &whole, const FoldedRun &folded);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_FOLDFUZZ_COMPARISON_H
