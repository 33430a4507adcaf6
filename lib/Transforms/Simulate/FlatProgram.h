//===- FlatProgram.h - a program with repeats written out -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dist.program with its repeats written out. Shared by the parts of the
// workload builder.
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
  /// Bucket of a fused collective, else -1.
  int32_t bucket = -1;
  std::string label;
  sim::Phase phase = sim::Phase::Forward;
  /// No work: kernels behind it wait until `op`, a communication, has ended.
  bool waits = false;
  /// Runs with the first micro-batch only.
  bool firstOnly = false;
  /// Tasks of the same list that must end before.
  std::vector<uint32_t> dependsOn;
  /// Buffers of the same list.
  std::vector<uint32_t> allocates;
  std::vector<uint32_t> reads;
  /// For tasks of the once-list: tasks of the micro-list.
  std::vector<uint32_t> dependsOnMicro;
};

/// A buffer that lives from its producer to its last reader.
struct FlatBuffer {
  mlir::Value value;
  std::string name;
  sim::MemoryOwner owner = sim::MemoryOwner::Activations;
  /// Layers of a stack.
  int64_t pieces = 1;

  /// Whether the buffer is in host memory.
  bool isOnHost() const {
    dist::LayoutAttr layout = dist::getLayout(value.getType());
    return layout && layout.isOnHost();
  }
};

/// What one list of sections executes.
struct FlatList {
  std::vector<FlatTask> tasks;
  std::vector<FlatBuffer> buffers;
  std::vector<uint32_t> sectionBegin;
  /// Sections in the order of `sectionBegin`: kind and chunk.
  std::vector<std::pair<dist::SectionKind, int64_t>> sections;
};

/// A program written out.
struct FlatProgram {
  dist::ProgramOp program;
  /// Forward and gradients: once per micro-batch.
  FlatList micro;
  /// The update: once per step.
  FlatList once;
  /// Memory held during the whole step: a value and what it is held for. A
  /// stacked value counts whole.
  std::vector<FlatBuffer> resident;
};

/// The stream of the device on which `op` runs.
sim::Stream getStream(mlir::Operation *op);

/// Writes out the repeats of `program`. Fails with a diagnostic on operations
/// that have no place in a lowered program.
llvm::FailureOr<FlatProgram> flatten(dist::ProgramOp program);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATPROGRAM_H
