//===- Machine.h - devices and clusters as data ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_MACHINE_H
#define PROTEUS_COST_MACHINE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::cost {

/// Element types that the cost models tell apart.
enum class DType : uint8_t { F64, F32, TF32, BF16, F16, F8, I64, I32, I8 };

/// Bytes of one element; TF32 is stored as F32.
int64_t byteWidth(DType type);

/// "bf16", as in cluster files.
llvm::StringRef stringify(DType type);

/// What one accelerator can do. All rates are peak values of the datasheet.
struct Device {
  std::string name;
  /// Dense peak per element type in FLOP/s; absent = the type is not supported
  /// by the matrix units and runs at the `F32` rate.
  std::vector<std::pair<DType, double>> peakFlops;
  double memoryBandwidth = 0; ///< bytes/s
  int64_t memoryBytes = 0;
  /// What the driver, its context and loaded kernels take of the memory.
  int64_t reservedBytes = 0;
  double launchLatency = 0;  ///< seconds the host needs to launch one kernel
  double kernelOverhead = 0; ///< seconds a kernel needs beyond its work

  /// Dense peak of `type`, falling back to F32. The fall-back is visible to
  /// callers through `supports`.
  double peak(DType type) const;
  bool supports(DType type) const;
};

/// One level of the interconnect as seen by one device.
struct Link {
  double bandwidth = 0; ///< bytes/s per device and direction
  double latency = 0;   ///< seconds per message hop
};

/// A two-level cluster: `nodes` nodes of `devicesPerNode` equal devices.
/// Device ids are node-major: device d sits in node d / devicesPerNode.
struct Cluster {
  std::string name;
  Device device;
  int64_t nodes = 1;
  int64_t devicesPerNode = 1;
  Link intraNode; ///< NVLink, PCIe: between devices of one node
  Link interNode; ///< NIC share of one device
  /// PCIe, NVLink-C2C: between a device and the memory of its host. Needed
  /// where a strategy offloads.
  std::optional<Link> host;

  int64_t numDevices() const { return nodes * devicesPerNode; }
  int64_t nodeOf(int64_t device) const { return device / devicesPerNode; }
};

/// The embedded preset `text` names: "dgx-a100" or "dgx-a100:16" (16 nodes).
/// Unknown names give an error that lists the presets.
llvm::Expected<Cluster> parseClusterPreset(llvm::StringRef text);

/// True if `text` names an embedded preset (with or without node count).
bool isClusterPreset(llvm::StringRef text);

/// Names of the embedded presets, sorted.
std::vector<std::string> clusterPresetNames();

/// Memory that is taken on a device before the first tensor, where the cluster
/// does not say: measured on an H100 (docs/models.md).
constexpr int64_t defaultReservedBytes = 1060000000;

/// Most nodes a cluster may have.
constexpr int64_t maxNodes = 1000000;

/// Reads a cluster from JSON text. `source` names the text in errors. Units
/// stand in the keys:
///
///   {"name": "x", "source": "where the figures come from",
///    "device": {"name": "y", "peak_tflops": {"f32": 19.5, "bf16": 312},
///               "memory_gib": 80, "memory_bandwidth_gbps": 2039,
///               "launch_latency_us": 2.5, "kernel_overhead_us": 1.5},
///    "nodes": 1, "devices_per_node": 8,
///    "intra_node": {"bandwidth_gbps": 300, "latency_us": 2},
///    "inter_node": {"bandwidth_gbps": 25, "latency_us": 5},
///    "host": {"bandwidth_gbps": 31.5, "latency_us": 10}}
///
/// GB/s are 1e9 bytes per second. The memory may also be given as "memory_gb"
/// (1e9 bytes). "f32" is the one rate that must be given; "source", "host",
/// "launch_latency_us" and "kernel_overhead_us" are optional (the latter 0),
/// and so is "memory_reserve_gb" in the device (defaultReservedBytes).
llvm::Expected<Cluster> parseClusterJSON(llvm::StringRef text,
                                         llvm::StringRef source);

} // namespace proteus::cost

#endif // PROTEUS_COST_MACHINE_H
