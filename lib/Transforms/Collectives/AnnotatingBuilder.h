//===- AnnotatingBuilder.h - annotations of inserted operations -*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: a builder that annotates every operation that it
// inserts with a phase and a stage, and those of the dialect dist also with a
// path. The user of the builder chooses these annotations.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H

#include "Proteus/Transforms/Common/Annotations.h"

#include "mlir/IR/Builders.h"

namespace proteus {

/// Annotations that the builder gives to an inserted operation.
struct InsertedAnnotations {
  Phase phase = Phase::Forward;
  std::optional<int64_t> stage;
  /// Path for inserted operations of the dialect dist. Other inserted
  /// operations do not get this path.
  std::string path;
  /// Number of repeated layers by which the gather or fetch of a parameter may
  /// precede its reader. Null if the tree does not set it, or if the value is
  /// not a parameter.
  mlir::Attribute prefetch;
  /// True if the gather of a parameter runs once per step and not once per
  /// micro-batch.
  bool gatherOnce = false;

  /// Returns annotations with the phase, the stage and the path of `op`.
  static InsertedAnnotations of(mlir::Operation *op);
};

/// A builder that annotates every operation that it inserts.
class AnnotatingBuilder : public mlir::OpBuilder,
                          private mlir::OpBuilder::Listener {
public:
  /// Creates a builder that inserts operations before `before`.
  AnnotatingBuilder(mlir::Operation *before, InsertedAnnotations annotations);
  // The builder is its own listener, so a copy would notify the original.
  AnnotatingBuilder(const AnnotatingBuilder &) = delete;
  AnnotatingBuilder &operator=(const AnnotatingBuilder &) = delete;

  InsertedAnnotations annotations;

private:
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_ANNOTATINGBUILDER_H
