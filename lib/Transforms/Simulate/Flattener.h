//===- Flattener.h - expansion of repeats -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The class that writes out the repeats of a program. Its methods are in three
// files: the visit of operations in their order (FlatProgram.cpp, which also
// contains the entry `flatten`), the creation of tasks (FlatTasks.cpp), and the
// buffers that are held during the whole step (FlatResidents.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATTENER_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATTENER_H

#include "FlatOrder.h"
#include "FlatProgram.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// A value of the flat program: a tensor, or a stack of tensors, one per
/// iteration of a repeat.
struct FlatValue {
  /// Values of the iterations of a stack; empty for a single tensor.
  std::vector<uint32_t> slices;
  /// Index of the task that computes the value, or -1.
  int32_t producer = -1;
  /// True if the producer is in the once-list, false if in the micro-list.
  bool producedOnce = false;
  /// Index of its buffer in the list of the producer, or -1 if no buffer of a
  /// list holds it, for example because its memory is resident.
  int32_t buffer = -1;
  /// For an argument of the program, a slice of one, or a parameter that is
  /// gathered once: index of its buffer in FlatProgram::resident; else -1.
  int32_t argument = -1;
  /// Number of such slices in that buffer.
  int64_t pieces = 1;
  /// True for the initial zero of a sum over iterations, which has no memory.
  bool isEmptySum = false;
};

/// Writes out the repeats of a program. Maps every SSA value to its value in
/// the current iteration.
class Flattener {
public:
  explicit Flattener(dist::ProgramOp program);

  llvm::FailureOr<FlatProgram> run();

private:
  llvm::LogicalResult visit(mlir::Block &block);
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult visitRepeat(nn::RepeatOp repeat);
  llvm::LogicalResult visitRecompute(nn::RecomputeOp recompute);
  std::optional<uint32_t> onlyTerm(nn::AddOp add) const;
  void orderSection(size_t begin);

  void visitTask(mlir::Operation *op);
  void visitFusedReduce(dist::FusedReduceOp fused);
  void visitFusedGather(dist::FusedGatherOp fused);
  /// Delays the last `count` bucket tasks. Each of them waits for the members
  /// of all of them in the same section.
  void delayBuckets(size_t count);
  /// Returns true if later kernels wait until `op`, a communication, has ended.
  bool blocks(mlir::Operation *op) const;
  /// Adds `value` to the dependencies and the read buffers of `task`.
  void read(FlatTask &task, uint32_t value);

  void addArguments();
  void visitGatherOnce(dist::AllGatherOp gather);
  void dropGathered();
  void makeResident(dist::SectionOp section);

  uint32_t addValue(FlatValue value) {
    values.push_back(std::move(value));
    return values.size() - 1;
  }
  /// Returns slice `i` of a value. A resident stack represents all its slices.
  uint32_t sliceOf(uint32_t value, int64_t i) {
    return values[value].slices.empty() ? value : values[value].slices[i];
  }
  /// Returns the value whose slices a repeat of `count` iterations reads. For a
  /// resident value that is a new one, which represents any of its slices.
  uint32_t slicesOf(uint32_t value, int64_t count) {
    if (values[value].argument < 0)
      return value;
    FlatValue slices = values[value];
    slices.pieces *= count;
    int64_t &pieces = flat.resident[slices.argument].pieces;
    pieces = std::max(pieces, slices.pieces);
    return addValue(std::move(slices));
  }
  /// Returns true if the value is in several buffers, so that an operation
  /// cannot overwrite it in place.
  bool isInChunks(uint32_t value) {
    return llvm::any_of(values[value].slices, [&](uint32_t slice) {
      return values[slice].buffer >= 0;
    });
  }
  /// Adds all single tensors of a value to `result`.
  void leaves(uint32_t value, llvm::SmallVectorImpl<uint32_t> &result) {
    if (values[value].slices.empty()) {
      result.push_back(value);
      return;
    }
    for (uint32_t slice : values[value].slices)
      leaves(slice, result);
  }
  FlatList &list() { return once ? flat.once : flat.micro; }
  std::string labelOf(mlir::Operation *op) const {
    return (prefix + nn::getOwnPath(op));
  }

  dist::ProgramOp program;
  FlatProgram flat;
  std::vector<FlatValue> values;
  /// Index into `values` of every SSA value in the current iteration.
  llvm::DenseMap<mlir::Value, uint32_t> environment;
  /// Path of the iterations around the current operation, such as `layers[3].`.
  std::string prefix;
  bool once = false;
  sim::Phase phase = sim::Phase::Forward;
  /// Tasks of buckets, not yet in the micro-list.
  BucketTasks bucketTasks;
  /// True if kernels wait for collectives of tensor parallelism, or for sends.
  bool tensorCollectivesBlock = false, messagesBlock = false;
  /// Indices in FlatProgram::resident of shards whose bytes are part of a
  /// parameter that is gathered once.
  llvm::SmallDenseSet<int32_t> gatheredArguments;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATTENER_H
