//===- TiedGradients.h - gradients of tied parameters -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: a tied parameter, such as an embedding that the
// first and the last stage read, has a copy on each of its stages. Every copy
// is updated with the sum of the gradients of all copies.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H

#include "ReaderLayouts.h"
#include "ValueConverter.h"

#include "llvm/ADT/StringMap.h"

namespace proteus {

/// Builds the sums of the gradients of the tied parameters of one function.
class TiedGradients {
public:
  TiedGradients(mlir::func::FuncOp function, const StageMap &stages,
                ReaderLayouts &reads, ValueConverter &converter)
      : function(function), stages(stages), reads(reads), converter(converter) {
  }

  /// Finds the updates of tied parameters. Must be called before `joinBefore`.
  void findUpdates();

  /// Builds the sums of gradients that must precede `reader`, an operation of
  /// the update. If `reader` updates a tied parameter, builds the sum for that
  /// parameter. If `reader` reads the gradient of a tied parameter before the
  /// update does, for example to compute its square sum, builds the sums for
  /// all tied parameters. The stages then exchange totals of square sums and
  /// wait for each other, so no stage may compute a sum of gradients after
  /// `reader`.
  llvm::LogicalResult joinBefore(mlir::Operation *reader);

private:
  /// Builds, before `reader`, the sum of the gradients of the tied parameter
  /// that `update` updates. The gradients of all copies are summed in the
  /// layout in which the update of the first copy reads its gradient.
  llvm::LogicalResult join(mlir::Operation *update, mlir::Operation *reader);

  mlir::func::FuncOp function;
  const StageMap &stages;
  ReaderLayouts &reads;
  ValueConverter &converter;
  /// The updates of tied parameters, in program order.
  llvm::SmallVector<mlir::Operation *> updates;
  /// For each path of a tied parameter, the tag of its reduction and the layout
  /// in which the update of the first copy reads its gradient.
  llvm::StringMap<std::pair<int64_t, dist::LayoutAttr>> tied;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
