//===- AlphaBetaCommunicator.cpp - no links, two levels -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/AlphaBetaCommunicator.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::net;

namespace {
class AlphaBetaCommunicator : public Communicator {
public:
  AlphaBetaCommunicator(const machine::Cluster &cluster,
                        ArrayRef<int64_t> devices)
      : model(cost::createAlphaBetaModel(cluster)),
        group(cost::shapeOf(cluster, devices)) {}

  Plan plan(cost::CollectiveKind kind, int64_t bytes) const override {
    Plan plan;
    if (group.ranks <= 1)
      return plan;
    plan.algorithm = Algorithm::AlphaBeta;
    plan.latency = model->cost({kind, bytes, group}).time;
    return plan;
  }

private:
  std::unique_ptr<cost::CollectiveCostModel> model;
  cost::GroupShape group;
};
} // namespace

std::unique_ptr<Communicator>
proteus::net::createAlphaBetaCommunicator(const machine::Cluster &cluster,
                                          ArrayRef<int64_t> devices) {
  return std::make_unique<AlphaBetaCommunicator>(cluster, devices);
}
