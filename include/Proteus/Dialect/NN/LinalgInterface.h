//===- LinalgInterface.h - nn interfaces of linalg operations ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives operations of linalg the interfaces of the nn dialect. A model may then
// be written in linalg. Structured operations of linalg define their own loops,
// so they need no translation to the nn dialect.
//
// The iterators of an operation are its loops, named d0, d1, ... in their
// order. If the index of a dimension is a single loop that indexes no other
// dimension, this loop is the iterator of the dimension. A dimension with any
// other index, such as a window `d0 + d2`, a constant, or d0 in the diagonal
// `(d0, d0)`, has no iterator, and the loops in the index can't be split.
//
// `linalg.fill` and `tensor.empty` build initial values. Their iterators run
// over the dimensions of the result and are named dim0, dim1, ..., so that a
// strategy that splits a loop d0 does not split an initial value by accident.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_LINALGINTERFACE_H
#define PROTEUS_DIALECT_NN_LINALGINTERFACE_H

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace proteus::nn {

/// Attaches IterationSpaceOpInterface and GradientOpInterface to the structured
/// operations of linalg, and allows `proteus.compute` and `proteus.pieces` on
/// those that are matrix products (see ProductAttributes). Attaches
/// IterationSpaceOpInterface to tensor.empty, which builds initial values. The
/// interfaces of an operation are attached when its dialect is loaded.
void registerLinalgInterfaces(mlir::DialectRegistry &registry);

/// Returns true if `op` is a linalg operation that has a cost but no gradient.
/// This is the case if its body contains an operation without a known
/// derivative, if it reads an outside value other than a constant, if it
/// combines the previous value of a result with a new value by anything but a
/// sum of floats, or if a reduction ignores the previous value.
bool isCostOnly(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_LINALGINTERFACE_H
