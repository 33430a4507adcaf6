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

/// Sets `job` from its sources and from `flags`, which override them. Stores
/// the arguments before a final -- in `own`, and remarks of the sources in
/// `remarks`. Returns the exit code if the command must end, after --help or an
/// error, and nullopt if it continues.
std::optional<int> parseJob(Flags &flags, llvm::ArrayRef<std::string> arguments,
                            jobs::Job &job, std::vector<std::string> &own,
                            std::vector<std::string> &remarks);

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_JOBSOURCES_H
