//===- VerifyPrograms.h - consistency of programs ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of programs against each other and against their schedule.
// verify-phase runs them after the phases that create programs and schedules;
// the simulation runs them on the module that it is given.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
#define PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

/// Returns true if the programs are the stages of one pipeline, in order, if
/// every reduction across stages is in the update of each of its stages, and if
/// every message has a send and a receive that agree. Emits errors otherwise.
/// Messages are checked only if the rest is valid.
bool verifyPrograms(llvm::ArrayRef<dist::ProgramOp> programs);

/// Returns true if all programs can run their orders to the end. Executes the
/// schedule without time: an item runs once all sections whose messages it
/// receives have run for its micro-batch. Otherwise emits one error that lists
/// the stages that wait.
bool verifySchedule(dist::ScheduleOp schedule,
                    llvm::ArrayRef<dist::ProgramOp> programs);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
