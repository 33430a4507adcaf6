//===- StoredGradients.h - gradients in layouts of their own ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the tree may store the gradient of a parameter in
// another layout than the one it is computed in.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H

#include "ValueConverter.h"

#include "Proteus/Transforms/Common/Partitioning.h"

namespace proteus {

/// The gradients of one function that the tree stores in a layout of their own.
class StoredGradients {
public:
  /// Finds what the backward pass hands to the update of each such parameter.
  StoredGradients(mlir::func::FuncOp function, dist::MeshAttr mesh,
                  ValueConverter &converter);

  /// Puts a gradient that has just been computed into the layout it is stored
  /// in; leaves other values alone.
  llvm::LogicalResult store(mlir::OpResult value);

  /// The layout in which slices of the stack `value` are stored that come as
  /// `computed`; null if it is no such gradient.
  dist::LayoutAttr sliceLayout(mlir::Value value,
                               dist::LayoutAttr computed) const;

private:
  ValueConverter &converter;
  /// By the value that the backward pass hands to the update.
  llvm::DenseMap<mlir::Value, DimAxes> gradientDims;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H
