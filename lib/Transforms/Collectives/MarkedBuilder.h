//===- MarkedBuilder.h - operations that know whose they are ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: what is inserted is marked like the operation it
// is inserted for.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_MARKEDBUILDER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_MARKEDBUILDER_H

#include "Proteus/Transforms/Common/Annotations.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// What an inserted operation says about itself.
struct Marks {
  Phase phase = Phase::Forward;
  std::optional<int64_t> stage;
  /// On operations that move data.
  std::string path;
  /// How far ahead a parameter is gathered or fetched; null if the tree does
  /// not say, or if it is no parameter.
  mlir::Attribute prefetch;
  /// Whether a parameter is gathered once per step.
  bool gatherOnce = false;

  /// Those of `op` itself.
  static Marks of(mlir::Operation *op);
};

/// Marks every operation that it inserts.
class MarkedBuilder : public mlir::OpBuilder,
                      private mlir::OpBuilder::Listener {
public:
  /// Inserts in front of `before`.
  MarkedBuilder(mlir::Operation *before, Marks marks);
  // The builder is its own listener.
  MarkedBuilder(const MarkedBuilder &) = delete;
  MarkedBuilder &operator=(const MarkedBuilder &) = delete;

  Marks marks;

private:
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_MARKEDBUILDER_H
