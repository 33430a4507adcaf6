//===- HostLaunch.cpp - host time of launches -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host needs time to launch each kernel, copy, collective and message. It
// launches ahead of the device, so this time matters only where kernels are
// shorter than their launches. Launches of update kernels are not counted,
// because the update consists of few kernels over many tensors. One call
// launches all chunks of a product.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
class HostLaunch : public Mechanism {
public:
  explicit HostLaunch(const machine::StackParameters &parameters)
      : kernel(parameters.hostKernel), collective(parameters.hostCollective),
        message(parameters.hostMessage), waits(parameters.hostWaits) {}

  void changeTask(const TaskContext &context, sim::Task &task) const override {
    if (context.launches == 0)
      return;
    double seconds = 0;
    if (isa<dist::SendOp, dist::RecvOp>(context.op))
      seconds = message;
    else if (task.collective >= 0)
      seconds = collective;
    else if (task.phase != sim::Phase::Update && task.duration > 0)
      seconds = context.launches * kernel;
    task.launch = cost::fromSeconds(seconds);
  }

  void changeClass(ArrayRef<FlatBuffer>,
                   sim::DeviceClass &device) const override {
    device.hostWaits = waits;
  }

private:
  double kernel, collective, message;
  bool waits;
};
} // namespace

MechanismPtr
proteus::createHostLaunch(const machine::StackParameters &parameters) {
  return std::make_unique<HostLaunch>(parameters);
}
