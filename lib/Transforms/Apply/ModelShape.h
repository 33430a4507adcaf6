//===- ModelShape.h - layers and operations of a model ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of apply-strategy: the operations of a model, the layers they are in,
// and the patterns of operations that the degrees are about.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_APPLY_MODELSHAPE_H
#define PROTEUS_LIB_TRANSFORMS_APPLY_MODELSHAPE_H

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Plan/ParallelPlan.h"
#include "Proteus/Transforms/Apply/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace proteus {

/// The model called `wanted`, or the only one if that is empty. Emits an error
/// if there is none.
llvm::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module,
                                              llvm::StringRef wanted);

/// A model and where its operations are in a tree.
class ModelShape {
public:
  /// Where an operation is in the tree: `layers[3].mlp.fc1` is in the layers
  /// `layers[*]` under `mlp.fc1`; what is in no layers has only the latter.
  struct Position {
    std::string layers;
    /// The index as it is written: `3`, or `*` in a repeat.
    std::string index;
    std::string path;
  };

  /// Layers that are alike: an nn.repeat, or modules that are written out.
  struct Layers {
    /// Operations per path inside a layer.
    llvm::MapVector<llvm::StringRef, llvm::SmallVector<mlir::Operation *>>
        operations;
    llvm::SetVector<int64_t> indices;
    double work = 0;
  };

  explicit ModelShape(mlir::func::FuncOp function);
  // Layers are known by texts that the positions own.
  ModelShape(const ModelShape &) = delete;
  ModelShape &operator=(const ModelShape &) = delete;

  /// Finds the batch and the layers. Emits an error if the model lacks what the
  /// degrees are to split.
  llvm::LogicalResult examine(const plan::ResolvedPlan &plan);

  mlir::func::FuncOp getFunction() const { return function; }
  /// All operations of the model, in the order of the program.
  llvm::ArrayRef<nn::IterationSpaceOpInterface> getOperations() const {
    return operations;
  }
  /// Whether a dimension of anything is the batch.
  bool hasBatch() const { return batched; }
  /// Where `op` is; null if no pattern can select it.
  const Position *getPosition(mlir::Operation *op) const;
  /// The layers that a pattern such as `layers[*]` selects.
  const Layers &getLayers(llvm::StringRef pattern) const {
    return layers.find(pattern)->second;
  }
  /// The pattern of the layers that are cut into stages and recomputed; empty
  /// if there are none.
  llvm::StringRef getMainLayers() const { return mainLayers; }

private:
  llvm::LogicalResult checkBatch(const plan::ResolvedPlan &plan);
  void findLayers();
  llvm::LogicalResult chooseLayers(const plan::ResolvedPlan &plan);

  mlir::func::FuncOp function;
  llvm::SmallVector<nn::IterationSpaceOpInterface> operations;
  bool batched = false;
  llvm::DenseMap<mlir::Operation *, Position> positions;
  llvm::MapVector<llvm::StringRef, Layers> layers;
  llvm::StringRef mainLayers;
};

/// Whether a split of any dimension of the operand is one of the result.
bool isElementWise(mlir::Operation *op);

/// The number of outputs of a linear.
int64_t outSize(nn::LinearOp linear);

/// The size of the sequence that `op` runs over, if it does.
std::optional<int64_t> sequenceOf(nn::IterationSpaceOpInterface op);

/// Uses of `value`, seen through element-wise operations.
void collectReaders(mlir::Value value,
                    llvm::SmallVectorImpl<mlir::OpOperand *> &readers);

/// The linears that read `value` as their input through element-wise
/// operations. None if anything else reads it.
llvm::SmallVector<nn::LinearOp> onlyLinearReaders(mlir::Value value);

/// The linear that computes `value`, through views and element-wise operations
/// that keep `parts` equal parts of its last dimension where they are; null if
/// there is none.
nn::LinearOp producingLinear(mlir::Value value, int64_t parts);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_MODELSHAPE_H
