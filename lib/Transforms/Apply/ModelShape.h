//===- ModelShape.h - layers and operations of a model ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of the pass apply-strategy: finds the operations and the layers of a
// model, and the patterns of operations that tensor parallelism splits.
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

/// Returns the model called `wanted`, or the only model of the module if
/// `wanted` is empty. Emits an error if there is no such function.
llvm::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module,
                                              llvm::StringRef wanted);

/// A model and the positions of its operations in a tree.
class ModelShape {
public:
  /// Position of an operation in the tree. `layers[3].mlp.fc1` has the layers
  /// `layers[*]`, the index `3` and the path `mlp.fc1`. An operation outside of
  /// layers has only a path.
  struct Position {
    std::string layers;
    /// The index as text: `3`, or `*` in a repeat.
    std::string index;
    std::string path;
  };

  /// A group of layers: an nn.repeat, or layers that are written out as
  /// `layers[0]`, `layers[1]` and so on.
  struct Layers {
    /// Operations of all layers, by their path inside a layer.
    llvm::MapVector<llvm::StringRef, llvm::SmallVector<mlir::Operation *>>
        operations;
    llvm::SetVector<int64_t> indices;
    /// Work of all layers in the forward pass, in FLOPs. Each point of an
    /// iteration space counts as at least one FLOP, so that layers without
    /// products have work too.
    double work = 0;
    /// True if the layers compute matrix products.
    bool hasProducts = false;
    /// Numbers of the first and the last operation of the group, in the order
    /// of the model.
    size_t first = 0, last = 0;
  };

  explicit ModelShape(mlir::func::FuncOp function);
  // Not copyable, because keys of `layers` refer to strings in `positions`.
  ModelShape(const ModelShape &) = delete;
  ModelShape &operator=(const ModelShape &) = delete;

  /// Finds the batch and the layers. Emits an error if the degrees do not fit
  /// the batch or the number of layers.
  llvm::LogicalResult examine(const plan::ResolvedPlan &plan);

  mlir::func::FuncOp getFunction() const { return function; }
  /// Returns all operations of the model that have an iteration space, in
  /// program order.
  llvm::ArrayRef<nn::IterationSpaceOpInterface> getOperations() const {
    return operations;
  }
  /// Returns true if at least one operation iterates over the batch.
  bool hasBatch() const { return batched; }
  /// Returns the position of `op`, or null if no pattern can select it.
  const Position *getPosition(mlir::Operation *op) const;
  /// Returns the group of layers that a pattern such as `layers[*]` selects.
  const Layers &getLayers(llvm::StringRef pattern) const {
    return layers.find(pattern)->second;
  }
  /// Returns the patterns of the layers that are cut into stages, in the order
  /// of the model: `encoder.layers[*]` and `decoder.layers[*]`, for example.
  llvm::ArrayRef<llvm::StringRef> getStageLayers() const { return stageLayers; }
  /// Returns true if `recompute=full` recomputes the layers that `pattern`
  /// selects.
  bool isRecomputed(llvm::StringRef pattern) const {
    return recomputedLayers.contains(pattern);
  }

private:
  llvm::LogicalResult checkBatch(const plan::ResolvedPlan &plan);
  void findLayers();
  void chooseLayers();
  llvm::LogicalResult checkLayers(const plan::ResolvedPlan &plan);

  mlir::func::FuncOp function;
  llvm::SmallVector<nn::IterationSpaceOpInterface> operations;
  bool batched = false;
  llvm::DenseMap<mlir::Operation *, Position> positions;
  llvm::MapVector<llvm::StringRef, Layers> layers;
  llvm::SmallVector<llvm::StringRef> stageLayers;
  llvm::SetVector<llvm::StringRef> recomputedLayers;
};

/// Returns the outermost repeat around `op`, or null.
nn::RepeatOp getOutermostRepeat(mlir::Operation *op);

/// Returns the number of times `op` runs: the product of the counts of the
/// repeats around it.
double countRuns(mlir::Operation *op);

/// Returns the FLOPs of one run of `op`.
double countFlops(nn::IterationSpaceOpInterface op);

/// Returns true if `op` is element-wise, such as an activation function, a cast
/// or a gate. Its result can then have the same splits as its operands. Returns
/// false for additions, because they add a residual, which has a layout of its
/// own.
bool isElementWise(mlir::Operation *op);

/// Returns the number of output features of a linear.
int64_t outSize(nn::LinearOp linear);

/// Returns the length of the sequence over which `op` iterates, or nullopt if
/// `op` has no iterator `seq`.
std::optional<int64_t> sequenceOf(nn::IterationSpaceOpInterface op);

/// Collects the uses of `value`. A use by an element-wise operation is replaced
/// by the uses of the result of that operation.
void collectReaders(mlir::Value value,
                    llvm::SmallVectorImpl<mlir::OpOperand *> &readers);

/// Returns the linears that read `value` as their input, directly or through
/// element-wise operations. Returns an empty list if `value` has any other
/// reader.
llvm::SmallVector<nn::LinearOp> onlyLinearReaders(mlir::Value value);

/// Returns the linear that computes `value`, directly or through views and
/// element-wise operations. Returns null if there is none, or if an operation
/// in between needs communication when the last dimension is split into `parts`
/// equal parts.
nn::LinearOp producingLinear(mlir::Value value, int64_t parts);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_APPLY_MODELSHAPE_H
