//===- Explain.h - what would have to change --------------------*- C++ -*-===//
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

/// Prints how the predicted time of a case is composed, and by how much each
/// mechanism alone would have to change to meet the measurement. The factors
/// are found by simulating again.
void explainCase(llvm::raw_ostream &os, const Case &one,
                 const Outcome &outcome);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_EXPLAIN_H
