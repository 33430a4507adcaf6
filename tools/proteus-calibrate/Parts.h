//===- Parts.h - parts of the calibration -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_PARTS_H
#define PROTEUS_CALIBRATE_PARTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace proteus::calibrate {

/// Fits kernels to the tables in `tables`/op and writes the sections "kernels"
/// of `output`/devices.
llvm::Error fitKernels(llvm::StringRef tables, llvm::StringRef output);

/// Fits a set of constants per architecture to the tables in `tables`/comm and
/// writes them to `output`/communication.
llvm::Error calibrateCollectives(llvm::StringRef tables,
                                 llvm::StringRef output);

/// Fits the constants of `cluster`, a preset or a file, to the rows of a user
/// and prints the `collectives` of its node.
llvm::Error calibrateMachine(llvm::StringRef rows, llvm::StringRef cluster);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_PARTS_H
