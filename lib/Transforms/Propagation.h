//===- Propagation.h - what propagation finds out before layouts -*- C++
//-*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_PROPAGATION_H
#define PROTEUS_LIB_TRANSFORMS_PROPAGATION_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace proteus {

/// Repeats at the top of a matched function whose body leaves a carried value
/// split otherwise than it finds it: their first iteration differs from the
/// others. Fails, with a diagnostic, if the settings of the tree contradict
/// each other.
llvm::FailureOr<llvm::SmallVector<nn::RepeatOp>>
findUnsettledRepeats(mlir::func::FuncOp function, dist::MeshAttr mesh);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_PROPAGATION_H
