//===- InitAll.td - all passes, for their page -------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INITALL_TD
#define PROTEUS_INITALL_TD

include "Proteus/Transforms/Apply/Passes.td"
include "Proteus/Transforms/Match/Passes.td"
include "Proteus/Transforms/TrainingStep/Passes.td"
include "Proteus/Transforms/Propagation/Passes.td"
include "Proteus/Transforms/Collectives/Passes.td"
include "Proteus/Transforms/Programs/Passes.td"
include "Proteus/Transforms/Verify/Passes.td"
include "Proteus/Transforms/Check/Passes.td"
include "Proteus/Transforms/Simulate/Passes.td"

#endif // PROTEUS_INITALL_TD
