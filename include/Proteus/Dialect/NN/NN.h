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

/// Role of a function argument in the step. A master copy is the state in which
/// an optimizer keeps a parameter in a wider type.
enum class Role { Input, Parameter, State, Master };

/// Returns true for states of the optimizer, master copies included.
inline bool isState(std::optional<Role> role) {
  return role == Role::State || role == Role::Master;
}

/// Names of the attributes of functions, arguments and results.
constexpr llvm::StringLiteral kTrainingAttr = "nn.training";
constexpr llvm::StringLiteral kRoleAttr = "nn.role";
constexpr llvm::StringLiteral kPathAttr = "nn.path";
/// On a result: the number of the argument that the result replaces (donation).
constexpr llvm::StringLiteral kUpdatesAttr = "nn.updates";
/// On a result of a program: the number of the result of the model that the
/// program returns here.
constexpr llvm::StringLiteral kResultAttr = "nn.result";

/// Returns the role that `text` names, or nullopt.
std::optional<Role> parseRole(llvm::StringRef text);
/// Returns the name of `role` in attributes.
llvm::StringRef stringify(Role role);

/// Returns the path of `op` relative to the innermost nn.repeat around it.
std::string getOwnPath(mlir::Operation *op);

/// Returns the path of `op` in the module tree: the paths of the nn.repeat
/// operations around it, outermost first, followed by its own path. The
/// iteration of a repeat is written `[*]`. The own path of an operation of
/// another dialect is its attribute `proteus.path`, else its name location,
/// else `<func>.<op>#k` for the k-th such operation of its block, from 0.
std::string getPath(mlir::Operation *op);

} // namespace proteus::nn

#endif // PROTEUS_DIALECT_NN_NN_H
