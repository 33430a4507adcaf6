//===- ValueConverter.h - builds conversions between layouts ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: builds what brings a value into the layout, to
// the stage, the place and the memory in which it is read, once for all readers
// that can share it.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H

#include "AnnotatingBuilder.h"
#include "ReshardPlans.h"
#include "StageMap.h"

namespace proteus {

/// Converts the values of one function and remembers what it has built.
class ValueConverter {
public:
  ValueConverter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const StageMap &stages, ReshardPlans &plans)
      : function(function), mesh(mesh), stages(stages), plans(plans) {}

  /// `value` in layout `target`, converted in front of `reader`. Null after an
  /// error.
  mlir::Value convert(mlir::Value value, dist::LayoutAttr target,
                      mlir::Operation *reader, dist::Purpose purpose);

  /// Builds with `builder` what brings `value`, which is on the stage of
  /// `target`, into that layout, whoever else has asked for it.
  llvm::FailureOr<mlir::Value>
  reshard(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);

  /// Whether the forward pass of `stage` has made this form of `value` anyhow,
  /// which is no larger, so that the backward pass can read it.
  bool hasKeptForm(mlir::Value value, dist::LayoutAttr form,
                   int64_t stage) const;

  /// The layout of `value` where `op` reads it: what has come from another
  /// stage may have been reduced before.
  dist::LayoutAttr layoutAt(mlir::Value value, mlir::Operation *op) const;

  /// Whether the pending sums of `value` were formed for an earlier reader, in
  /// a form that `op` sees.
  bool isReducedAt(mlir::Value value, mlir::Operation *op) const;

  /// Whether the tree moves a value that is kept for the backward pass to the
  /// host: whether it does so with the results of its producer.
  static bool isOffloaded(mlir::Value value);

private:
  /// The copy of a value of the forward pass in host memory, if the backward
  /// pass is to read that; else the value.
  mlir::Value onHost(mlir::Value value, mlir::Operation *reader);
  /// `value` brought to a place where it is not yet: collected there if it is
  /// sharded, restricted to it if it is everywhere.
  llvm::FailureOr<mlir::Value>
  bringTo(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);
  /// The readers that share the conversion of `value` to `target` for `reader`.
  int64_t sectionOf(mlir::Value value, dist::LayoutAttr target,
                    mlir::Operation *reader) const;
  /// A conversion for the readers of `section` that `reader` can see; null if
  /// there is none.
  mlir::Value find(mlir::Value value, dist::LayoutAttr layout, int64_t section,
                   mlir::Operation *reader) const;
  /// `value` summed over micro-batches. Null after an error.
  mlir::Value accumulate(mlir::OpBuilder &builder, mlir::Value value,
                         mlir::Operation *reader);
  /// `value`, which `producer` has computed, on the stage of `reader`. Null
  /// after an error.
  mlir::Value transfer(AnnotatingBuilder &builder, mlir::Value value,
                       mlir::Operation *producer, dist::LayoutAttr target,
                       mlir::Operation *reader, dist::Purpose purpose);

  static constexpr int64_t anySection = 0;
  /// The key of what the forward and the backward pass of a stage share.
  static int64_t bothPasses(int64_t stage) { return -1 - stage; }

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
  ReshardPlans &plans;
  /// Conversions made so far: by value, layout and the section they serve.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, int64_t>,
                 llvm::SmallVector<mlir::Value, 1>>
      converted;
  /// Values that were moved, by the stage they have arrived on.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> arrived;
  /// What was last inserted behind an operation whose results leave the step.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> insertedBehind;
  /// Copies in host memory.
  llvm::DenseMap<mlir::Value, mlir::Value> hostCopies;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
