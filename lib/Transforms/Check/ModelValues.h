//===- ModelValues.h - values of a model by path ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments of a model with random values, and the results of its training
// step, both by path. Arguments and results of lowered programs are found by
// their paths, too.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_CHECK_MODELVALUES_H
#define PROTEUS_LIB_TRANSFORMS_CHECK_MODELVALUES_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace proteus {

/// An argument of the model before its lowering.
struct ModelArgument {
  std::string path;
  nn::Role role;
  interp::Tensor value;
  /// Index of the first iteration of the repeat that slices the argument, or 0
  /// if there is no such repeat.
  int64_t first = 0;
};

/// The part of the model to which an argument or a result of a program
/// corresponds: an argument of the model, an optimizer state of such an
/// argument, or some layers of one of these.
struct Piece {
  const ModelArgument *whole = nullptr;
  /// Suffix of the path of the state, such as `.velocity`. Empty for the
  /// argument itself.
  std::string state;
  /// The layers `[from, to)` of a stack, counted from 0; nullopt for all of
  /// them.
  std::optional<std::pair<int64_t, int64_t>> range;
  /// True for a single layer, which has no leading dimension for layers.
  bool single = false;

  std::string key() const { return whole->path + state; }
  /// Returns the part of the value of the argument of the model.
  interp::Tensor cut() const;
  /// Copies `part` to the layers of this piece in `tensor`, which has the shape
  /// of the argument of the model.
  void paste(const interp::Tensor &part, interp::Tensor &tensor) const;
};

/// The arguments of the model, with random values.
class Arguments {
public:
  mlir::LogicalResult collect(mlir::func::FuncOp model, uint64_t seed);
  /// Returns the part of the model to which `path`, the path of an argument of
  /// a training step or program, corresponds. Returns nullopt if there is none.
  std::optional<Piece> find(llvm::StringRef path) const;
  /// Returns the value with which `argument`, an argument of a training step or
  /// program, enters the execution. Emits an error and fails if `argument`
  /// corresponds to no part of the model.
  llvm::FailureOr<interp::Tensor> valueOf(mlir::BlockArgument argument) const;
  const ModelArgument *lookup(llvm::StringRef path) const {
    auto found = byPath.find(path);
    return found == byPath.end() ? nullptr : &list[found->second];
  }

private:
  std::optional<Piece> findPiece(llvm::StringRef path) const;

  std::vector<ModelArgument> list;
  llvm::StringMap<size_t> byPath;
};

/// Collects the results of a step by name. A result that updates an argument
/// has the path of this argument in the model as its name, and the layers of a
/// stacked argument are joined into one tensor. Any other result has the name
/// `result <n>`, where n is its number in the model.
class StepResults {
public:
  explicit StepResults(const Arguments &arguments) : arguments(arguments) {}

  /// Adds the results of a function or of one program. Emits an error and fails
  /// if an update has another type than its argument or belongs to no part of
  /// the model, or if two stages return different copies of a parameter.
  mlir::LogicalResult add(mlir::FunctionOpInterface step,
                          llvm::ArrayRef<interp::Tensor> values);

  llvm::MapVector<llvm::StringRef, interp::Tensor> tensors;

private:
  const Arguments &arguments;
  llvm::StringMap<char> names;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_CHECK_MODELVALUES_H
