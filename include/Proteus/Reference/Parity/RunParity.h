//===- RunParity.h - simulation of runs of the reference --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_PARITY_RUNPARITY_H
#define PROTEUS_REFERENCE_PARITY_RUNPARITY_H

#include "Proteus/Reference/Parity/Parity.h"
#include "Proteus/Transforms/Simulate/MachineModel.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace proteus::parity {

/// Simulates runs of the reference, one after the other, by the rules of the
/// reference. Keeps the machine model of each cluster, including the rings that
/// were found, for later runs on the same cluster.
class ParityRunner {
public:
  ParityRunner();
  ~ParityRunner();

  /// Simulates a run and explains deviations from its recorded figures. The CPU
  /// time in the result covers the whole call.
  ParityResult run(const ReferenceRun &run, const machine::Cluster &cluster);

private:
  llvm::Error simulate(const ReferenceRun &run, const machine::Cluster &cluster,
                       ParityResult &result);
  llvm::Expected<std::shared_ptr<const MachineModel>>
  machineOf(const std::string &name, const machine::Cluster &cluster);

  std::unique_ptr<mlir::MLIRContext> context;
  std::map<std::string, std::shared_ptr<const MachineModel>> machines;
  cost::Time launchGap = 0;
};

} // namespace proteus::parity

#endif // PROTEUS_REFERENCE_PARITY_RUNPARITY_H
