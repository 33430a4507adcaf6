//===- Restatement.h - the job of a report, restated ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_RESTATEMENT_H
#define PROTEUS_LIB_JOBS_RESTATEMENT_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Plan/PlanSizes.h"
#include "Proteus/Sim/JobStatement.h"

#include "mlir/IR/BuiltinOps.h"

namespace proteus::jobs {

/// Restates a job for its report. `given` is the job of the user; `job` is the
/// same job with the decisions of its stack. `module` contains the model before
/// a strategy is applied. The length of sequences and the number of devices in
/// the cluster are left open: they are known after the simulation.
sim::JobStatement restate(const Job &given, const Job &job,
                          const plan::Sizes &sizes, llvm::StringRef stackName,
                          mlir::ModuleOp module);

/// Restates the decisions of a job that are merged into the strategy tree of a
/// file. The tree states all others.
sim::JobStatement restateFlags(const Job &given);

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_RESTATEMENT_H
