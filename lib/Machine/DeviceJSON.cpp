//===- DeviceJSON.cpp - readers of device files ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

namespace {
struct EmbeddedDevice {
  StringRef name;
  StringRef text;
};
} // namespace

/// The embedded devices. They are sorted by name, because the build file lists
/// them in this order.
static constexpr EmbeddedDevice embeddedDevices[] = {
#include "DeviceFiles.inc"
};

//===----------------------------------------------------------------------===//
// Values with units
//===----------------------------------------------------------------------===//

double proteus::machine::readMicroseconds(const Reader &reader, StringRef key) {
  return reader[key].nonNegative(maxMicroseconds) / 1e6;
}

double proteus::machine::readGigabytesPerSecond(const Reader &number) {
  double gigabytes = number.positive(maxGigabytesPerSecond);
  if (gigabytes >= minGigabytesPerSecond)
    return gigabytes * 1e9;
  number.fail("expected at least " + json::formatNumber(minGigabytesPerSecond) +
              " GB/s, got " + json::formatNumber(gigabytes));
  return 1e9;
}

double proteus::machine::readBandwidth(const Reader &reader, StringRef key) {
  return readGigabytesPerSecond(reader[key]);
}

double proteus::machine::readGigabits(const Reader &reader, StringRef key) {
  return readGigabytesPerSecond(reader[key]) / 8;
}

Link proteus::machine::readLink(const Reader &reader) {
  reader.expectKeys({"bandwidth_gbps", "latency_us"});
  Link link;
  link.bandwidth = readBandwidth(reader, "bandwidth_gbps");
  link.latency = readMicroseconds(reader, "latency_us");
  return link;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static std::vector<std::pair<DType, double>> readPeaks(const Reader &reader) {
  SmallVector<StringRef> names;
  for (DType type : allDTypes())
    names.push_back(stringify(type));
  reader.expectKeys(names);
  std::vector<std::pair<DType, double>> peaks;
  for (DType type : allDTypes())
    // The F32 rate must exist, because element types without a rate use the F32
    // rate.
    if (reader.has(stringify(type)) || type == DType::F32)
      peaks.emplace_back(type,
                         reader[stringify(type)].positive(maxTeraflops) * 1e12);
  return peaks;
}

static int64_t readMemory(const Reader &reader) {
  if (reader.has("memory_gb") && reader.has("memory_gib"))
    reader.fail("both 'memory_gb' and 'memory_gib' are given");
  if (reader.has("memory_gb"))
    return std::llround(reader["memory_gb"].positive(maxMemoryGigabytes) * 1e9);
  return std::llround(reader["memory_gib"].positive(maxMemoryGigabytes) *
                      1073741824.0);
}

static Architecture readArchitecture(const Reader &reader) {
  std::string name = reader.string();
  SmallVector<StringRef> known;
  for (Architecture architecture : allArchitectures()) {
    if (stringify(architecture) == name)
      return architecture;
    known.push_back(stringify(architecture));
  }
  if (reader.isString())
    reader.fail("unknown architecture '" + name + "' (one of " +
                join(known, ", ") + ")");
  return Architecture::Other;
}

/// Reads a factor on a time. The factor must be at least 1. Returns 1 if the
/// key is absent.
static double readSlowdown(const Reader &reader, StringRef key) {
  if (!reader.has(key))
    return 1;
  double factor = reader[key].positive(1000);
  if (factor < 1)
    reader[key].fail("expected a factor of at least 1, got " +
                     json::formatNumber(factor));
  return factor;
}

static Interference readInterference(const Reader &reader) {
  reader.expectKeys(
      {"matrix_kernel", "memory_kernel", "communication", "source"});
  Interference interference;
  interference.matrixKernel = readSlowdown(reader, "matrix_kernel");
  interference.memoryKernel = readSlowdown(reader, "memory_kernel");
  interference.communication = readSlowdown(reader, "communication");
  if (reader.has("source"))
    reader["source"].string();
  return interference;
}

static Device readInlineDevice(const Reader &reader) {
  reader.expectKeys({"name", "source", "architecture", "compute_capability",
                     "peak_tflops", "memory_gib", "memory_gb",
                     "memory_reserve_gb", "memory_bandwidth_gbps",
                     "launch_latency_us", "kernel_overhead_us", "interference",
                     "multiprocessors", "sustained", "kernels"});
  Device device;
  device.name = reader["name"].nonEmptyString();
  if (reader.has("source"))
    reader["source"].string();
  if (reader.has("compute_capability")) {
    device.computeCapability = reader["compute_capability"].integer(10, 999);
    device.architecture = architectureOf(device.computeCapability);
  }
  if (reader.has("architecture"))
    device.architecture = readArchitecture(reader["architecture"]);
  device.peakFlops = readPeaks(reader["peak_tflops"]);
  device.memoryBytes = readMemory(reader);
  device.memoryBandwidth = readBandwidth(reader, "memory_bandwidth_gbps");
  device.reservedBytes = defaultReservedBytes;
  if (reader.has("memory_reserve_gb"))
    device.reservedBytes = std::llround(
        reader["memory_reserve_gb"].nonNegative(maxMemoryGigabytes) * 1e9);
  if (reader.has("launch_latency_us"))
    device.launchLatency = readMicroseconds(reader, "launch_latency_us");
  if (reader.has("kernel_overhead_us"))
    device.kernelOverhead = readMicroseconds(reader, "kernel_overhead_us");
  if (reader.has("interference"))
    device.interference = readInterference(reader["interference"]);
  if (reader.has("multiprocessors"))
    device.multiprocessors =
        reader["multiprocessors"].integer(1, maxMultiprocessors);
  if (reader.has("sustained"))
    device.sustained = reader["sustained"].positive(1);
  if (reader.has("kernels")) {
    device.kernels = readKernels(reader["kernels"]);
    // The models of kernels need the number of multiprocessors, because they
    // count waves of tiles.
    if (device.multiprocessors == 0)
      reader["kernels"].fail("the device needs 'multiprocessors' too");
  }
  return device;
}

Expected<Device> proteus::machine::parseDeviceJSON(StringRef text,
                                                   StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  Device device = readInlineDevice(document->root());
  if (Error error = document->takeError())
    return std::move(error);
  return device;
}

static Device readNamedDevice(const Reader &reader);

/// Reads a variant of an embedded device, such as a board with less power or
/// with more memory.
static Device readSimilarDevice(const Reader &reader) {
  reader.expectKeys({"like", "sustained", "memory_gib", "memory_gb"});
  Device device = readNamedDevice(reader["like"]);
  if (reader.has("memory_gib") || reader.has("memory_gb"))
    device.memoryBytes = readMemory(reader);
  if (reader.has("sustained"))
    device.sustained = reader["sustained"].positive(1);
  return device;
}

Device proteus::machine::readDevice(const Reader &reader) {
  if (reader.isString())
    return readNamedDevice(reader);
  return reader.has("like") ? readSimilarDevice(reader)
                            : readInlineDevice(reader);
}

static Device readNamedDevice(const Reader &reader) {
  std::string name = reader.string();
  const auto *found = llvm::find_if(
      embeddedDevices, [&](const auto &device) { return device.name == name; });
  if (found == std::end(embeddedDevices)) {
    SmallVector<StringRef> known;
    for (const EmbeddedDevice &device : embeddedDevices)
      known.push_back(device.name);
    reader.fail("unknown device '" + name + "' (known devices: " +
                join(known, ", ") + "; others are written out as an object)");
    return {};
  }
  Expected<Device> device =
      parseDeviceJSON(found->text, ("device " + found->name).str());
  if (device)
    return std::move(*device);
  reader.fail(toString(device.takeError()));
  return {};
}

Expected<std::vector<Device>> proteus::machine::libraryDevices() {
  std::vector<Device> devices;
  for (const EmbeddedDevice &embedded : embeddedDevices) {
    Expected<Device> device =
        parseDeviceJSON(embedded.text, ("device " + embedded.name).str());
    if (!device)
      return device.takeError();
    devices.push_back(std::move(*device));
  }
  return devices;
}
