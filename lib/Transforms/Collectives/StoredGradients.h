//===- StoredGradients.h - storage layouts of gradients ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the tree may store the gradient of a parameter in
// another layout than the one in which it is computed. LayoutInserter then
// converts the gradient right after it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H

#include "ValueConverter.h"

#include "Proteus/Transforms/Common/Partitioning.h"

namespace proteus {

/// The gradients of one function for which the tree sets a storage layout.
class StoredGradients {
public:
  /// Finds the gradients of all parameters for which the tree sets the storage
  /// layout of the gradient.
  StoredGradients(mlir::func::FuncOp function, dist::MeshAttr mesh,
                  ValueConverter &converter);

  /// Converts the gradient `value` to its storage layout, directly after the
  /// operation that computes it, and lets all readers read the converted
  /// gradient. Does nothing if the tree sets no storage layout for it.
  llvm::LogicalResult store(mlir::OpResult value);

  /// Returns the storage layout of one slice of `value`, or null if `value` is
  /// not a stack of gradients with a storage layout. `computed` is the layout
  /// in which the slice is computed.
  dist::LayoutAttr sliceLayout(mlir::Value value,
                               dist::LayoutAttr computed) const;

private:
  ValueConverter &converter;
  /// For each gradient with a storage layout, the axes of each dimension.
  llvm::DenseMap<mlir::Value, DimAxes> gradientDims;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H
