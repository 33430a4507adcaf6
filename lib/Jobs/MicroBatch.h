//===- MicroBatch.h - choice of an open micro-batch -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_MICROBATCH_H
#define PROTEUS_LIB_JOBS_MICROBATCH_H

#include "Proteus/Jobs/RunJob.h"

namespace proteus::jobs {

/// A micro-batch for a job that leaves it open, and the reason.
struct MicroBatchChoice {
  int64_t microBatch = 1;
  /// Statement of the size and the reason; empty if there was no choice.
  std::string remark;
  /// The outcome of the job with this micro-batch, if it was simulated.
  std::optional<Outcome> outcome;
};

/// Function that simulates a job whose micro-batch is stated.
using Simulation = llvm::function_ref<llvm::Expected<Outcome>(const Job &)>;

/// Chooses the micro-batch of `job`, which leaves it open, if each replica has
/// `samples` samples per step. Candidates are the powers of two that divide the
/// samples. The largest one that fits in memory is chosen. With several
/// pipeline stages, a larger micro-batch also makes the bubble longer, so the
/// fastest one that fits is chosen. If no candidate fits, the choice is 1.
MicroBatchChoice chooseMicroBatch(const Job &job, int64_t samples,
                                  Simulation simulate);

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_MICROBATCH_H
