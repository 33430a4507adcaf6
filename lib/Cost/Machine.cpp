//===- Machine.cpp - devices and clusters as data -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Machine.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace llvm;
using namespace proteus::cost;
using proteus::json::Reader;

namespace {
struct Preset {
  StringRef name;
  StringRef text;
};
} // namespace

/// Sorted by name: the build file lists them in that order.
static constexpr Preset presets[] = {
#include "ClusterPresets.inc"
};

/// Figures beyond these are slips of a unit, not machines.
static constexpr double maxTeraflops = 1e9;
static constexpr double maxGigabytesPerSecond = 1e9;
static constexpr double maxMemoryGigabytes = 1e6;
static constexpr double maxMicroseconds = 1e9;
static constexpr int64_t maxDevicesPerNode = 65536;

static constexpr DType allTypes[] = {DType::F64,  DType::F32, DType::TF32,
                                     DType::BF16, DType::F16, DType::F8,
                                     DType::I64,  DType::I32, DType::I8};

int64_t proteus::cost::byteWidth(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::TF32:
  case DType::I32:
    return 4;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F8:
  case DType::I8:
    return 1;
  }
  llvm_unreachable("unknown element type");
}

StringRef proteus::cost::stringify(DType type) {
  switch (type) {
  case DType::F64:
    return "f64";
  case DType::F32:
    return "f32";
  case DType::TF32:
    return "tf32";
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F8:
    return "f8";
  case DType::I64:
    return "i64";
  case DType::I32:
    return "i32";
  case DType::I8:
    return "i8";
  }
  llvm_unreachable("unknown element type");
}

bool Device::supports(DType type) const {
  return llvm::any_of(peakFlops,
                      [&](const auto &entry) { return entry.first == type; });
}

double Device::peak(DType type) const {
  for (DType wanted : {type, DType::F32})
    for (const auto &[candidate, flops] : peakFlops)
      if (candidate == wanted)
        return flops;
  return 0;
}

//===----------------------------------------------------------------------===//
// Cluster files
//===----------------------------------------------------------------------===//

static std::vector<std::pair<DType, double>> readPeaks(const Reader &reader) {
  SmallVector<StringRef> names;
  for (DType type : allTypes)
    names.push_back(stringify(type));
  reader.expectKeys(names);
  std::vector<std::pair<DType, double>> peaks;
  for (DType type : allTypes)
    // The F32 rate is the fall-back of all others, so it must exist.
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

static double readMicroseconds(const Reader &reader, StringRef key) {
  return reader[key].nonNegative(maxMicroseconds) / 1e6;
}

static double readBandwidth(const Reader &reader, StringRef key) {
  return reader[key].positive(maxGigabytesPerSecond) * 1e9;
}

static Device readDevice(const Reader &reader) {
  reader.expectKeys({"name", "peak_tflops", "memory_gib", "memory_gb",
                     "memory_reserve_gb", "memory_bandwidth_gbps",
                     "launch_latency_us", "kernel_overhead_us"});
  Device device;
  device.name = reader["name"].nonEmptyString();
  device.peakFlops = readPeaks(reader["peak_tflops"]);
  device.memoryBytes = readMemory(reader);
  device.reservedBytes = defaultReservedBytes;
  if (reader.has("memory_reserve_gb"))
    device.reservedBytes = std::llround(
        reader["memory_reserve_gb"].nonNegative(maxMemoryGigabytes) * 1e9);
  device.memoryBandwidth = readBandwidth(reader, "memory_bandwidth_gbps");
  if (reader.has("launch_latency_us"))
    device.launchLatency = readMicroseconds(reader, "launch_latency_us");
  if (reader.has("kernel_overhead_us"))
    device.kernelOverhead = readMicroseconds(reader, "kernel_overhead_us");
  return device;
}

static Link readLink(const Reader &reader) {
  reader.expectKeys({"bandwidth_gbps", "latency_us"});
  Link link;
  link.bandwidth = readBandwidth(reader, "bandwidth_gbps");
  link.latency = readMicroseconds(reader, "latency_us");
  return link;
}

Expected<Cluster> proteus::cost::parseClusterJSON(StringRef text,
                                                  StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  Reader root = document->root();
  root.expectKeys({"name", "source", "device", "nodes", "devices_per_node",
                   "intra_node", "inter_node", "host"});
  Cluster cluster;
  cluster.name = root["name"].nonEmptyString();
  if (root.has("source"))
    root["source"].string();
  cluster.device = readDevice(root["device"]);
  cluster.nodes = root["nodes"].integer(1, maxNodes);
  cluster.devicesPerNode =
      root["devices_per_node"].integer(1, maxDevicesPerNode);
  cluster.intraNode = readLink(root["intra_node"]);
  cluster.interNode = readLink(root["inter_node"]);
  if (root.has("host"))
    cluster.host = readLink(root["host"]);
  if (Error error = document->takeError())
    return error;
  return cluster;
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

static const Preset *findPreset(StringRef text) {
  StringRef name = text.split(':').first;
  const Preset *preset =
      llvm::find_if(presets, [&](const Preset &p) { return p.name == name; });
  return preset == std::end(presets) ? nullptr : preset;
}

bool proteus::cost::isClusterPreset(StringRef text) {
  return findPreset(text) != nullptr;
}

std::vector<std::string> proteus::cost::clusterPresetNames() {
  std::vector<std::string> names;
  for (const Preset &preset : presets)
    names.push_back(preset.name.str());
  return names;
}

Expected<Cluster> proteus::cost::parseClusterPreset(StringRef text) {
  const Preset *preset = findPreset(text);
  if (!preset)
    return createStringError(
        "unknown cluster preset '" + text.split(':').first +
        "'; known presets: " + llvm::join(clusterPresetNames(), ", "));
  Expected<Cluster> cluster =
      parseClusterJSON(preset->text, ("preset " + preset->name).str());
  if (!cluster || !text.contains(':'))
    return cluster;
  StringRef count = text.split(':').second;
  if (count.getAsInteger(10, cluster->nodes) || cluster->nodes < 1 ||
      cluster->nodes > maxNodes)
    return createStringError("expected a number of nodes from 1 to " +
                             Twine(maxNodes) + " after '" + preset->name +
                             ":', got '" + count + "'");
  cluster->name = text.str();
  return cluster;
}
