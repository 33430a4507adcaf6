//===- Flattener.h - writes the repeats of a program out --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Flattening has three parts, a file each: what is visited in which order
// (FlatProgram.cpp, which runs them), what becomes a task (FlatTasks.cpp), and
// the memory that is held during the whole step (FlatResidents.cpp).
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

/// A value of the flat program: one tensor, or a stack of them, one per
/// iteration of a repeat.
struct FlatValue {
  /// Iterations of a stack; empty for a single tensor.
  std::vector<uint32_t> slices;
  /// The task that makes it available, in the micro- or the once-list.
  int32_t producer = -1;
  bool producedOnce = false;
  /// The buffer that holds it in the list of its producer; -1 if the memory is
  /// resident.
  int32_t buffer = -1;
  /// For an argument of the program or a slice of one: its number among what is
  /// resident, and how many such slices there are.
  int32_t argument = -1;
  int64_t pieces = 1;
  /// The start of a sum over iterations: nothing is there yet.
  bool isEmptySum = false;
};

/// Writes the repeats of a program out, with what every value is in the current
/// iteration.
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
  /// Makes the last `count` buckets wait for the members of all of them that
  /// are in the same section.
  void delayBuckets(size_t count);
  /// Whether kernels behind a communication wait for it.
  bool blocks(mlir::Operation *op) const;
  /// Makes `task` read `value`.
  void read(FlatTask &task, uint32_t value);

  void addArguments();
  void visitGatherOnce(dist::AllGatherOp gather);
  void dropGathered();
  void makeResident(dist::SectionOp section);

  uint32_t addValue(FlatValue value) {
    values.push_back(std::move(value));
    return values.size() - 1;
  }
  /// Slice `i` of a value; a resident stack is its own slice.
  uint32_t sliceOf(uint32_t value, int64_t i) {
    return values[value].slices.empty() ? value : values[value].slices[i];
  }
  /// What stands for the slices of a value in a repeat of `count` iterations.
  uint32_t slicesOf(uint32_t value, int64_t count) {
    if (values[value].argument < 0)
      return value;
    FlatValue slices = values[value];
    slices.pieces *= count;
    int64_t &pieces = flat.resident[slices.argument].pieces;
    pieces = std::max(pieces, slices.pieces);
    return addValue(std::move(slices));
  }
  /// Whether a value lies in several buffers, which nothing can overwrite as
  /// one.
  bool isInChunks(uint32_t value) {
    return llvm::any_of(values[value].slices, [&](uint32_t slice) {
      return values[slice].buffer >= 0;
    });
  }
  /// All single tensors of a value.
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
  llvm::DenseMap<mlir::Value, uint32_t> environment;
  /// Path of the iterations around the current operation.
  std::string prefix;
  bool once = false;
  sim::Phase phase = sim::Phase::Forward;
  /// Bucket tasks to run right after a task of the micro-list.
  BucketTasks bucketTasks;
  bool tensorCollectivesBlock = false, messagesBlock = false;
  /// Resident memory that is part of what was gathered once.
  llvm::SmallDenseSet<int32_t> gatheredArguments;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATTENER_H
