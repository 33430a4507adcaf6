//===- VerifyPrograms.h - consistency of programs ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that programs agree with each other and with their schedule.
// verify-phase runs these checks after the phases that create programs and
// schedules. simulate runs them on its input.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
#define PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H

#include "Proteus/Dialect/Dist/Dist.h"

namespace proteus {

/// Returns true if the programs fit together, and otherwise emits errors and
/// returns false. The conditions are:
/// - the programs are the stages of one pipeline, in order;
/// - every reduction across stages is in the update section of each of its
///   stages;
/// - no two sends and no two receives have the same tag;
/// - every message has a send and a receive with the same type and matching
///   stages. This is checked only if all other conditions hold.
bool verifyPrograms(llvm::ArrayRef<dist::ProgramOp> programs);

/// Returns true if all programs of the schedule can execute their orders to the
/// end, so that no stages wait for each other forever. Executes the schedule
/// without simulating time: every stage runs its work items in order, each of
/// them as soon as the sections that send it messages have run for the same
/// micro-batch. If some stages wait forever, emits one error that lists them.
bool verifySchedule(dist::ScheduleOp schedule);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_VERIFY_VERIFYPROGRAMS_H
