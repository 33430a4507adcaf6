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

TEST(DeviceFile, DevicesOfTheLibraryAreWhole) {
  std::vector<Device> devices = cantFail(libraryDevices());
  EXPECT_GT(devices.size(), 50u);
  for (const Device &device : devices) {
    SCOPED_TRACE(device.name);
    Cluster cluster = cantFail(withDevice("\"" + device.name + "\""));
    EXPECT_EQ(cluster.deviceAt(0).name, device.name);
    EXPECT_TRUE(device.kernels.has_value());
    EXPECT_GT(device.multiprocessors, 0);
    // Types with fewer bits are never slower.
    for (auto [wide, narrow] : {std::pair(DType::F32, DType::TF32),
                                {DType::TF32, DType::BF16},
                                {DType::F32, DType::F16},
                                {DType::F16, DType::F8}})
      if (device.supports(wide) && device.supports(narrow))
        EXPECT_LE(device.peak(wide), device.peak(narrow));
    if (device.supports(DType::BF16))
      EXPECT_EQ(device.peak(DType::BF16), device.peak(DType::F16));
    if (device.computeCapability && device.architecture != Architecture::Other)
      EXPECT_EQ(device.architecture, architectureOf(device.computeCapability));
  }
}

TEST(DeviceFile, ErrorsNamePlaceAndRemedy) {
  EXPECT_EQ(toString(withDevice("\"h200\"").takeError()),
            "x.json: unknown device 'h200' (known devices: A10, "
            "A100-PCIe-40GB, A100-PCIe-80GB, A100-SXM4-40GB, A100-SXM4-80GB, "
            "A10G, A30-24GB, A40, B200-SXM6-180GB, B300-SXM6-288GB, "
            "GB200-186GB, GB300-288GB, GH200-96GB, GTX-1080, GTX-1080Ti, "
            "H100-NVL-94GB, H100-PCIe-80GB, H100-SXM5-80GB, H20-96GB, "
            "H200-NVL-141GB, H200-SXM5-141GB, K80-half, L4, L40, L40S, M40, "
            "MI250X-GCD-64GB, MI300X-192GB, MI325X-256GB, MI350X-288GB, "
            "MI355X-288GB, P100-PCIe-16GB, P100-SXM2-16GB, P40, "
            "Quadro-RTX-6000, Quadro-RTX-8000, RTX-2080Ti, RTX-3080, RTX-3090, "
            "RTX-4090, RTX-5090, RTX-6000-Ada, RTX-A4000, RTX-A5000, "
            "RTX-A6000, T4, TITAN-RTX, TITAN-V, TITAN-Xp, V100-PCIe-16GB, "
            "V100-PCIe-32GB, V100-SXM2-16GB, V100-SXM2-32GB, V100-SXM3-32GB-H, "
            "V100-SXM3-32GB, V100S-PCIe-32GB; "
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

/// Returns a section with the same numbers for all kernels.
std::string kernelsSection() {
  std::string product =
      R"({"units": "vector", "efficiency": 0.5, "memory": 0.8, "fixed_us": 3,
          "basis": "measured", "error": 0.1})";
  std::string convolution =
      R"({"units": "matrix", "efficiency": 0.5, "dgrad": 0.9, "wgrad": 0.8,
          "strided_dgrad": 0.7, "few_channels": 0.6, "few_channels_wgrad": 0.5,
          "winograd": 0,
          "memory": 0.8, "fixed_us": 3, "basis": "same chip", "error": 0.1})";
  std::string memory =
      R"({"efficiency": 0.8, "fixed_us": 2, "basis": "datasheet",
          "error": 0.2})";
  std::string text = R"("kernels": {"product": {"f32": )" + product +
                     R"(}, "grouped_product": {"factor": 1, "dgrad": 0.9,
      "wgrad": 0.8, "group_us": 2, "basis": "measured", "error": 0.1},
      "attention": {"forward": 0.6, "backward": 0.5, "tail": 0.3,
      "fixed_us": 5, "basis": "measured", "error": 0.1},
      "convolution": {"f32": )" +
                     convolution + "}, \"memory\": {";
  for (MemoryClass kind : allMemoryClasses())
    text += (kind == MemoryClass::Stream ? "\"" : ", \"") +
            stringify(kind).str() + "\": " + memory;
  return text + "}}";
}

const char *const place = "\"kernel_overhead_us\": 1,";

TEST(DeviceFile, ReadsAndWritesWhatKernelsNeed) {
  std::string text = whole;
  text.replace(text.find(place), 0,
               "\"multiprocessors\": 80, \"sustained\": 0.9, " +
                   kernelsSection() + ", ");
  Expected<Cluster> cluster = withDevice(text);
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  const Device &device = cluster->deviceAt(0);
  EXPECT_EQ(device.multiprocessors, 80);
  EXPECT_EQ(device.sustained, 0.9);
  ASSERT_TRUE(device.kernels.has_value());
  // F32 stands for types without parameters.
  const ProductParameters &product = device.kernels->product(DType::BF16);
  EXPECT_FALSE(product.onMatrixUnits);
  EXPECT_EQ(product.efficiency, 0.5);
  EXPECT_EQ(product.fixedTime, 3e-6);
  EXPECT_EQ(product.basis, Basis::Measured);
  EXPECT_EQ(device.kernels->grouped.groupTime, 2e-6);
  EXPECT_EQ(device.kernels->attention.tail, 0.3);
  EXPECT_EQ(device.kernels->convolution(DType::F32).winograd, 0);
  EXPECT_EQ(device.kernels->convolution(DType::F32).basis, Basis::SameChip);
  EXPECT_EQ(device.kernels->of(MemoryClass::Softmax).error, 0.2);
  // Text that is written can be read and written again without a change.
  std::string written = formatKernels(*device.kernels, "none");
  std::string again = whole;
  again.replace(again.find(place), 0,
                "\"multiprocessors\": 80, \"kernels\": " + written + ", ");
  cluster = withDevice(again);
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(formatKernels(*cluster->deviceAt(0).kernels, "none"), written);
}

TEST(DeviceFile, LikeAnotherWithLessPowerOrMemory) {
  Expected<Cluster> known = withDevice("\"H100-SXM5-80GB\"");
  ASSERT_TRUE(bool(known)) << toString(known.takeError());
  Expected<Cluster> cluster =
      withDevice(R"({"like": "H100-SXM5-80GB", "sustained": 0.5})");
  ASSERT_TRUE(bool(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->deviceAt(0).sustained, 0.5);
  EXPECT_LT(0.5, known->deviceAt(0).sustained);
  EXPECT_EQ(cluster->deviceAt(0).memoryBytes, known->deviceAt(0).memoryBytes);
  Expected<Cluster> small =
      withDevice(R"({"like": "H100-SXM5-80GB", "memory_gb": 64})");
  ASSERT_TRUE(bool(small)) << toString(small.takeError());
  EXPECT_EQ(small->deviceAt(0).memoryBytes, 64'000'000'000);
  EXPECT_EQ(small->deviceAt(0).sustained, known->deviceAt(0).sustained);
  Expected<Cluster> wrong =
      withDevice(R"({"like": "H100-SXM5-80GB", "multiprocessors": 7})");
  ASSERT_FALSE(bool(wrong));
  EXPECT_NE(toString(wrong.takeError()).find("multiprocessors"),
            std::string::npos);
}

TEST(DeviceFile, ErrorsInKernelsNameTheirPlace) {
  auto errorAfter = [](StringRef from, StringRef to) {
    std::string section = kernelsSection();
    size_t at = section.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    section.replace(at, from.size(), to.str());
    return errorWith(place,
                     "\"multiprocessors\": 80, " + section + ", " + place);
  };
  EXPECT_EQ(errorAfter("\"efficiency\": 0.5", "\"efficiency\": 0"),
            "x.json: expected a positive number at "
            "device.kernels.product.f32.efficiency, got 0");
  EXPECT_EQ(errorAfter("\"measured\"", "\"guessed\""),
            "x.json: unknown basis 'guessed' (one of measured, same chip, "
            "datasheet) at device.kernels.product.f32.basis");
  EXPECT_EQ(errorAfter("\"vector\"", "\"scalar\""),
            "x.json: expected \"matrix\" or \"vector\" at "
            "device.kernels.product.f32.units");
  EXPECT_EQ(errorWith(place, kernelsSection() + ", " + place),
            "x.json: the device needs 'multiprocessors' too at "
            "device.kernels");
}

} // namespace
