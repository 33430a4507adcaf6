//===- StackCosts.h - what software adds to tasks and memory ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of simulate: the constants of a software stack (docs/stacks.md), applied
// to kernels, tasks and buffers.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_STACKCOSTS_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_STACKCOSTS_H

#include "FlatProgram.h"

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Sim/Workload.h"

namespace proteus {

/// Makes `work` move as many bytes as the stack's kernel for `op` does.
void addTraffic(const machine::Stack &stack, mlir::Operation *op,
                cost::Kernel &work);

/// Takes from `work` the bytes between `op` and its neighbours in one kernel of
/// the stack. False if nothing is left: the neighbours do the work.
bool removeFusedTraffic(const machine::Stack &stack, mlir::Operation *op,
                        llvm::ArrayRef<int64_t> coordinates,
                        cost::Kernel &work);

/// Takes from `work`, which computes gradients, that it adds them to those of
/// other micro-batches, if the stack has a kernel of its own for that: returns
/// that kernel.
std::optional<cost::Kernel> separateAccumulation(const machine::Stack &stack,
                                                 mlir::Operation *op,
                                                 cost::Kernel &work);

/// What a kernel of the stack takes, of which the model of the device says
/// `time`.
cost::Time timeWithStack(const machine::Stack &stack,
                         const machine::Device &device,
                         const cost::Kernel &work, cost::Time time);

/// Adds what the host and gaps take at a task of `op`.
void addHostTime(const machine::Stack &stack, mlir::Operation *op,
                 sim::Task &task);

/// Adds what pauses of the other hosts of a group take at its collective, in a
/// pipeline whose hosts wait for messages.
void addPauses(const machine::Stack &stack, int64_t groupSize, sim::Task &task);

/// Adds the copies of gradients that the stack keeps beside `resident`, which
/// are the first buffers of the device.
void addGradientCopies(const machine::Stack &stack,
                       llvm::ArrayRef<FlatBuffer> resident,
                       sim::DeviceClass &device);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_STACKCOSTS_H
