//===- JobPrecision.h - the precision of a job on its devices ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_JOBPRECISION_H
#define PROTEUS_LIB_JOBS_JOBPRECISION_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Machine/Device.h"

namespace proteus::jobs {

/// Sets the precision of a job that states none: bf16 or, if a device has no
/// units for bf16, the precision with which users train on it, fp16 or fp32.
/// Adds a remark if that is not bf16, and if the job states a 16-bit type for
/// which a device has no units. Fails if it states fp8 and a device has no
/// units for that.
llvm::Error settlePrecision(llvm::ArrayRef<machine::Device> devices, Job &job,
                            std::vector<std::string> &remarks);

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_JOBPRECISION_H
