//===- CaseTranslation.h - the parts of a measured run ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_CASETRANSLATION_H
#define PROTEUS_LIB_DRIVER_CASETRANSLATION_H

#include "Proteus/Driver/Job.h"
#include "Proteus/Support/JSON.h"

namespace proteus::driver {

/// The cluster that a case describes, as an inline dictionary of the IR.
llvm::Expected<std::string> clusterOfCase(const json::Reader &hardware);

/// Sets the model of the job.
llvm::Error modelOfCase(const json::Reader &model, Job &job);

/// Sets the software and the place of the job by what the case says of them.
void stackOfCase(const json::Reader &strategy, const json::Reader &hardware,
                 Job &job);

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_CASETRANSLATION_H
