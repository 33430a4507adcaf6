//===- MachineTest.cpp - cluster presets and cluster files ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::cost;

namespace {

const char *const valid = R"({
  "name": "lab", "source": "none",
  "device": {"name": "toy", "peak_tflops": {"f32": 10, "bf16": 80},
             "memory_gb": 16, "memory_bandwidth_gbps": 500,
             "launch_latency_us": 2, "kernel_overhead_us": 0},
  "nodes": 3, "devices_per_node": 4,
  "intra_node": {"bandwidth_gbps": 50, "latency_us": 1},
  "inter_node": {"bandwidth_gbps": 5, "latency_us": 10}})";

/// The error after replacing a piece of the valid file.
std::string errorWith(StringRef from, StringRef to) {
  std::string text = valid;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<Cluster> cluster = parseClusterJSON(text, "clusters/x.json");
  return cluster ? "" : toString(cluster.takeError());
}

TEST(ClusterFile, ReadsEveryFigureInItsUnit) {
  Expected<Cluster> cluster = parseClusterJSON(valid, "x.json");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->name, "lab");
  EXPECT_EQ(cluster->device.name, "toy");
  EXPECT_EQ(cluster->device.peak(DType::BF16), 80e12);
  EXPECT_EQ(cluster->device.memoryBytes, 16000000000);
  EXPECT_EQ(cluster->device.memoryBandwidth, 500e9);
  EXPECT_EQ(cluster->device.launchLatency, 2e-6);
  EXPECT_EQ(cluster->device.kernelOverhead, 0);
  EXPECT_EQ(cluster->numDevices(), 12);
  EXPECT_EQ(cluster->nodeOf(7), 1);
  EXPECT_EQ(cluster->intraNode.bandwidth, 50e9);
  EXPECT_EQ(cluster->interNode.latency, 1e-5);
  EXPECT_FALSE(cluster->host);
}

TEST(ClusterFile, LinkToTheHostIsOptional) {
  EXPECT_EQ(errorWith("\"latency_us\": 10}",
                      "\"latency_us\": 10}, \"host\": "
                      "{\"bandwidth_gbps\": 20, \"latency_us\": 3}"),
            "");
  EXPECT_EQ(errorWith("\"latency_us\": 10}",
                      "\"latency_us\": 10}, \"host\": {\"latency_us\": 3}"),
            "clusters/x.json: missing key 'bandwidth_gbps' at host");
}

TEST(ClusterFile, ErrorsNameSourceAndPlace) {
  EXPECT_EQ(errorWith("\"memory_gb\": 16", "\"memory_gb\": -3"),
            "clusters/x.json: expected a positive number at device.memory_gb, "
            "got -3");
  EXPECT_EQ(errorWith("\"bandwidth_gbps\": 5,", "\"bandwidth_gbps\": 0,"),
            "clusters/x.json: expected a positive number at "
            "inter_node.bandwidth_gbps, got 0");
  EXPECT_EQ(errorWith("\"latency_us\": 10", "\"latency_us\": -1"),
            "clusters/x.json: expected a number that is not negative at "
            "inter_node.latency_us, got -1");
  EXPECT_EQ(errorWith("\"f32\": 10, ", ""),
            "clusters/x.json: missing key 'f32' at device.peak_tflops");
  EXPECT_EQ(errorWith("\"bf16\"", "\"bf166\""),
            "clusters/x.json: unknown key 'bf166' (nearest valid key: 'bf16') "
            "at device.peak_tflops");
  EXPECT_EQ(
      errorWith("\"memory_gb\": 16", "\"memory_gib\": 1, \"memory_gb\": 1"),
      "clusters/x.json: both 'memory_gb' and 'memory_gib' are given at "
      "device");
  EXPECT_EQ(errorWith("\"memory_gb\": 16, ", ""),
            "clusters/x.json: missing key 'memory_gib' at device");
  EXPECT_EQ(errorWith("\"nodes\": 3", "\"nodes\": 0"),
            "clusters/x.json: expected an integer from 1 to 1000000 at nodes, "
            "got 0");
  EXPECT_EQ(errorWith("\"nodes\": 3", "\"nodes\": 2000000"),
            "clusters/x.json: expected an integer from 1 to 1000000 at nodes, "
            "got 2000000");
  EXPECT_EQ(errorWith("\"bf16\": 80", "\"bf16\": 1e12"),
            "clusters/x.json: expected at most 1000000000.0 at "
            "device.peak_tflops.bf16, got 1000000000000.0");
  EXPECT_EQ(errorWith("\"name\": \"lab\"", "\"name\": 7"),
            "clusters/x.json: expected a string at name, got 7");
}

TEST(Preset, ThereAreThreeSortedByName) {
  EXPECT_EQ(join(clusterPresetNames(), " "), "dgx-a100 dgx-h100 dgx1-v100");
  for (const std::string &name : clusterPresetNames()) {
    Expected<Cluster> cluster = parseClusterPreset(name);
    ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
    EXPECT_EQ(cluster->name, name);
    EXPECT_EQ(cluster->nodes, 1);
    EXPECT_EQ(cluster->devicesPerNode, 8);
  }
}

TEST(Preset, HoldsTheDatasheetOfTheA100) {
  Expected<Cluster> cluster = parseClusterPreset("dgx-a100:16");
  ASSERT_TRUE(bool(cluster));
  EXPECT_EQ(cluster->name, "dgx-a100:16");
  EXPECT_EQ(cluster->numDevices(), 128);
  const Device &device = cluster->device;
  EXPECT_EQ(device.peak(DType::BF16), 312e12);
  EXPECT_EQ(device.peak(DType::F32), 19.5e12);
  EXPECT_EQ(device.peak(DType::TF32), 156e12);
  EXPECT_EQ(device.memoryBytes, 85899345920);
  EXPECT_EQ(device.memoryBandwidth, 2039e9);
  EXPECT_EQ(cluster->intraNode.bandwidth, 300e9);
  EXPECT_EQ(cluster->interNode.bandwidth, 25e9);
}

TEST(Preset, MissingTypesFallBackToF32Visibly) {
  Expected<Cluster> cluster = parseClusterPreset("dgx1-v100");
  ASSERT_TRUE(bool(cluster));
  EXPECT_FALSE(cluster->device.supports(DType::BF16));
  EXPECT_EQ(cluster->device.peak(DType::BF16), 15.7e12);
  EXPECT_TRUE(cluster->device.supports(DType::F16));
  EXPECT_EQ(cluster->device.peak(DType::F16), 125e12);
}

TEST(Preset, BadNodeCountsAreRefused) {
  for (const char *count : {"", "0", "-2", "x", "4x", " 4", "1000001",
                            "99999999999999999999", "1.5"}) {
    Expected<Cluster> cluster =
        parseClusterPreset(std::string("dgx-a100:") + count);
    ASSERT_FALSE(bool(cluster)) << count;
    EXPECT_EQ(toString(cluster.takeError()),
              std::string("expected a number of nodes from 1 to 1000000 after "
                          "'dgx-a100:', got '") +
                  count + "'");
  }
}

TEST(Preset, UnknownNamesListTheKnownOnes) {
  EXPECT_FALSE(isClusterPreset("dgx-b200"));
  EXPECT_TRUE(isClusterPreset("dgx-a100:4"));
  Expected<Cluster> cluster = parseClusterPreset("dgx-b200:4");
  EXPECT_EQ(toString(cluster.takeError()),
            "unknown cluster preset 'dgx-b200'; known presets: dgx-a100, "
            "dgx-h100, dgx1-v100");
}

TEST(DType, Widths) {
  EXPECT_EQ(byteWidth(DType::F64), 8);
  EXPECT_EQ(byteWidth(DType::TF32), 4);
  EXPECT_EQ(byteWidth(DType::BF16), 2);
  EXPECT_EQ(byteWidth(DType::F8), 1);
}

} // namespace
