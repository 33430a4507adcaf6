//===- Mechanism.h - one effect of a software stack -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mechanism is one effect of a framework on the time or memory of a step. A
// stack has a mechanism unless the parameters of the mechanism are neutral,
// such as a factor of 1. HostLaunch and ImageLayout always exist. FlowRules
// apply the mechanisms.
//
// Each mechanism consists of a file in this folder, parameters in
// Machine/StackParameters.def, and a line in Mechanisms.def. The order of these
// lines is the order in which mechanisms apply.
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

/// The kernels that a framework runs for one operation.
struct KernelPlan {
  /// False if the operation has no kernel, because kernels of neighbouring
  /// operations do its work.
  bool exists = true;
  cost::Kernel kernel;
  /// The factors that are converted before `kernel` runs.
  Conversion conversion;
  /// Kernels that run after `kernel` on the same stream. The host launches each
  /// of them.
  llvm::SmallVector<cost::Kernel, 1> following;
  /// Speed of `kernel` relative to the model of the device.
  double rate = 1;
};

/// Interface of a mechanism. By default, each function changes nothing.
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
  virtual void changeGather(mlir::Value gathered, int64_t &bits) const {}
  /// Changes a task, for example its duration or its launch.
  virtual void changeTask(const TaskContext &context, sim::Task &task) const {}
  /// Changes a class of ranks. `resident[i]` describes `device.resident[i]`.
  /// The list of the device can be longer, because mechanisms add buffers at
  /// its end.
  virtual void changeClass(llvm::ArrayRef<FlatBuffer> resident,
                           sim::DeviceClass &device) const {}
  /// Changes the workload after all its classes are complete.
  virtual void changeWorkload(sim::Workload &workload) const {}
};

/// Creates the mechanisms of a stack, in the order in which they apply.
std::vector<std::unique_ptr<Mechanism>>
createMechanisms(const machine::StackParameters &parameters);

// Each mechanism has a function that creates it. It may return null if the
// parameters of the mechanism are neutral.
using MechanismPtr = std::unique_ptr<Mechanism>;
#define MECHANISM(NAME)                                                        \
  MechanismPtr create##NAME(const machine::StackParameters &parameters);
#include "Mechanisms.def"

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_MECHANISMS_MECHANISM_H
