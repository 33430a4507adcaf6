//===- VerifyPrograms.h - programs checked against each other ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
#define PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

/// Checks programs against each other: they are the stages of one pipeline, in
/// order, and every message has two ends that agree. Emits an error for every
/// offender.
bool verifyPrograms(llvm::ArrayRef<dist::ProgramOp> programs);

/// Checks that the orders of the programs can run to their end: executes the
/// schedule without time, where an item runs when all sections it receives from
/// have run for its micro-batch. Emits one error that says who waits.
bool verifySchedule(dist::ScheduleOp schedule,
                    llvm::ArrayRef<dist::ProgramOp> programs);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
