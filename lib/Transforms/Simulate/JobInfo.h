//===- JobInfo.h - the figures of a job -------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_JOBINFO_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_JOBINFO_H

#include "FlatProgram.h"

#include "Proteus/Machine/Stack.h"

namespace proteus {

/// Returns the figures of a job that are not times, such as the number of
/// devices, the batch and the FLOPs, for reports. Leaves the name of the
/// cluster empty, because programs do not contain it.
sim::JobInfo describeJob(llvm::ArrayRef<FlatProgram> programs,
                         std::optional<dist::Axis> pipelineAxis);

/// Restates the job as far as a lowered module states it: the model, the mesh,
/// batches, the machine and the stack.
sim::JobStatement statementOf(const sim::Workload &workload,
                              const machine::Stack &stack,
                              const machine::Site &site);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_JOBINFO_H
