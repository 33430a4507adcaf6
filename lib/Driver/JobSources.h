//===- JobSources.h - jobs stated for frameworks ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_JOBSOURCES_H
#define PROTEUS_LIB_DRIVER_JOBSOURCES_H

#include "Proteus/Jobs/Job.h"

namespace proteus::driver {

/// Adds the flags that describe a job: its model and machine, its plan, and the
/// arguments or the file of a framework.
void addJobFlags(Flags &flags, jobs::Job &job);

/// Sets `job` from the frameworks that `arguments` name, and adds the remarks
/// of their readers to `remarks`. Returns the arguments without those of
/// Megatron-LM, which follow `--`. Must be called before the flags are parsed,
/// so that these override the values of the framework.
llvm::Expected<std::vector<std::string>>
readSources(llvm::ArrayRef<std::string> arguments, jobs::Job &job,
            std::vector<std::string> &remarks);

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_JOBSOURCES_H
