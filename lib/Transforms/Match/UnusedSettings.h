//===- UnusedSettings.h - settings without effect ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Finds `prefetch` and `offload` settings of a tree that change nothing:
/// nobody writes them for that, so they are reported like patterns that select
/// nothing.
class UnusedSettings {
public:
  /// A node with the setting selects an operation.
  void select(mlir::Operation *setting) { uses.insert({setting, {}}); }
  /// The setting is the nearest one of `op`.
  void hold(mlir::Operation *setting, mlir::Operation *op);
  /// `op` reads its parameters, whether a setting is about it or not.
  void read(mlir::Operation *op);
  /// Reports the settings that change nothing in `function`, whose arguments
  /// have their storage.
  mlir::LogicalResult report(mlir::func::FuncOp function);

private:
  struct Use {
    bool holds = false;
    llvm::SmallSetVector<mlir::BlockArgument, 4> parameters;
  };
  bool isGathered(mlir::BlockArgument parameter) const;
  /// Why the setting changes nothing; empty if it changes something.
  std::string reasonUnused(strategy::PrefetchOp prefetch, const Use &use) const;
  std::string reasonUnused(strategy::OffloadOp offload, const Use &use,
                           nn::TrainingAttr training) const;

  llvm::MapVector<mlir::Operation *, Use> uses;
  llvm::DenseMap<mlir::Value, unsigned> numReaders;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_MATCH_UNUSEDSETTINGS_H
