//===- CostRules.h - from operations to times -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which simulate turns operations into tasks. FlowRules are this
// project's: a kernel model of the device, changed by the mechanisms of a
// software stack. PaperRules are a reimplementation of the published Proteus.
// The workload builder has one path for both.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_COSTRULES_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_COSTRULES_H

#include "FlatProgram.h"

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Workload.h"

#include <memory>
#include <optional>

namespace proteus {

/// A device of one class of ranks.
struct RankContext {
  /// One per axis, with `micro` first.
  llvm::ArrayRef<int64_t> coordinates;
  const machine::Device &device;
  const cost::KernelCostModel &kernels;
};

/// Time of an operation on one device.
struct KernelCost {
  cost::Answer answer;
  cost::Family family = cost::Family::Stream;
  /// Number of kernels that the host launches.
  unsigned launches = 1;
};

/// A task while it is built.
struct TaskContext {
  mlir::Operation *op;
  /// Number of kernels or collectives that the host launches. 0 for chunks of a
  /// product after the first: all of them are one call.
  unsigned launches;
  /// Number of devices of the collective; 1 if the task is none.
  int64_t groupSize;
  bool inPipeline;
};

class CostRules {
public:
  virtual ~CostRules() = default;

  /// Returns the cost of `op`, or nullopt if the device has nothing to do.
  virtual std::optional<KernelCost>
  kernelCost(nn::IterationSpaceOpInterface op, sim::Phase phase,
             const RankContext &rank) const = 0;
  /// Returns the stream on which `op` runs.
  virtual sim::Stream streamOf(mlir::Operation *op) const = 0;
  /// Returns the bits per element that an all-gather moves.
  virtual int64_t gatheredBits(dist::AllGatherOp gather) const = 0;
  /// Adjusts the collective of `op`.
  virtual void changeCollective(mlir::Operation *op,
                                sim::Collective &collective) const {}
  /// Adds the time of host and gaps to a task.
  virtual void changeTask(const TaskContext &context, sim::Task &task) const {}
  /// Adjusts a class of ranks, whose tasks and buffers are complete.
  virtual void changeClass(const FlatProgram &flat, const RankContext &rank,
                           sim::DeviceClass &device) const {}
  /// Adjusts the workload, whose classes are complete.
  virtual void changeWorkload(sim::Workload &workload) const {}
};

/// Creates the rules of this project with the mechanisms of a software stack.
std::unique_ptr<CostRules> createFlowRules(const machine::Stack &stack);

/// Creates the rules of the published Proteus, which has no software stacks.
std::unique_ptr<CostRules> createPaperRules();

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_COSTRULES_H
