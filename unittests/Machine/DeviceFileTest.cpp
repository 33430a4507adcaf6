//===- DeviceFileTest.cpp - devices as data -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus::machine;

namespace {

Expected<Cluster> withDevice(StringRef device) {
  return parseClusterJSON(
      (R"({"name": "x", "nodes": 1, "node": {"devices": 1}, "device": )" +
       device + "}")
          .str(),
      "x.json");
}

const char *const whole = R"({
  "name": "toy", "source": "none", "architecture": "hopper",
  "compute_capability": 90, "peak_tflops": {"f32": 10, "bf16": 80},
  "memory_gib": 2, "memory_bandwidth_gbps": 500, "launch_latency_us": 2,
  "kernel_overhead_us": 1,
  "interference": {"matrix_kernel": 1.2, "memory_kernel": 1.5,
                   "communication": 1.1, "source": "none"}})";

std::string errorWith(StringRef from, StringRef to) {
  std::string text = whole;
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Expected<Cluster> cluster = withDevice(text);
  return cluster ? "" : toString(cluster.takeError());
}

TEST(DeviceFile, ReadsEveryFigureInItsUnit) {
  Expected<Cluster> cluster = withDevice(whole);
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  const Device &device = cluster->deviceAt(0);
  EXPECT_EQ(device.name, "toy");
  EXPECT_EQ(device.architecture, Architecture::Hopper);
  EXPECT_EQ(device.computeCapability, 90u);
  EXPECT_EQ(cluster->kinds[0].graph.vertices[0].computeCapability, 90u);
  EXPECT_EQ(device.peak(DType::BF16), 80e12);
  EXPECT_EQ(device.memoryBytes, int64_t(2) << 30);
  EXPECT_EQ(device.memoryBandwidth, 500e9);
  EXPECT_EQ(device.launchLatency, 2e-6);
  EXPECT_EQ(device.kernelOverhead, 1e-6);
  EXPECT_EQ(device.interference.matrixKernel, 1.2);
  EXPECT_EQ(device.interference.memoryKernel, 1.5);
  EXPECT_EQ(device.interference.communication, 1.1);
}

TEST(DeviceFile, TheGenerationFollowsFromTheComputeCapability) {
  EXPECT_EQ(architectureOf(61), Architecture::Pascal);
  EXPECT_EQ(architectureOf(70), Architecture::Volta);
  EXPECT_EQ(architectureOf(75), Architecture::Turing);
  EXPECT_EQ(architectureOf(89), Architecture::Ampere);
  EXPECT_EQ(architectureOf(90), Architecture::Hopper);
  EXPECT_EQ(architectureOf(100), Architecture::Blackwell);
  EXPECT_EQ(architectureOf(120), Architecture::Blackwell);
  EXPECT_EQ(architectureOf(0), Architecture::Other);
  EXPECT_EQ(errorWith("\"architecture\": \"hopper\",", ""), "");
}

TEST(DeviceFile, ADeviceMayBeNamed) {
  Cluster cluster = cantFail(withDevice("\"H200-SXM5-141GB\""));
  EXPECT_EQ(cluster.deviceAt(0).memoryBytes, 141000000000);
  EXPECT_EQ(cluster.deviceAt(0).architecture, Architecture::Hopper);
}

TEST(DeviceFile, ErrorsNamePlaceAndRemedy) {
  EXPECT_EQ(toString(withDevice("\"h200\"").takeError()),
            "x.json: unknown device 'h200' (known devices: A100-PCIe-80GB, "
            "A100-SXM4-40GB, A100-SXM4-80GB, B200-SXM6-180GB, GB200-186GB, "
            "GTX-1080, H100-PCIe-80GB, H100-SXM5-80GB, H200-SXM5-141GB, "
            "K80-half, L4, P100-SXM2-16GB, RTX-3090, RTX-4090, RTX-A6000, "
            "TITAN-Xp, V100-SXM2-16GB, V100-SXM2-32GB, V100-SXM3-32GB; "
            "others are written out as an object) at device");
  EXPECT_EQ(errorWith("hopper", "hoper"),
            "x.json: unknown architecture 'hoper' (one of other, pascal, "
            "volta, turing, ampere, hopper, blackwell, cdna) at "
            "device.architecture");
  EXPECT_EQ(errorWith("\"matrix_kernel\": 1.2", "\"matrix_kernel\": 0.9"),
            "x.json: expected a factor of at least 1, got 0.9 at "
            "device.interference.matrix_kernel");
  EXPECT_EQ(errorWith("\"memory_bandwidth_gbps\": 500",
                      "\"memory_bandwidth_gbps\": 0"),
            "x.json: expected a positive number at "
            "device.memory_bandwidth_gbps, got 0");
  EXPECT_EQ(errorWith("\"f32\": 10", "\"f32\": -1"),
            "x.json: expected a positive number at device.peak_tflops.f32, got "
            "-1");
}

TEST(DType, Widths) {
  EXPECT_EQ(byteWidth(DType::F64), 8);
  EXPECT_EQ(byteWidth(DType::TF32), 4);
  EXPECT_EQ(byteWidth(DType::BF16), 2);
  EXPECT_EQ(byteWidth(DType::F8), 1);
}

} // namespace
