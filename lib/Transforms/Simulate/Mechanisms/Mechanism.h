//===- Mechanism.h - one effect of a software stack -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mechanism is one effect of a framework on the cost of a step. It has a file
// in this folder, parameters in Machine/StackParameters.def, and a line in
// Mechanisms.def, whose order is the order in which mechanisms apply. A stack
// whose parameters are neutral does not have the mechanism. Used by FlowRules.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_MECHANISMS_MECHANISM_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_MECHANISMS_MECHANISM_H

#include "../CostRules.h"
#include "../LocalWork.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace proteus {

/// The kernels of an operation as a framework runs them.
struct KernelPlan {
  /// False if the kernels of neighbouring operations do the work.
  bool exists = true;
  cost::Kernel kernel;
  /// Tensors that the kernel converts before it reads them.
  Conversion conversion;
  /// Kernels that follow on the same stream. The host launches them, too.
  llvm::SmallVector<cost::Kernel, 1> following;
  /// Speed of `kernel` relative to the model of the device.
  double rate = 1;
};

/// Interface of a mechanism. Each function changes nothing unless overridden.
class Mechanism {
public:
  virtual ~Mechanism() = default;

  /// Changes the cluster and the options of its kernel model, before the
  /// machine is created from them.
  virtual void changeMachine(machine::Cluster &cluster,
                             cost::KernelModelOptions &kernels) const {}
  /// Changes the kernels of an operation.
  virtual void changeKernel(mlir::Operation *op, const RankContext &rank,
                            KernelPlan &plan) const {}
  /// Changes the bits per element that an all-gather moves.
  virtual void changeGather(dist::AllGatherOp gather, int64_t &bits) const {}
  /// Changes a task, for example its duration or its launch.
  virtual void changeTask(const TaskContext &context, sim::Task &task) const {}
  /// Changes a class of ranks. `resident` describes the first resident buffers
  /// of `device`.
  virtual void changeClass(llvm::ArrayRef<FlatBuffer> resident,
                           sim::DeviceClass &device) const {}
  /// Changes the workload after all its classes are complete.
  virtual void changeWorkload(sim::Workload &workload) const {}
};

/// Creates the mechanisms of a stack, in the order in which they apply.
std::vector<std::unique_ptr<Mechanism>>
createMechanisms(const machine::StackParameters &parameters);

// Each file has a function that creates its mechanism, or returns null if the
// parameters are neutral.
using MechanismPtr = std::unique_ptr<Mechanism>;
#define MECHANISM(NAME)                                                        \
  MechanismPtr create##NAME(const machine::StackParameters &parameters);
#include "Mechanisms.def"

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_MECHANISMS_MECHANISM_H
