//===- Annotations.h - annotations of ops and arguments ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that read and write the attributes by which a pass leaves results
// for later passes (StrategyAnnotations.h), and attributes of function
// arguments.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
#define PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/StrategyAnnotations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace proteus {

using strategy::Phase;

/// Returns the name of the attribute of a parameter that holds the axes of each
/// dimension of `item`, which is its weight, gradient or state.
llvm::StringRef getStorageAttrName(strategy::ItemKind item);
/// Returns the name of the attribute of a parameter whose `item`, weight or
/// state, is in host memory.
llvm::StringRef getHostAttrName(strategy::ItemKind item);

/// Returns the mesh of a function that match-strategy has matched with a tree,
/// or null. Warns if the function is a model that was not matched, and that the
/// pass called `pass` therefore leaves unchanged.
dist::MeshAttr getMatchedMesh(mlir::FunctionOpInterface function,
                              llvm::StringRef pass);

/// Returns true if propagate-strategy has given the arguments of a function
/// their layouts.
bool hasLayouts(mlir::FunctionOpInterface function);

/// Fails if a `strategy.op` in a function names an iterator that its operation
/// lacks, or an axis that the mesh lacks.
mlir::LogicalResult checkPartitions(mlir::FunctionOpInterface function,
                                    const dist::Mesh &mesh);

/// Sets the phase of `op`.
void setPhase(mlir::Operation *op, Phase phase);
/// Returns the phase of `op`: Forward if it has no annotation, as in
/// forward-only programs.
Phase getPhase(mlir::Operation *op);

/// Returns the role of a function argument, or nullopt if it has none.
std::optional<nn::Role> getRole(mlir::BlockArgument argument);
/// Returns the path of a function argument, or `arg<k>` for argument k without
/// a path.
std::string getArgumentPath(mlir::BlockArgument argument);
/// Returns an attribute of a function argument, or null if it is absent or
/// `argument` belongs to no function.
mlir::Attribute getArgumentAttr(mlir::BlockArgument argument,
                                llvm::StringRef name);

/// Changes of attributes of function arguments that are written at once. A
/// function stores the attributes of all its arguments in one list. To rebuild
/// that list for every argument would take quadratic time.
class ArgumentAttrChanges {
public:
  /// Records a new value of an attribute of `argument`.
  void set(mlir::BlockArgument argument, llvm::StringRef name,
           mlir::Attribute attribute);
  /// Returns the attribute as it is after `apply`, or null if there is none.
  mlir::Attribute get(mlir::BlockArgument argument, llvm::StringRef name) const;
  /// Writes all changes and clears them. All changed arguments must belong to
  /// `function`.
  void apply(mlir::FunctionOpInterface function);

private:
  /// All attributes of each argument with a change.
  llvm::DenseMap<mlir::Value, mlir::NamedAttrList> changed;
};

/// Returns the parameter that `value` is or is a slice of, and the number of
/// repeats that slice it. Returns null and 0 if there is none.
std::pair<mlir::BlockArgument, unsigned> getParameter(mlir::Value value);

/// Returns the recompute group of `op`, or null.
mlir::StringAttr getRecomputeGroup(mlir::Operation *op);

/// Returns the virtual stage, or nullopt if it is not annotated.
std::optional<int64_t> getStage(mlir::Operation *op);
std::optional<int64_t> getStage(mlir::BlockArgument argument);
/// Sets the virtual stage of `op`.
void setStage(mlir::Operation *op, int64_t stage);

/// Copies annotations of `from` to `to`: the stage, the coordinates, the
/// prefetch depth, whether parameters are gathered once, and the axes of
/// iterators that both operations have by name. A matrix product also gets the
/// compute type of `from`.
void inheritAnnotations(mlir::Operation *from, mlir::Operation *to);
/// Replaces the partition of `to`. For each pair (name in `from`, name in
/// `to`), the iterator of `to` gets the axes of the iterator of `from`; all
/// other iterators get none.
void inheritPartition(
    mlir::Operation *from, mlir::Operation *to,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names);
/// Removes all annotations of `root` and of the operations inside it.
void stripAnnotations(mlir::Operation *root);
/// Copies the stage and the coordinates of a function argument to `to` and to
/// the operations inside it.
void inheritPlace(mlir::BlockArgument from, mlir::Operation *to);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
