//===- DeviceGaps.cpp - idle times of the device --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device is idle for a constant time in three cases: at each kernel or host
// copy, even if the host has launched it early; at each collective, as a part
// of its latency; and between two steps, because of data loading, logging and
// synchronisation. Kernels of the update, and all chunks of a product except
// the first, have no gaps.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
class DeviceGaps : public Mechanism {
public:
  explicit DeviceGaps(const machine::StackParameters &parameters)
      : kernel(cost::fromSeconds(parameters.kernelGap)),
        step(cost::fromSeconds(parameters.stepGap)),
        collectiveSeconds(parameters.collectiveGap) {}

  void changeMachine(machine::Cluster &cluster,
                     cost::KernelModelOptions &) const override {
    for (machine::NodeKind &kind : cluster.kinds)
      kind.collectives.synchronisation += collectiveSeconds;
  }

  void changeTask(const TaskContext &context, sim::Task &task) const override {
    if (context.launches > 0 && task.collective < 0 &&
        task.phase != sim::Phase::Update && task.duration > 0)
      task.duration += kernel;
  }

  void changeWorkload(sim::Workload &workload) const override {
    workload.stepGap = step;
  }

private:
  cost::Time kernel, step;
  double collectiveSeconds;
};
} // namespace

MechanismPtr
proteus::createDeviceGaps(const machine::StackParameters &parameters) {
  if (parameters.kernelGap == 0 && parameters.stepGap == 0 &&
      parameters.collectiveGap == 0)
    return nullptr;
  return std::make_unique<DeviceGaps>(parameters);
}
