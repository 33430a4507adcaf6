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

/// Role of a function argument in the step. A `Master` is the master copy of a
/// parameter: a state that holds the parameter in a wider type. The optimizer
/// updates the master copy and rounds it to the type of the parameter.
enum class Role { Input, Parameter, State, Master };

/// Returns true if the role is `State` (of the optimizer) or `Master`.
inline bool isState(std::optional<Role> role) {
  return role == Role::State || role == Role::Master;
}

/// Names of discardable attributes. `nn.training` is for functions, `nn.role`
/// and `nn.path` are for arguments.
constexpr llvm::StringLiteral kTrainingAttr = "nn.training";
constexpr llvm::StringLiteral kRoleAttr = "nn.role";
constexpr llvm::StringLiteral kPathAttr = "nn.path";
/// On a result: index of the argument that the result replaces in the next
/// step. For example, an updated weight replaces the weight.
constexpr llvm::StringLiteral kUpdatesAttr = "nn.updates";
/// On a result of a program: index that the result has in the step function,
/// from which split-stages builds the programs.
constexpr llvm::StringLiteral kResultAttr = "nn.result";

/// Returns the role with the name `text`, such as `parameter`, or nullopt.
std::optional<Role> parseRole(llvm::StringRef text);
/// Returns the name of `role`, such as `parameter`.
llvm::StringRef stringify(Role role);

/// Returns the path of `op` relative to the innermost nn.repeat around it. The
/// path is the attribute `path` if `op` has one, else the attribute
/// `proteus.path`, else the name in the location, else `<func>.<op>#k`, where
/// `op` is the k-th operation of its name in its block, counted from 0.
std::string getOwnPath(mlir::Operation *op);

/// Returns the path of `op` in the module tree, such as
/// `layers[*].attention.qkv`. It begins with the paths of all nn.repeat
/// operations around `op`, outermost first, each with the index `[*]`. The path
/// that `getOwnPath` returns follows.
std::string getPath(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_NN_H
