//===- BuildRing.h - work while blocks go round a ring ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: an operation one of whose iterators is held in
// blocks that go round a ring becomes one step per block, written out.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Builds the steps of the ring that the annotation of `op` asks for, whose
/// operands have their layouts, and returns the values that replace its
/// results. `place` puts a layout onto the stage of `op`.
///
/// With n blocks there are n steps. What the ring iterator indexes travels:
/// operands are passed on n - 1 times, while the step that reads them computes;
/// a result gathers what every step contributes to it and is passed on n times,
/// which brings it home, while the next step computes.
llvm::SmallVector<mlir::Value>
buildRing(mlir::OpBuilder &builder, nn::RingOpInterface op, dist::MeshAttr mesh,
          llvm::function_ref<dist::LayoutAttr(dist::LayoutAttr)> place);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H
