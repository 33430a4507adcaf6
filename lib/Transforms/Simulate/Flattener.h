//===- Flattener.h - expansion of repeats -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The class that writes out the repeats of a program. Its methods are in three
// files: FlatProgram.cpp visits the operations in their order and contains the
// entry point `flatten`, FlatTasks.cpp creates tasks, and FlatResidents.cpp
// creates the buffers that are held during the whole step.
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

/// A value of the flat program: a tensor, a stack of tensors (one per iteration
/// of a repeat), or a tensor that is joined from chunks.
struct FlatValue {
  /// Values of the iterations of a stack, or of the chunks of a joined tensor,
  /// as indices into Flattener::values. Empty for a single tensor.
  std::vector<uint32_t> slices;
  /// Index of the task that computes the value, or -1.
  int32_t producer = -1;
  /// True if the producer is a task of FlatProgram::once, false if it is a task
  /// of FlatProgram::micro.
  bool producedOnce = false;
  /// Index of the buffer of the value in the list that contains the producer.
  /// The index is -1 if the value has no buffer there, for example because it
  /// is resident.
  int32_t buffer = -1;
  /// Index of the buffer of the value in FlatProgram::resident if the value is
  /// an argument of the program, a slice of an argument, or a parameter that is
  /// gathered once; else -1.
  int32_t argument = -1;
  /// Number of values of this size in the buffer `argument`: 1 for a whole
  /// argument, 12 for a slice of an argument with the weights of 12 layers.
  int64_t pieces = 1;
  /// True for a zero that is the initial value of a sum over the iterations of
  /// a repeat. This zero needs no memory, because the first iteration only sets
  /// the sum.
  bool isEmptySum = false;
};

/// Writes out the repeats of a program. While it visits the iterations of a
/// repeat, it maps every SSA value to the value in the current iteration.
class Flattener {
public:
  Flattener(dist::ProgramOp program, bool addsInPlace);

  llvm::FailureOr<FlatProgram> run();

private:
  llvm::LogicalResult visit(mlir::Block &block);
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult visitRepeat(nn::RepeatOp repeat);
  llvm::LogicalResult visitRecompute(nn::RecomputeOp recompute);
  std::optional<uint32_t> onlyTerm(nn::AddOp add) const;
  void orderLastSection();

  void visitTask(mlir::Operation *op);
  void visitFusedReduce(dist::FusedReduceOp fused);
  void visitFusedGather(dist::FusedGatherOp fused);
  /// Delays the last `count` bucket tasks. In each section, all of them move to
  /// the position of the last one, and each waits for the gradients of all of
  /// them.
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
  /// Returns slice `i` of a stack. A resident stack is a single value, which is
  /// returned for every `i`.
  uint32_t sliceOf(uint32_t value, int64_t i) {
    return values[value].slices.empty() ? value : values[value].slices[i];
  }
  /// Returns the value to pass to `sliceOf` in a repeat of `count` iterations.
  /// This is `value` itself, unless `value` is a resident stack. A resident
  /// stack is replaced by a new value that represents any one of its slices,
  /// and the resident buffer gets at least as many `pieces` as there are
  /// slices.
  uint32_t slicesOf(uint32_t value, int64_t count) {
    if (values[value].argument < 0)
      return value;
    FlatValue slices = values[value];
    slices.pieces *= count;
    int64_t &pieces = flat.resident[slices.argument].pieces;
    pieces = std::max(pieces, slices.pieces);
    return addValue(std::move(slices));
  }
  /// Returns true if the value consists of several buffers. An operation cannot
  /// overwrite such a value in place.
  bool isInChunks(uint32_t value) {
    return llvm::any_of(values[value].slices, [&](uint32_t slice) {
      return values[slice].buffer >= 0;
    });
  }
  /// Adds the single tensors of which a value consists to `result`.
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
  /// True if a sum of gradients of one parameter overwrites one of its terms.
  bool addsInPlace;
  FlatProgram flat;
  std::vector<FlatValue> values;
  /// Index into `values` of every SSA value in the current iteration.
  llvm::DenseMap<mlir::Value, uint32_t> environment;
  /// Common start of the paths of operations in the current iteration, such as
  /// `layers[3].`; empty outside of repeats.
  std::string prefix;
  /// Product of the numbers of iterations of all enclosing repeats, at most
  /// `maxTasks`.
  int64_t iterations = 1;
  bool once = false;
  sim::Phase phase = sim::Phase::Forward;
  /// Bucket tasks that have not been inserted into FlatProgram::micro yet.
  BucketTasks bucketTasks;
  /// True if later kernels wait until a collective of tensor parallelism (first
  /// flag) or a send (second flag) has ended.
  bool tensorCollectivesBlock = false, messagesBlock = false;
  /// Number of layers that may have gradients that are not scattered yet.
  int64_t reductions = 1;
  /// Indices in FlatProgram::resident of the shards of parameters that are
  /// gathered once. These shards need no buffers, because the gathered
  /// parameters include them.
  llvm::SmallDenseSet<int32_t> gatheredArguments;
};

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATTENER_H
