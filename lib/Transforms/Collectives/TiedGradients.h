//===- TiedGradients.h - one gradient for all copies ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of insert-collectives: a parameter that several stages read has a copy
// on each. Every copy is updated with the sum of the gradients of all copies.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
#define PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H

#include "ReaderLayouts.h"
#include "ValueConverter.h"

#include "llvm/ADT/StringMap.h"

namespace proteus {

/// Joins the gradients of the tied parameters of one function.
class TiedGradients {
public:
  TiedGradients(mlir::func::FuncOp function, const StageMap &stages,
                ReaderLayouts &reads, ValueConverter &converter)
      : function(function), stages(stages), reads(reads), converter(converter) {
  }

  /// Finds the updates of tied parameters once: every operation of the update
  /// asks for them.
  void findUpdates();

  /// Forms the sums that have to be there before `reader` runs. What looks at
  /// the gradients before they are used, to scale them, sees the sum too: all
  /// stages form all sums before the first one looks, since they wait for each
  /// other's numbers afterwards.
  llvm::LogicalResult joinBefore(mlir::Operation *reader);

private:
  /// Forms the sum of the gradients of a tied parameter on the stage of
  /// `update`, in front of `reader`. They are added in the layout that the
  /// first copy needs.
  llvm::LogicalResult join(mlir::Operation *update, mlir::Operation *reader);

  mlir::func::FuncOp function;
  const StageMap &stages;
  ReaderLayouts &reads;
  ValueConverter &converter;
  /// The updates of tied parameters, in the order of the program.
  llvm::SmallVector<mlir::Operation *> updates;
  /// Tied parameters by their path: the tag of their reduction and the layout
  /// in which the first copy needs its gradient.
  llvm::StringMap<std::pair<int64_t, dist::LayoutAttr>> tied;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_COLLECTIVES_TIEDGRADIENTS_H
