//===- Explain.h - causes of a prediction error -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_EXPLAIN_H
#define PROTEUS_DRIVER_EXPLAIN_H

#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Validation/Cases.h"

namespace proteus::driver {

/// Prints the parts of the predicted time of a case. If the case has a measured
/// time, also prints one factor for each kind of cost, found by repeated
/// simulation. For example, a factor of 1.2 for communication means: if only
/// communication took 1.2 times as long, the prediction would equal the
/// measurement.
void explainCase(llvm::raw_ostream &os, const validation::Case &one,
                 const jobs::Outcome &outcome);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_EXPLAIN_H
