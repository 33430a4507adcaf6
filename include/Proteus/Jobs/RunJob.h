//===- RunJob.h - simulation of a job ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands of `proteus` simulate jobs in the same way. `prepare` builds a
// module with model, strategy tree and cluster from a job. `run` passes this
// module through the pipeline that proteus-opt also runs. The exception is
// `proteus parity`: it builds its modules from runs of the reference.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_JOBS_RUNJOB_H
#define PROTEUS_JOBS_RUNJOB_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Sim/Simulation.h"
#include "Proteus/Support/ProgressSink.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace proteus::jobs {

/// Creates a context with all dialects loaded. Every thread needs its own
/// context.
std::unique_ptr<mlir::MLIRContext> createContext();

/// Builds the module of a job, which contains the model, the strategy tree and
/// the cluster. An open micro-batch is 1 here; `run` chooses it. If `statement`
/// is not null, restates the job there, except for values that are known only
/// after the simulation.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
prepare(mlir::MLIRContext &context, const Job &job,
        sim::JobStatement *statement = nullptr);

/// Paths of the files that a run writes. A file with an empty path is not
/// written.
struct RunFiles {
  std::string report, trace;
};

/// Figures of a job, and the remarks of the passes that produced them.
struct Outcome {
  /// The job with the fields of the plan that `run` chose (Job::assumed).
  Job job;
  sim::Workload workload;
  sim::SimulationResult result;
  sim::Figures figures;
  std::vector<std::string> remarks;
};

/// Simulates a job and writes `files`. If the job states a global batch but no
/// micro-batch, chooses the micro-batch by simulating several. If the job
/// states `meanTokens`, simulates it a second time with full sequences, which
/// determine the memory. Reports the progress to `progress` if that is not
/// null.
llvm::Expected<Outcome> run(mlir::MLIRContext &context, const Job &job,
                            const RunFiles &files = {},
                            ProgressSink *progress = nullptr);

/// Simulates only the memory of a job: of the figures of the classes, those of
/// memory; the figures of merit are only the memory and its peaks. This is
/// exactly the memory that `run` finds, in less time.
llvm::Expected<Outcome> runMemory(mlir::MLIRContext &context, const Job &job,
                                  ProgressSink *progress = nullptr);

} // namespace proteus::jobs

#endif // PROTEUS_JOBS_RUNJOB_H
