//===- LinalgInterface.h - linalg as a front door ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model may be written in linalg: its operations say themselves how they
// iterate, so they get the interfaces of the nn dialect and need no
// translation.
//
// Iterators are named d0, d1, ... in the order of the loops. A dimension that
// is indexed by one loop alone has that iterator; a dimension indexed by any
// other expression (a window, a constant, a diagonal) has none, and the loops
// in the expression are opaque. The iterators of `linalg.fill` and
// `tensor.empty` run over the dimensions of their result and are named dim0,
// dim1, ...: what is said of a loop never reaches a dimension by accident.
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
/// produces their initial values. The interfaces arrive when the dialects are
/// loaded.
void registerLinalgInterfaces(mlir::DialectRegistry &registry);

/// Whether `op` is a linalg operation whose cost is known but whose gradient is
/// not: its body holds operations without a known derivative, or combines
/// partial results otherwise than by a sum.
bool isCostOnly(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_LINALGINTERFACE_H
