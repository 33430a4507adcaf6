//===- ProductAttributes.h - proteus attributes of products -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_PRODUCTATTRIBUTES_H
#define PROTEUS_DIALECT_NN_PRODUCTATTRIBUTES_H

#include "Proteus/Dialect/Proteus/Proteus.h"

namespace proteus::nn {

/// Allows the attributes `proteus.compute` and `proteus.pieces` on the matrix
/// products of a dialect, that is, on its operations of KernelClass::Matrix.
class ProductAttributes : public AttributePlaceInterface {
public:
  using AttributePlaceInterface::AttributePlaceInterface;

  bool mayCarry(mlir::Operation *op, llvm::StringRef name) const override;
};

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_PRODUCTATTRIBUTES_H
