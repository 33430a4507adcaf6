//===- StepCostsTest.cpp - groups on nodes and their costs ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Collectives/StepCosts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace proteus;
using dist::AxisList;

namespace {

dist::Mesh meshOf(llvm::ArrayRef<int64_t> sizes,
                  llvm::ArrayRef<int64_t> devices = {}) {
  dist::Mesh mesh;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    mesh.names.push_back(std::string(1, 'a' + index));
    mesh.sizes.push_back(size);
  }
  mesh.devices.assign(devices.begin(), devices.end());
  return mesh;
}

machine::Cluster cluster(int64_t nodes, int64_t devicesPerNode) {
  std::string text =
      llvm::formatv(R"({{"name": "test", "device": "A100-SXM4-80GB",
          "nodes": {0}, "devices_per_node": {1},
          "intra_node": {{"bandwidth_gbps": 300, "latency_us": 2},
          "inter_node": {{"bandwidth_gbps": 25, "latency_us": 5}})",
                    nodes, devicesPerNode);
  return llvm::cantFail(machine::parseClusterJSON(text, "test"));
}

/// Returns the shapes of the groups over `axes`, found by listing their
/// devices.
std::vector<cost::GroupShape> listedShapes(const dist::Mesh &mesh,
                                           const machine::Cluster &machine,
                                           const AxisList &axes) {
  std::map<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> groups;
  for (int64_t i = 0; i < mesh.getNumDevices(); ++i) {
    llvm::SmallVector<int64_t> key = mesh.getCoordinates(i);
    int64_t device = mesh.getDevice(key);
    for (dist::Axis axis : axes)
      key[axis - 1] = 0;
    groups[key].push_back(device);
  }
  std::vector<cost::GroupShape> shapes;
  for (auto &[key, devices] : groups)
    if (cost::GroupShape shape = cost::shapeOf(machine, devices);
        !llvm::is_contained(shapes, shape))
      shapes.push_back(shape);
  return shapes;
}

TEST(StepCostsTest, GroupsByStridesAreThoseByDevices) {
  const std::vector<std::vector<int64_t>> meshes = {
      {2, 4, 4}, {16, 2}, {4, 8}, {2, 2, 2}, {32}, {3, 5, 2}, {4, 1, 2}};
  for (const std::vector<int64_t> &sizes : meshes)
    for (int64_t devicesPerNode : {1, 2, 4, 8, 16}) {
      dist::Mesh mesh = meshOf(sizes);
      machine::Cluster machine = cluster(64, devicesPerNode);
      StepCosts costs(mesh, machine);
      for (unsigned chosen = 1; chosen < (1u << sizes.size()); ++chosen) {
        AxisList axes;
        for (unsigned i = 0; i < sizes.size(); ++i)
          if (chosen & (1u << i))
            axes.push_back(i + 1);
        EXPECT_TRUE(costs.getGroupShapes(axes) ==
                    llvm::ArrayRef(listedShapes(mesh, machine, axes)))
            << "axes " << chosen << ", " << devicesPerNode << " per node";
      }
    }
}

TEST(StepCostsTest, AListOfDevicesIsLookedAt) {
  StepCosts costs(meshOf({2, 2}, {0, 8, 1, 9}), cluster(2, 8));
  EXPECT_EQ(costs.getGroupShapes({1}).front().nodes, 1);
  EXPECT_EQ(costs.getGroupShapes({2}).front().nodes, 2);
}

TEST(StepCostsTest, AnAllReduceIsItsHalves) {
  StepCosts costs(meshOf({3}), cluster(1, 8));
  dist::StepVolume volume{3, 1000003, 0};
  EXPECT_EQ(costs.getCost({dist::StepKind::AllReduce, {1}}, volume),
            costs.getCost({dist::StepKind::ReduceScatter, {1}}, volume) +
                costs.getCost({dist::StepKind::AllGather, {1}}, volume));
  EXPECT_EQ(costs.getCost({dist::StepKind::Slice, {1}}, volume), 0u);
}

TEST(StepCostsTest, ATransferLeavesTheNodeOrNot) {
  StepCosts costs(meshOf({4, 4}), cluster(2, 8));
  uint64_t near = costs.getTransferCost(1, 0, 1, 1 << 20);
  uint64_t far = costs.getTransferCost(1, 1, 2, 1 << 20);
  EXPECT_LT(near, far);
  EXPECT_EQ(near, costs.getTransferCost(1, 2, 3, 1 << 20));
}

} // namespace
