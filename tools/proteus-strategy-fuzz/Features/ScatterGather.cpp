//===- ScatterGather.cpp - transfers in slices ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace proteus::fuzz;

/// Two nodes of eight devices. Without latencies, slices of small tensors are
/// cheaper too.
static constexpr const char *cluster =
    "{name = \"two nodes\", nodes = 2, devices_per_node = 8, "
    "device = {name = \"device\", peak_tflops = {f32 = 10}, memory_gib = 80, "
    "memory_bandwidth_gbps = 1000}, "
    "intra_node = {bandwidth_gbps = 300, latency_us = 0}, "
    "inter_node = {bandwidth_gbps = 25, latency_us = 0}}";

/// Allows slices and places neighbouring stages in different nodes, where
/// slices are cheaper.
static void sliceTransfers(Random &, TreeBuilder &builder) {
  if (builder.pipeline.empty())
    return;
  builder.tree.directive("scatter_gather");
  builder.tree.cluster = cluster;
  if (!builder.tree.devices.empty())
    return;
  constexpr int64_t devicesPerNode = 8;
  int64_t number = 1, inner = 1;
  bool behind = false;
  for (auto &[name, size] : builder.tree.mesh) {
    number *= size;
    inner *= behind ? size : 1;
    behind |= name == builder.pipeline;
  }
  int64_t stages = builder.sizeOf(builder.pipeline);
  int64_t used[] = {0, 0};
  std::vector<int64_t> devices;
  for (int64_t i = 0; i < number; ++i) {
    int64_t node = i / inner % stages % 2;
    devices.push_back(node * devicesPerNode + used[node]++);
  }
  if (std::max(used[0], used[1]) <= devicesPerNode)
    builder.tree.devices = devices;
}

void proteus::fuzz::addScatterGather(Registry &registry) {
  Feature feature;
  feature.name = "scatter_gather";
  feature.percent = 30;
  feature.changeTree = sliceTransfers;
  feature.remove = [](Case &input) {
    size_t before = input.tree.directives.size();
    llvm::erase_if(input.tree.directives,
                   [](auto &line) { return line.first == "scatter_gather"; });
    return input.tree.directives.size() != before;
  };
  registry.addFeature(feature);
}
