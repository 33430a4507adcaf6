//===- BuildRing.h - steps of a ring, written out ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: builds the steps that replace an operation with a
// `ring` split, one step per block of the iterator that is split. For the next
// step, every device sends the block that it holds to the next device of the
// ring.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

namespace proteus {

/// Builds the ring steps of `op` from its partition, and returns the values
/// that replace its results. The operands of `op` must already have their
/// layouts. `place` restricts a layout to the devices of the stage of `op`.
///
/// The ring iterator has one block per device. With n blocks there are n steps.
/// Operands and results that the ring iterator indexes travel around the ring:
/// - An operand is passed on n - 1 times, while the step that reads it
///   computes.
/// - A result is the sum of the contributions of all steps. It is passed on n
///   times: after every step but the last, while the next step computes, and
///   once after the last step. It is then on the device of its block.
llvm::SmallVector<mlir::Value>
buildRing(mlir::OpBuilder &builder, nn::RingOpInterface op, dist::MeshAttr mesh,
          llvm::function_ref<dist::LayoutAttr(dist::LayoutAttr)> place);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_BUILDRING_H
