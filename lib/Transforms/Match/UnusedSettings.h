//===- UnusedSettings.h - settings without effect ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass match-strategy: emits errors for `prefetch` and `offload`
// settings that have no effect.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_MATCH_UNUSEDSETTINGS_H
#define PROTEUS_LIB_TRANSFORMS_MATCH_UNUSEDSETTINGS_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {

/// Finds `prefetch` and `offload` settings of a tree that have no effect. Such
/// a setting is an error, because it is probably a mistake, like a pattern that
/// selects no operation.
class UnusedSettings {
public:
  /// Records that a node with `setting` selects an operation.
  void select(mlir::Operation *setting) { uses.insert({setting, {}}); }
  /// Records that `setting` is the innermost setting of its kind for `op`.
  void hold(mlir::Operation *setting, mlir::Operation *op);
  /// Records that `op` reads its parameters. Must be called for all operations,
  /// because a parameter with several readers counts as gathered.
  void read(mlir::Operation *op);
  /// Emits an error for each setting without effect in `function`. The
  /// arguments must already be annotated with the layouts in which they are
  /// stored.
  mlir::LogicalResult report(mlir::func::FuncOp function);

private:
  /// The use of one setting by the operations to which it applies.
  struct Use {
    /// True if the setting is the innermost one of its kind for at least one
    /// operation.
    bool holds = false;
    /// Parameters of the operations for which the setting is the innermost one.
    llvm::SmallSetVector<mlir::BlockArgument, 4> parameters;
  };
  bool isGathered(mlir::BlockArgument parameter) const;
  /// Returns the reason why the setting has no effect, or an empty string if it
  /// has an effect.
  std::string reasonUnused(strategy::PrefetchOp prefetch, const Use &use) const;
  std::string reasonUnused(strategy::OffloadOp offload, const Use &use,
                           nn::TrainingAttr training) const;

  /// Use of each setting that `select` has recorded.
  llvm::MapVector<mlir::Operation *, Use> uses;
  /// Number of operations that read each parameter.
  llvm::DenseMap<mlir::Value, unsigned> numReaders;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_UNUSEDSETTINGS_H
