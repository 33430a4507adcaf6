//===- RunJob.h - from a job to its figures ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one path: a job becomes a module (model, tree, cluster), and the
// passes that proteus-opt runs do the rest.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_JOBS_RUNJOB_H
#define PROTEUS_JOBS_RUNJOB_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Sim/Simulation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace proteus::driver {

/// A context that knows all dialects. One per thread.
std::unique_ptr<mlir::MLIRContext> createContext();

/// The module of a job: model, strategy tree and cluster.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
prepare(mlir::MLIRContext &context, const Job &job);

/// Files that a run writes; empty = not.
struct RunFiles {
  std::string report, trace;
};

/// The figures of a job, and remarks of the passes on the way: what was
/// decided or could not be.
struct Outcome {
  sim::Workload workload;
  sim::SimulationResult result;
  sim::Figures figures;
  std::vector<std::string> remarks;
};

llvm::Expected<Outcome> run(mlir::MLIRContext &context, const Job &job,
                            const RunFiles &files = {});

} // namespace proteus::driver

#endif // PROTEUS_JOBS_RUNJOB_H
