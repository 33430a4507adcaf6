//===- LinalgInterface.h - nn interfaces of linalg operations ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model may be written in linalg. Its structured operations define their
// loops themselves, so they get the interfaces of the nn dialect and need no
// translation.
//
// Iterators are named d0, d1, ... in the order of the loops. A dimension that
// is indexed by one loop alone has that iterator. A dimension that is indexed
// by any other expression (a window, a constant, a diagonal) has none, and the
// loops in the expression are opaque. The iterators of `linalg.fill` and
// `tensor.empty` run over the dimensions of their result and are named dim0,
// dim1, ..., so that a strategy that splits a loop d0 does not split a
// dimension of an initial value by accident.
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
/// operations of linalg, and IterationSpaceOpInterface to tensor.empty, which
/// produces their initial values. The interfaces are attached when the linalg
/// and tensor dialects are loaded.
void registerLinalgInterfaces(mlir::DialectRegistry &registry);

/// Returns true if `op` is a linalg operation with a cost but without a
/// gradient: its body contains operations without a known derivative, reads
/// values from outside the body, or combines partial results by something else
/// than a sum.
bool isCostOnly(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_LINALGINTERFACE_H
