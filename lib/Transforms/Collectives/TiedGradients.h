//===- TiedGradients.h - gradients of tied parameters -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: a parameter that several stages read has a copy
// on each of them. Every copy is updated with the sum of the gradients of all
// copies.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H

#include "ReaderLayouts.h"
#include "ValueConverter.h"

#include "llvm/ADT/StringMap.h"

namespace proteus {

/// The tied parameters of one function, and the sums of their gradients.
class TiedGradients {
public:
  TiedGradients(mlir::func::FuncOp function, const StageMap &stages,
                ReaderLayouts &reads, ValueConverter &converter)
      : function(function), stages(stages), reads(reads), converter(converter) {
  }

  /// Finds the updates of tied parameters. Called once, because `joinBefore`
  /// needs them for every operation of the update.
  void findUpdates();

  /// Builds the sums that must precede `reader`: the sum that an update reads,
  /// or all sums if `reader` reads a gradient before its update, for example to
  /// scale it. In the latter case all stages build all sums first, because they
  /// exchange numbers of the gradients afterwards and wait for each other.
  llvm::LogicalResult joinBefore(mlir::Operation *reader);

private:
  /// Builds, before `reader`, the sum of the gradients of a tied parameter on
  /// the stage of `update`. The gradients are summed in the layout that the
  /// first copy needs.
  llvm::LogicalResult join(mlir::Operation *update, mlir::Operation *reader);

  mlir::func::FuncOp function;
  const StageMap &stages;
  ReaderLayouts &reads;
  ValueConverter &converter;
  /// The updates of tied parameters, in program order.
  llvm::SmallVector<mlir::Operation *> updates;
  /// By path of the tied parameter: the tag of its reduction, and the layout in
  /// which the first copy needs its gradient.
  llvm::StringMap<std::pair<int64_t, dist::LayoutAttr>> tied;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
