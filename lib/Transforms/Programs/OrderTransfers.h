//===- OrderTransfers.h - order of messages between stages ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of split-stages: decides the order of the messages that the layers of a
// stage read.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROGRAMS_ORDERTRANSFERS_H
#define PROTEUS_LIB_TRANSFORMS_PROGRAMS_ORDERTRANSFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Moves the transfers of values that the same repeat or recomputation reads
/// first. They get the order in which kernels of its body read the values,
/// which is also their order if the layers are written out.
void orderTransfers(mlir::func::FuncOp function);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROGRAMS_ORDERTRANSFERS_H
