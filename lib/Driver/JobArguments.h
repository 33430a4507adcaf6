//===- JobArguments.h - flags of commands with a job ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_JOBARGUMENTS_H
#define PROTEUS_LIB_DRIVER_JOBARGUMENTS_H

#include "Proteus/Jobs/Job.h"

namespace proteus::driver {

/// Adds the flags of a job: its model, cluster, plan, and files of frameworks.
void addJobFlags(Flags &flags, jobs::Job &job);

/// Sets `job` from the file of --deepspeed-config, if `arguments` contain this
/// flag. Must be called before the other flags are parsed, so that these flags
/// override the values of the file.
llvm::Error readDeepSpeedFile(llvm::ArrayRef<std::string> arguments,
                              jobs::Job &job);

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_JOBARGUMENTS_H
