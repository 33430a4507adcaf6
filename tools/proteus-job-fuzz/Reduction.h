//===- Reduction.h - smaller jobs that still fail ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_REDUCTION_H
#define PROTEUS_TOOLS_JOBFUZZ_REDUCTION_H

#include "Checks.h"

namespace proteus {
namespace fuzz {

/// Drops flags of a job and makes numbers smaller while the job still fails in
/// the same manner. Updates the text of `failure`.
JobCase reduce(JobCase job, Failure &failure, const CheckOptions &options);

/// Returns the text of a file that describes a failing job: the rule, the
/// command lines, and the figures.
std::string explain(const JobCase &job, const Failure &failure,
                    const CheckOptions &options);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_REDUCTION_H
