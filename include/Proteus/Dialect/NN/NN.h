//===- NN.h - the nn dialect ------------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NN_H
#define PROTEUS_DIALECT_NN_NN_H

#include "Proteus/Dialect/NN/IterationSpace.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Proteus/Dialect/NN/NNEnums.h.inc"

#include "Proteus/Dialect/NN/NNDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Proteus/Dialect/NN/NNAttrs.h.inc"

#define GET_OP_CLASSES
#include "Proteus/Dialect/NN/NNOps.h.inc"

namespace proteus::nn {

/// Role of a function argument in the step. `Master` is the master copy of a
/// parameter: a state that holds the parameter in a wider type, which the
/// optimizer updates.
enum class Role { Input, Parameter, State, Master };

/// Returns true if the role is a state of the optimizer or a master copy.
inline bool isState(std::optional<Role> role) {
  return role == Role::State || role == Role::Master;
}

/// Names of the discardable attributes of functions, arguments and results.
constexpr llvm::StringLiteral kTrainingAttr = "nn.training";
constexpr llvm::StringLiteral kRoleAttr = "nn.role";
constexpr llvm::StringLiteral kPathAttr = "nn.path";
/// On a result: index of the argument that the result replaces in the next
/// step. For example, an updated weight replaces the weight.
constexpr llvm::StringLiteral kUpdatesAttr = "nn.updates";
/// On a result of a program: index of the same result in the step function that
/// was split into programs.
constexpr llvm::StringLiteral kResultAttr = "nn.result";

/// Returns the role with the name `text`, such as `parameter`, or nullopt.
std::optional<Role> parseRole(llvm::StringRef text);
/// Returns the name of `role`, such as `parameter`.
llvm::StringRef stringify(Role role);

/// Returns the path of `op` relative to the innermost nn.repeat around it. For
/// an operation of another dialect, this is the attribute `proteus.path`, or
/// else the name in its location, or else `<func>.<op>#k` for the k-th
/// operation of this name in its block, counted from 0.
std::string getOwnPath(mlir::Operation *op);

/// Returns the path of `op` in the module tree, such as
/// `layers[*].attention.qkv`: the paths of the nn.repeat operations around it,
/// outermost first and each with the index `[*]`, followed by its own path
/// (`getOwnPath`).
std::string getPath(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_NN_H
