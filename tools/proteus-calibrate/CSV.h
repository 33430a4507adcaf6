//===- CSV.h - measurements as they are published ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_CSV_H
#define PROTEUS_CALIBRATE_CSV_H

#include "Proteus/Support/CSV.h"

namespace proteus::calibrate {
using proteus::CSV;
using proteus::numberOf;
} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_CSV_H
