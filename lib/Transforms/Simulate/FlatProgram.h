//===- FlatProgram.h - a program with repeats written out -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dist.program with its repeats written out, as lists of tasks and buffers.
// Used by all parts of the workload builder.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATPROGRAM_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATPROGRAM_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Sim/Workload.h"

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace proteus {

/// One execution of an operation on every device of a stage.
struct FlatTask {
  mlir::Operation *op = nullptr;
  /// Index of the bucket if `op` is a fused collective, which has one task per
  /// bucket; else -1.
  int32_t bucket = -1;
  std::string label;
  sim::Phase phase = sim::Phase::Forward;
  /// True if the task does no work and only makes later kernels wait until
  /// `op`, a communication, has ended.
  bool waits = false;
  /// True if later kernels wait until the task, a communication, has ended.
  bool blocks = false;
  /// True if the task runs with the first micro-batch only.
  bool firstOnly = false;
  /// Tasks of the same list that must end before this one starts.
  std::vector<uint32_t> dependsOn;
  /// Buffers of the same list that the task allocates or reads, as indices.
  std::vector<uint32_t> allocates;
  std::vector<uint32_t> reads;
  /// For a task of FlatProgram::once: tasks of FlatProgram::micro that must end
  /// before this one starts.
  std::vector<uint32_t> dependsOnMicro;
};

/// A block of memory. A buffer of a FlatList lives from the task that allocates
/// it to the last task that reads it.
struct FlatBuffer {
  mlir::Value value;
  std::string name;
  sim::MemoryOwner owner = sim::MemoryOwner::Activations;
  /// Number of tensors in the buffer. A buffer with one weight of each of 12
  /// layers has 12.
  int64_t pieces = 1;

  /// Returns true if the buffer is in host memory.
  bool isOnHost() const {
    dist::LayoutAttr layout = dist::getLayout(value.getType());
    return layout && layout.isOnHost();
  }
};

/// The tasks and buffers of all sections that run once per micro-batch, or of
/// all sections that run once per step.
struct FlatList {
  std::vector<FlatTask> tasks;
  std::vector<FlatBuffer> buffers;
  /// Index of the first task of every section. One more entry at the end holds
  /// the number of tasks.
  std::vector<uint32_t> sectionBegin;
  /// Kind and chunk number of every section, in the order of `sectionBegin`.
  std::vector<std::pair<dist::SectionKind, int64_t>> sections;
};

/// A program with its repeats written out.
struct FlatProgram {
  dist::ProgramOp program;
  /// Forward and backward sections, which run once per micro-batch.
  FlatList micro;
  /// Update sections, which run once per step.
  FlatList once;
  /// Buffers that are held during the whole step. The tensors of all layers of
  /// a repeat, stacked into one program argument, are one buffer.
  std::vector<FlatBuffer> resident;
};

/// Returns the stream of the device on which `op` runs.
sim::Stream getStream(mlir::Operation *op);

/// Writes out the repeats of `program`. Emits an error and fails if an
/// operation is neither a kernel nor a communication, or if there are too many
/// tasks. If `addsInPlace` is true, a sum of gradients of one parameter
/// overwrites one of its terms.
llvm::FailureOr<FlatProgram> flatten(dist::ProgramOp program, bool addsInPlace);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATPROGRAM_H
