//===- Annotations.h - annotations of ops and arguments ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that read and write annotations, which are the attributes in which
// a pass stores results for later passes (StrategyAnnotations.h). Also contains
// functions that read and write the attributes of function arguments.
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

/// Returns the name of the argument attribute that holds the storage layout of
/// a weight, gradient or state, as selected by `item`. `Storage` reads it.
llvm::StringRef getStorageAttrName(strategy::ItemKind item);
/// Returns the name of the argument attribute that is set if the weight or the
/// state, as selected by `item`, is kept in host memory.
llvm::StringRef getHostAttrName(strategy::ItemKind item);

/// Returns the mesh that match-strategy has attached to a function, or null if
/// match-strategy has not run on it. If the result is null and the function is
/// a model (an argument has a role), warns that the pass named `pass` leaves
/// the function unchanged.
dist::MeshAttr getMatchedMesh(mlir::FunctionOpInterface function,
                              llvm::StringRef pass);

/// Returns true if an argument of the function has a layout. propagate-strategy
/// gives layouts to all arguments.
bool hasLayouts(mlir::FunctionOpInterface function);

/// Checks the partitions (`strategy.op`) of the operations in a function. Emits
/// an error and fails if a partition names an iterator that its operation does
/// not have, or an axis that the mesh does not have.
mlir::LogicalResult checkPartitions(mlir::FunctionOpInterface function,
                                    const dist::Mesh &mesh);

void setPhase(mlir::Operation *op, Phase phase);
/// Returns the phase of `op`, or Forward if no phase is annotated, as in a
/// model without gradients.
Phase getPhase(mlir::Operation *op);

/// Returns the role of a function argument, or nullopt if it has none.
std::optional<nn::Role> getRole(mlir::BlockArgument argument);
/// Returns the path of a function argument, or `arg<k>` for argument k without
/// a path.
std::string getArgumentPath(mlir::BlockArgument argument);
/// Returns the attribute `name` of a function argument. Returns null if there
/// is no such attribute, or if `argument` is not an argument of a function.
mlir::Attribute getArgumentAttr(mlir::BlockArgument argument,
                                llvm::StringRef name);

/// Collects changes of the attributes of function arguments, to write them all
/// at once. A function stores the attributes of all its arguments in one list.
/// Rebuilding this list for every changed argument would take quadratic time.
class ArgumentAttrChanges {
public:
  /// Records a new value of the attribute `name` of `argument`.
  void set(mlir::BlockArgument argument, llvm::StringRef name,
           mlir::Attribute attribute);
  /// Returns the value that the attribute `name` of `argument` will have after
  /// `apply`, or null if there will be no such attribute.
  mlir::Attribute get(mlir::BlockArgument argument, llvm::StringRef name) const;
  /// Writes all recorded changes to `function` and forgets them. All changed
  /// arguments must belong to `function`.
  void apply(mlir::FunctionOpInterface function);

private:
  /// For each argument with a change, all its attributes, changed or not.
  llvm::DenseMap<mlir::Value, mlir::NamedAttrList> changed;
};

/// Traces `value` back to a parameter of the function. Returns the parameter
/// and the number of repeats that slice it: 0 if `value` is the parameter
/// itself, 1 if it is one layer of a stacked parameter. Returns null and 0 if
/// `value` is neither a parameter nor a slice of one.
std::pair<mlir::BlockArgument, unsigned> getParameter(mlir::Value value);

/// Returns the name of the group of operations that are recomputed together
/// with `op`, or null if `op` is not recomputed.
mlir::StringAttr getRecomputeGroup(mlir::Operation *op);

/// Returns the virtual stage of an operation or a function argument, or nullopt
/// if it has none. A virtual stage is one chunk of one stage (see
/// `kStageAttr`).
std::optional<int64_t> getStage(mlir::Operation *op);
std::optional<int64_t> getStage(mlir::BlockArgument argument);
void setStage(mlir::Operation *op, int64_t stage);

/// Copies annotations of `from` to `to`: the virtual stage, the coordinates on
/// the mesh, the prefetch depth, and whether parameters are gathered once per
/// step. Also copies the axes of each iterator of `from` to the iterator of
/// `to` with the same name, if `to` has such an iterator. If the kernel of `to`
/// runs on the matrix units, `to` gets the compute type of `from`.
void inheritAnnotations(mlir::Operation *from, mlir::Operation *to);
/// Replaces the partition of `to` by that of `from`. Used if the two operations
/// have different names for their iterators. For each pair (name in `from`,
/// name in `to`), the iterator of `to` gets the axes of the iterator of `from`.
/// All other iterators of `to` get no axes.
void inheritPartition(
    mlir::Operation *from, mlir::Operation *to,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names);
/// Removes all annotations (attributes of the dialect strategy) of `root` and
/// of the operations inside it.
void stripAnnotations(mlir::Operation *root);
/// Copies the virtual stage and the coordinates on the mesh of the function
/// argument `from` to `to` and to the operations inside it, except terminators.
void inheritPlace(mlir::BlockArgument from, mlir::Operation *to);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
