//===- ValueConverter.h - conversions between layouts -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: builds the operations that convert a value to the
// layout, stage, coordinates and memory in which an operation reads it. Readers
// share a conversion if possible. LayoutInserter decides on the layouts.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H

#include "AnnotatingBuilder.h"
#include "ReshardPlans.h"
#include "StageMap.h"

namespace proteus {

/// The conversions of the values of one function, cached for later readers.
class ValueConverter {
public:
  ValueConverter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const StageMap &stages, ReshardPlans &plans)
      : function(function), mesh(mesh), stages(stages), plans(plans) {}

  /// Returns `value` in layout `target`, converted before `reader`. Returns
  /// null after an error.
  mlir::Value convert(mlir::Value value, dist::LayoutAttr target,
                      mlir::Operation *reader, dist::Purpose purpose);

  /// Builds with `builder` the operations that convert `value` to `target`,
  /// which is on the same stage. Does not use or fill the cache. Errors are
  /// reported on `reader`.
  llvm::FailureOr<mlir::Value>
  reshard(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);

  /// Returns true if the forward pass of `stage` has already converted `value`
  /// to layout `form` and this conversion may be kept for the backward pass,
  /// because it is no larger than `value`.
  bool hasKeptForm(mlir::Value value, dist::LayoutAttr form,
                   int64_t stage) const;

  /// Returns the layout of `value` on the stage of `op`. A value that has moved
  /// there from another stage may have been reduced before the move.
  dist::LayoutAttr layoutAt(mlir::Value value, mlir::Operation *op) const;

  /// Returns true if an earlier reader has caused the reduction of the pending
  /// sums of `value`, and the reduced value is visible at `op`.
  bool isReducedAt(mlir::Value value, mlir::Operation *op) const;

  /// Returns true if the tree offloads the activations of the producer of
  /// `value`. The value is then kept in host memory for the backward pass.
  static bool isOffloaded(mlir::Value value);

private:
  /// Returns the copy of `value` in host memory if `reader` is in the backward
  /// pass and the tree offloads the value. Otherwise returns `value`.
  mlir::Value onHost(mlir::Value value, mlir::Operation *reader);
  /// Converts `value` to `target`, which is fixed at further coordinates:
  /// gathers the value there if it is sharded, restricts it if it is
  /// replicated.
  llvm::FailureOr<mlir::Value>
  bringTo(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);
  /// Returns the key of the readers that share the conversion of `value` to
  /// `target` with `reader`.
  int64_t sectionOf(mlir::Value value, dist::LayoutAttr target,
                    mlir::Operation *reader) const;
  /// Returns a conversion for the readers of `section` that is visible at
  /// `reader`, or null if there is none.
  mlir::Value find(mlir::Value value, dist::LayoutAttr layout, int64_t section,
                   mlir::Operation *reader) const;
  /// Returns `value` summed over micro-batches, or null after an error.
  mlir::Value accumulate(mlir::OpBuilder &builder, mlir::Value value,
                         mlir::Operation *reader);
  /// Moves `value`, a result of `producer`, to the stage of `reader`. Returns
  /// null after an error.
  mlir::Value transfer(AnnotatingBuilder &builder, mlir::Value value,
                       mlir::Operation *producer, dist::LayoutAttr target,
                       mlir::Operation *reader, dist::Purpose purpose);

  /// The key of conversions that all readers share.
  static constexpr int64_t anySection = 0;
  /// Returns the key of conversions that the forward and the backward pass of a
  /// stage share.
  static int64_t bothPasses(int64_t stage) { return -1 - stage; }

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
  ReshardPlans &plans;
  /// Conversions built so far, by value, layout and key of their readers.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, int64_t>,
                 llvm::SmallVector<mlir::Value, 1>>
      converted;
  /// Values received from another stage, by original value and receiving stage.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> arrived;
  /// The last operation inserted after an operation whose results leave the
  /// step or the device.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> insertedBehind;
  /// Copies of values in host memory.
  llvm::DenseMap<mlir::Value, mlir::Value> hostCopies;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
