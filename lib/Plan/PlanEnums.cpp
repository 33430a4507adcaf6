//===- PlanEnums.cpp - choices of a parallel plan -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanEnums.h"

#include "llvm/ADT/StringSwitch.h"

#include "Proteus/Plan/PlanEnums.cpp.inc"
