//===- CostRules.h - costs of operations and tasks --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which the pass `simulate` determines the costs of tasks.
// FlowRules start from the kernel model of the device and apply the mechanisms
// of a software stack. PaperRules reimplement the published Proteus. The
// workload builder uses both through the interface CostRules.
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

/// The rank that represents a class of equivalent ranks: its coordinates, its
/// device, and the cost model of kernels on that device.
struct RankContext {
  /// The coordinate of `micro`, then one coordinate per axis of the mesh.
  llvm::ArrayRef<int64_t> coordinates;
  const machine::Device &device;
  const cost::KernelCostModel &kernels;
};

/// Cost of an operation on one device.
struct KernelCost {
  cost::Answer answer;
  cost::Family family = cost::Family::Stream;
  /// Number of kernels that the host launches for the operation.
  unsigned launches = 1;
};

/// Properties of a task that is being built.
struct TaskContext {
  mlir::Operation *op;
  /// Number of kernels or collectives that the host launches. If a product is
  /// cut into chunks, `launches` is 0 for all chunks except the first, because
  /// one call launches all chunks.
  unsigned launches;
  /// Number of devices of the collective; 1 if the task is not a collective.
  int64_t groupSize;
  /// True if the job has pipeline stages.
  bool inPipeline;
};

/// Interface of the rules that determine the costs of tasks.
class CostRules {
public:
  virtual ~CostRules() = default;

  /// Returns the cost of `op`, or nullopt if no kernel runs on the device.
  virtual std::optional<KernelCost>
  kernelCost(nn::IterationSpaceOpInterface op, sim::Phase phase,
             const RankContext &rank) const = 0;
  /// Returns the stream on which `op` runs.
  virtual sim::Stream streamOf(mlir::Operation *op) const = 0;
  /// Returns the bits per element that an all-gather moves.
  virtual int64_t gatheredBits(mlir::Value gathered) const = 0;
  /// Adjusts `collective`, which `op` runs.
  virtual void changeCollective(mlir::Operation *op,
                                sim::Collective &collective) const {}
  /// Adds the host time of launches and idle times of the device to `task`. Is
  /// not called for waits.
  virtual void changeTask(const TaskContext &context, sim::Task &task) const {}
  /// Adjusts a class of ranks after its tasks and buffers are complete.
  virtual void changeClass(const FlatProgram &flat, const RankContext &rank,
                           sim::DeviceClass &device) const {}
  /// Adjusts the workload after its classes are complete.
  virtual void changeWorkload(sim::Workload &workload) const {}
};

/// Creates FlowRules with the mechanisms of a software stack.
std::unique_ptr<CostRules> createFlowRules(const machine::Stack &stack);

/// Creates PaperRules, in which the software stack has no effect.
std::unique_ptr<CostRules> createPaperRules();

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_COSTRULES_H
