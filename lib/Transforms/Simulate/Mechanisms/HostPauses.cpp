//===- HostPauses.cpp - pauses of the hosts of a group --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host pauses before a share q of the collectives, for a time d each. The
// launch times of a host are means, so they already contain the delay by its
// own pauses.
//
// Hosts that wait for messages of other stages start every micro-batch
// together. A collective of tensor parallelism then waits if any of its n hosts
// pauses. With probability (1 - q) - (1 - q)^n another host pauses although the
// host itself does not, if the pauses are independent. This delays the
// collective by d times that probability on average.
//
// A host that does not wait for messages gets ahead of the others, so pauses of
// the others do not delay it.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

#include <cmath>

using namespace mlir;
using namespace proteus;

namespace {
class HostPauses : public Mechanism {
public:
  explicit HostPauses(const machine::StackParameters &parameters)
      : pause(parameters.hostPause), share(parameters.hostPauseShare) {}

  void changeTask(const TaskContext &context, sim::Task &task) const override {
    if (task.stream != sim::Stream::TensorParallel || !context.inPipeline)
      return;
    // The probability that another host of the group pauses and this host does
    // not.
    double others = (1 - share) - std::pow(1 - share, context.groupSize);
    task.launch += cost::fromSeconds(pause * others);
  }

private:
  double pause, share;
};
} // namespace

MechanismPtr
proteus::createHostPauses(const machine::StackParameters &parameters) {
  if (!parameters.hostWaits || parameters.hostPause == 0)
    return nullptr;
  return std::make_unique<HostPauses>(parameters);
}
