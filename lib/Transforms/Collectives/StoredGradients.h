//===- StoredGradients.h - storage layouts of gradients ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: the tree may store the gradient of a parameter in
// another layout than the one in which it is computed. LayoutInserter converts
// such a gradient right after it is computed.
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
  /// Finds the gradients that the updates of such parameters read.
  StoredGradients(mlir::func::FuncOp function, dist::MeshAttr mesh,
                  ValueConverter &converter);

  /// Converts a gradient that has just been computed to its storage layout.
  /// Does nothing for other values.
  llvm::LogicalResult store(mlir::OpResult value);

  /// Returns the storage layout of slices of the stack `value` that are
  /// computed in layout `computed`, or null if `value` is no such gradient.
  dist::LayoutAttr sliceLayout(mlir::Value value,
                               dist::LayoutAttr computed) const;

private:
  ValueConverter &converter;
  /// Axes per dimension of the storage layout, by gradient.
  llvm::DenseMap<mlir::Value, DimAxes> gradientDims;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_STOREDGRADIENTS_H
