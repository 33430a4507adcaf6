//===- ValueConverter.h - conversions between layouts -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: builds the operations that convert a value to the
// layout in which an operation reads it. This includes moves to another stage,
// to other coordinates, and between device and host memory. LayoutInserter
// decides on the layouts. Readers share a conversion if possible.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H

#include "AnnotatingBuilder.h"
#include "ReshardPlans.h"
#include "StageMap.h"

namespace proteus {

/// Builds the conversions of the values of one function, and caches them for
/// later readers.
class ValueConverter {
public:
  ValueConverter(mlir::func::FuncOp function, dist::MeshAttr mesh,
                 const StageMap &stages, ReshardPlans &plans)
      : function(function), mesh(mesh), stages(stages), plans(plans) {}

  /// Returns `value` in layout `target` for `reader`. Uses an earlier
  /// conversion if it can be shared, and otherwise builds one. Returns null
  /// after an error.
  mlir::Value convert(mlir::Value value, dist::LayoutAttr target,
                      mlir::Operation *reader, dist::Purpose purpose);

  /// Converts `value` to layout `target`, which must be on the same stage, and
  /// returns the result. Inserts the operations with `builder` and reports
  /// errors at `reader`. Does not use or fill the cache.
  llvm::FailureOr<mlir::Value>
  reshard(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);

  /// Returns true if `value` has been converted to layout `form` on the virtual
  /// stage `stage`, and this conversion is kept for the backward pass because
  /// it is no larger than `value`.
  bool hasKeptForm(mlir::Value value, dist::LayoutAttr form,
                   int64_t stage) const;

  /// Returns the layout in which operations on the stage of `op` can read
  /// `value`. This is the layout of the received value if `value` was sent
  /// there from another stage, and otherwise the layout of `value`.
  dist::LayoutAttr layoutAt(mlir::Value value, mlir::Operation *op) const;

  /// Returns true if the pending sums of `value` have been reduced for an
  /// earlier reader, and `op` can read the reduced value.
  bool isReducedAt(mlir::Value value, mlir::Operation *op) const;

  /// Returns true if the tree offloads the results of the producer of `value`,
  /// so that `value` is kept in host memory for the backward pass.
  static bool isOffloaded(mlir::Value value);

private:
  /// Returns the copy of `value` in host memory if `reader` is in the backward
  /// pass and can read this copy, because the tree offloads `value`. Builds the
  /// copy if there is none yet. Otherwise returns `value`.
  mlir::Value onHost(mlir::Value value, mlir::Operation *reader);
  /// Converts `value` to `target`, which has fixed coordinates on axes on which
  /// `value` has none, for example dp = 0. If one dimension of `value` is
  /// sharded over all these axes and a gather is possible, gathers it at the
  /// fixed coordinates. Otherwise replicates `value` over these axes and
  /// restricts it to the coordinates.
  llvm::FailureOr<mlir::Value>
  bringTo(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr target,
          mlir::Operation *reader, dist::Purpose purpose);
  /// Returns a key for the conversion of `value` to `target` for `reader`.
  /// Readers with the same key share the conversion.
  int64_t sectionOf(mlir::Value value, dist::LayoutAttr target,
                    mlir::Operation *reader) const;
  /// Returns an existing conversion of `value` to `layout` with the key
  /// `section` that is visible at `reader`, or null. A conversion in the body
  /// of a repeat, for example, is not visible outside.
  mlir::Value find(mlir::Value value, dist::LayoutAttr layout, int64_t section,
                   mlir::Operation *reader) const;
  /// Returns `value` with its sum over micro-batches completed, or null after
  /// an error.
  mlir::Value accumulate(mlir::OpBuilder &builder, mlir::Value value,
                         mlir::Operation *reader);
  /// Sends `value` to the stage of `reader`. `producer` is the operation that
  /// computes `value` or, if `value` is a completed sum over micro-batches, its
  /// summands. It is null for an argument. Returns the received value, or null
  /// after an error.
  mlir::Value transfer(AnnotatingBuilder &builder, mlir::Value value,
                       mlir::Operation *producer, dist::LayoutAttr target,
                       mlir::Operation *reader, dist::Purpose purpose);

  /// Key of the conversions that all readers share.
  static constexpr int64_t anySection = 0;
  /// Returns the key of the conversions that the forward and the backward pass
  /// of a virtual stage share.
  static int64_t bothPasses(int64_t stage) { return -1 - stage; }

  mlir::func::FuncOp function;
  dist::MeshAttr mesh;
  const StageMap &stages;
  ReshardPlans &plans;
  /// Conversions built so far. The key is the original value, the layout and
  /// the key that `sectionOf` returns for the readers.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, int64_t>,
                 llvm::SmallVector<mlir::Value, 1>>
      converted;
  /// Values received from other stages. The key is the original value and the
  /// receiving stage.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> arrived;
  /// For each operation with a result that leaves the step or the device, the
  /// last conversion that was inserted after the operation. The next conversion
  /// is inserted after that conversion.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> insertedBehind;
  /// Copies of offloaded values in host memory. The key is the original value.
  llvm::DenseMap<mlir::Value, mlir::Value> hostCopies;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_VALUECONVERTER_H
