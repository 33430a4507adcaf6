//===- Annotations.h - facts passes leave for each other --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers and writers of the attributes by which phases of the lowering hand
// facts to each other, and of the attributes of function arguments.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
#define PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/StrategyAnnotations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace proteus {

using strategy::Phase;

/// Returns the attribute of a parameter with the axes per dimension of itself,
/// its gradient or its state.
llvm::StringRef getStorageAttrName(strategy::ItemKind item);
/// Returns the attribute of a parameter that puts it, or its state, into host
/// memory.
llvm::StringRef getHostAttrName(strategy::ItemKind item);

void setPhase(mlir::Operation *op, Phase phase);
/// Phase of `op`; forward when it has none (forward-only programs).
Phase getPhase(mlir::Operation *op);

/// Role of a function argument, if it has one.
std::optional<nn::Role> getRole(mlir::BlockArgument argument);
/// Path of a function argument, or `arg<k>`.
std::string getArgumentPath(mlir::BlockArgument argument);
/// Attribute of a function argument.
mlir::Attribute getArgumentAttr(mlir::BlockArgument argument,
                                llvm::StringRef name);

/// Changes of attributes of function arguments, to be written together: a
/// function has one list for all its arguments, and making it anew for each of
/// them would be quadratic.
class ArgumentAttrChanges {
public:
  void set(mlir::BlockArgument argument, llvm::StringRef name,
           mlir::Attribute attribute);
  /// The attribute as it will be; null if there is none.
  mlir::Attribute get(mlir::BlockArgument argument, llvm::StringRef name) const;
  /// Writes all changes, which are of arguments of `function`, and forgets
  /// them.
  void apply(mlir::FunctionOpInterface function);

private:
  /// All attributes of the arguments that change.
  llvm::DenseMap<mlir::Value, mlir::NamedAttrList> changed;
};

/// The parameter behind `value`, through the slices of repeats, and how many
/// stacks it is in; null if there is none.
std::pair<mlir::BlockArgument, unsigned> getParameter(mlir::Value value);

/// The recompute group of `op`, or null.
mlir::StringAttr getRecomputeGroup(mlir::Operation *op);

std::optional<int64_t> getStage(mlir::Operation *op);
std::optional<int64_t> getStage(mlir::BlockArgument argument);
void setStage(mlir::Operation *op, int64_t stage);

/// Gives `to` the stage and the place of `from`, and what `from` says about
/// iterators that `to` has under the same name.
void inheritAnnotations(mlir::Operation *from, mlir::Operation *to);
/// Replaces what `to` says about its iterators by what `from` says, for the
/// pairs (name in `from`, name in `to`) alone.
void inheritPartition(
    mlir::Operation *from, mlir::Operation *to,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> names);
/// Removes what passes leave for each other from an op and the ops inside it.
void stripAnnotations(mlir::Operation *root);
/// Gives an op and the ops inside it the stage and the place of a function
/// argument.
void inheritPlace(mlir::BlockArgument from, mlir::Operation *to);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_ANNOTATIONS_H
