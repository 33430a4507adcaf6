//===- Advice.h - costs of a step and changes that reduce them --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_ADVICE_H
#define PROTEUS_DRIVER_ADVICE_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Jobs/RunJob.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus::driver {

/// A part of the step time other than forward and backward kernels, for example
/// exposed communication or recomputation.
struct Cost {
  std::string name; ///< for example "all_reduce over tp"
  double seconds = 0;
  double share = 0; ///< fraction of the step time
};

/// Returns the costs of the slowest device, largest first.
std::vector<Cost> costsOf(const jobs::Outcome &outcome);

/// Returns variants of the job's plan that need less memory. Used if the job
/// does not fit. The first variants each apply one remedy of the memory
/// verdict, in the order of the verdict. Leaves out remedies without a flag,
/// and half the micro-batch if its size is odd. The last variants combine ZeRO
/// with full recomputation.
std::vector<plan::ParallelPlan> smallerPlans(const jobs::Job &job,
                                             const jobs::Outcome &outcome);

/// A change of a job, and the job with this change. Jobs have the same number
/// of devices and the same global batch as the original one.
struct Change {
  std::string flags; ///< for example "--zero-group 8"
  jobs::Job job;
};

/// Returns changes that may make the job faster: those that concern the largest
/// costs first. If the job does not fit, returns those that need less memory.
/// Leaves out changes to what the job has already. `given` is the job as the
/// user states it. An element is a list of alternatives, of which the first one
/// that can be simulated counts.
std::vector<std::vector<Change>> changesFor(const jobs::Job &given,
                                            const jobs::Outcome &outcome);

/// A change and its simulated effect.
struct Advice {
  std::string flags;
  double seconds = 0;               ///< of a step
  double gain = 0;                  ///< more samples per second: 0.1 = 10 %
  int64_t needed = 0, capacity = 0; ///< bytes of memory
};

/// The simulated changes: those that help, best first, and the flags of those
/// that need too much memory and of those that fit without making the job 1 %
/// faster.
struct AdviceList {
  std::vector<Advice> helpful;
  std::vector<std::string> tooLarge, notFaster;

  bool isEmpty() const {
    return helpful.empty() && tooLarge.empty() && notFaster.empty();
  }
};

/// Number of changes that advice simulates.
enum class AdviceMode { Off, On, All };

/// Simulates changes of a job, `most` at most. A change helps if the job then
/// fits and is more than 1 % faster. If the job does not fit as it is, every
/// change with which it fits helps.
AdviceList adviseOn(mlir::MLIRContext &context, const jobs::Job &given,
                    const jobs::Outcome &outcome, size_t most);

/// Prints the largest costs and the changes that help.
void printAdvice(llvm::raw_ostream &os, mlir::MLIRContext &context,
                 const jobs::Job &given, const jobs::Outcome &outcome,
                 AdviceMode mode);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_ADVICE_H
