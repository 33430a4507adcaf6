//===- AnnotatingBuilder.h - annotates inserted operations ------*- C++ -*-===//
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

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H

#include "Proteus/Transforms/Common/Annotations.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// What an inserted operation says about itself.
struct InsertedAnnotations {
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
  static InsertedAnnotations of(mlir::Operation *op);
};

/// InsertedAnnotations every operation that it inserts.
class AnnotatingBuilder : public mlir::OpBuilder,
                          private mlir::OpBuilder::Listener {
public:
  /// Inserts in front of `before`.
  AnnotatingBuilder(mlir::Operation *before, InsertedAnnotations annotations);
  // The builder is its own listener.
  AnnotatingBuilder(const AnnotatingBuilder &) = delete;
  AnnotatingBuilder &operator=(const AnnotatingBuilder &) = delete;

  InsertedAnnotations annotations;

private:
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H
