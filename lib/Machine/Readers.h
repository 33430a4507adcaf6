//===- Readers.h - readers of values in cluster files -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that the readers of devices, nodes and clusters share. A function
// that fails records the error in the JSON document and returns a valid
// default.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MACHINE_READERS_H
#define PROTEUS_LIB_MACHINE_READERS_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Support/JSON.h"

namespace proteus::machine {

// Limits of values in files. A value above its maximum or below its minimum
// probably has a wrong unit.
constexpr double maxTeraflops = 1e9;
constexpr double maxGigabytesPerSecond = 1e9;
constexpr double minGigabytesPerSecond = 1e-6;
constexpr double maxMemoryGigabytes = 1e6;
constexpr double maxMicroseconds = 1e9;
constexpr int64_t maxMultiprocessors = 1 << 20;
constexpr int64_t maxDevicesPerNode = 65536;
/// Lower than `maxDevicesPerNode`, because every pair of CPUs has a link.
constexpr int64_t maxCPUsPerNode = 256;

/// Reads the value of `key` in microseconds and returns it in seconds.
double readMicroseconds(const json::Reader &reader, llvm::StringRef key);
/// Reads a number in GB/s and returns it in bytes/s.
double readGigabytesPerSecond(const json::Reader &number);
/// Reads the value of `key` in GB/s and returns it in bytes/s.
double readBandwidth(const json::Reader &reader, llvm::StringRef key);
/// Reads the value of `key` in Gbit/s and returns it in bytes/s.
double readGigabits(const json::Reader &reader, llvm::StringRef key);
/// Reads a share. The share must be between 0.001 and `most`.
double readShare(const json::Reader &number, double most);
/// Reads an object {"bandwidth_gbps": 25, "latency_us": 5}.
Link readLink(const json::Reader &reader);

/// Reads the section "kernels" of a device.
KernelParameters readKernels(const json::Reader &reader);
/// Reads the name of an embedded device, or an object that describes a device.
Device readDevice(const json::Reader &reader);
/// Reads a kind of node. `cluster` must already contain the types of devices.
NodeKind readNodeKind(const json::Reader &reader, llvm::StringRef name,
                      const Cluster &cluster);
/// Reads the name of an embedded set of constants and returns the set. If no
/// set has this name, fails and returns `otherwise`.
const CollectiveConstants &readLike(const json::Reader &name,
                                    const CollectiveConstants &otherwise);
/// Sets those `constants` for which the JSON object has keys, and leaves the
/// others as they are. Ignores the key `like`: callers have already set
/// `constants` to the set that `like` names.
void readConstants(const json::Reader &reader, CollectiveConstants &constants);

/// Fills NodeKind::deviceTypes from the graph of `kind`.
void indexDevices(NodeKind &kind);
/// Returns a node with `count` devices on one switch and one NIC per device.
/// The constants of its collectives come from the two links. With the Simple
/// protocol, a ring step takes the latency of `intraNode` within the node and
/// the latency of `interNode` between nodes.
NodeKind makeSimpleNode(int64_t count, const Link &intraNode,
                        const Link &interNode);
/// Returns an error message if `graph` has no device, if a device or NIC cannot
/// be reached from the first device, or if a NIC has no bandwidth. Otherwise
/// returns an empty string.
std::string findUnreachable(const NodeGraph &graph);

/// Reads a cluster in the flat format of the reference into `cluster`.
void readFlatCluster(const json::Reader &root, const FileReader &readFile,
                     Cluster &cluster);

} // namespace proteus::machine

#endif // PROTEUS_LIB_MACHINE_READERS_H
