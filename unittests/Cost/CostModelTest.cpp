//===- CostModelTest.cpp - cost models in closed form ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/CostModel.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace proteus::cost;

namespace {

Cluster testCluster() {
  return cantFail(proteus::machine::parseClusterJSON(
      R"({"name": "test",
          "device": {"name": "toy", "memory_gb": 1,
                     "memory_bandwidth_gbps": 100,
                     "peak_tflops": {"f32": 1, "tf32": 8, "bf16": 16,
                                     "f64": 0.5}},
          "nodes": 4, "devices_per_node": 8,
          "intra_node": {"bandwidth_gbps": 100, "latency_us": 2},
          "inter_node": {"bandwidth_gbps": 10, "latency_us": 5}})",
      "test"));
}

Device testDevice() { return testCluster().devices.front(); }

TEST(Time, RoundsToTheNearestPicosecondAndSaturates) {
  EXPECT_EQ(fromSeconds(1), 1000000000000);
  EXPECT_EQ(fromSeconds(1.4e-12), 1);
  EXPECT_EQ(fromSeconds(1.6e-12), 2);
  EXPECT_EQ(fromSeconds(0), 0);
  EXPECT_EQ(fromSeconds(-1), 0);
  EXPECT_EQ(fromSeconds(1e9), std::numeric_limits<Time>::max());
  EXPECT_EQ(fromSeconds(std::nan("")), std::numeric_limits<Time>::max());
  EXPECT_EQ(toSeconds(1500000000000), 1.5);
}

TEST(Roofline, TakesTheLargerOfComputeAndMemoryPlusOverhead) {
  Device device = testDevice();
  auto model = createRooflineModel(device);
  // 1e9 flops at 16 TFLOP/s; 1e6 bytes at 100 GB/s.
  EXPECT_EQ(model->cost({"mm", 1e9, 0, DType::BF16, true}).time, 62500000);
  EXPECT_EQ(model->cost({"mm", 0, 1e6, DType::BF16, true}).time, 10000000);
  EXPECT_EQ(model->cost({"mm", 1e9, 1e6, DType::BF16, true}).time, 62500000);
  device.kernelOverhead = 1e-6;
  EXPECT_EQ(createRooflineModel(device)
                ->cost({"mm", 1e9, 1e6, DType::BF16, true})
                .time,
            63500000);
  Kernel recurrent{"lstm", 1e9, 1e6, DType::BF16, true};
  recurrent.steps = 20;
  EXPECT_EQ(createRooflineModel(device)->cost(recurrent).time, 82500000);
}

TEST(Roofline, F32NeverBecomesTF32) {
  auto model = createRooflineModel(testDevice());
  EXPECT_EQ(model->cost({"mm", 1e9, 0, DType::F32, true}).time, 1000000000);
  EXPECT_EQ(model->cost({"mm", 1e9, 0, DType::TF32, true}).time, 125000000);
}

TEST(Roofline, VectorKernelsDoNotRunOnMatrixUnits) {
  auto model = createRooflineModel(testDevice());
  EXPECT_EQ(model->cost({"add", 1e9, 0, DType::BF16, false}).time, 1000000000);
  EXPECT_EQ(model->cost({"add", 1e9, 0, DType::F64, false}).time, 2000000000);
}

TEST(AlphaBeta, RingsWithinANode) {
  auto model = createAlphaBetaModel(testCluster());
  GroupShape eight{8, 1, 8};
  int64_t bytes = 800000000; // 8 ms at 100 GB/s
  auto time = [&](CollectiveKind kind) {
    return model->cost({kind, bytes, eight}).time;
  };
  // 2(n-1)/n S/B + 2(n-1)a = 14 ms + 28 us.
  EXPECT_EQ(time(CollectiveKind::AllReduce), 14028000000);
  EXPECT_EQ(time(CollectiveKind::AllGather), 7014000000);
  EXPECT_EQ(time(CollectiveKind::ReduceScatter), 7014000000);
  EXPECT_EQ(time(CollectiveKind::AllToAll), 7014000000);
  EXPECT_EQ(time(CollectiveKind::Broadcast), 8014000000);
  EXPECT_EQ(time(CollectiveKind::Scatter), 7014000000);
  EXPECT_EQ(time(CollectiveKind::Permute), 8002000000);
  EXPECT_EQ(time(CollectiveKind::SendRecv), 8002000000);
}

TEST(AlphaBeta, TheSlowestLinkOfTheGroupCounts) {
  Cluster cluster = testCluster();
  auto cost = [&](GroupShape group) {
    return createAlphaBetaModel(cluster)
        ->cost({CollectiveKind::AllReduce, 160000000, group})
        .time;
  };
  // 16 ranks on two nodes at 10 GB/s: 30/16 * 16 ms + 30 * 5 us.
  EXPECT_EQ(cost({16, 2, 8}), 30150000000);
  EXPECT_EQ(cost({2, 2, 1}), 16010000000);
  cluster.interNode = {1000e9, 1e-6};
  EXPECT_EQ(cost({16, 2, 8}), 3060000000);
  EXPECT_EQ(cost({2, 2, 1}), 162000000);
}

TEST(AlphaBeta, OneRankCostsNothing) {
  auto model = createAlphaBetaModel(testCluster());
  for (int kind = 0; kind <= int(CollectiveKind::SendRecv); ++kind)
    EXPECT_EQ(model->cost({CollectiveKind(kind), 1 << 20, {1, 1, 1}}).time, 0);
}

TEST(AlphaBeta, NamesOfTheKinds) {
  EXPECT_EQ(stringify(CollectiveKind::AllReduce), "all_reduce");
  EXPECT_EQ(stringify(CollectiveKind::SendRecv), "send_recv");
}

TEST(GroupShape, CountsNodesAndTheFullestOne) {
  Cluster cluster = testCluster();
  EXPECT_EQ(shapeOf(cluster, {0, 1, 2, 3}), (GroupShape{4, 1, 4}));
  EXPECT_EQ(shapeOf(cluster, {0, 8, 16, 24}), (GroupShape{4, 4, 1}));
  EXPECT_EQ(shapeOf(cluster, {9, 0, 1, 8, 10}), (GroupShape{5, 2, 3}));
}

} // namespace
