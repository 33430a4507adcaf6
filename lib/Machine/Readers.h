//===- Readers.h - readers of values in cluster files -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that the readers of devices, nodes and clusters have in common. A
// reader that fails records its error in the document and returns a valid
// default.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MACHINE_READERS_H
#define PROTEUS_LIB_MACHINE_READERS_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Support/JSON.h"

namespace proteus::machine {

// Limits of values. A value beyond them is in a wrong unit.
constexpr double maxTeraflops = 1e9;
constexpr double maxGigabytesPerSecond = 1e9;
constexpr double minGigabytesPerSecond = 1e-6;
constexpr double maxMemoryGigabytes = 1e6;
constexpr double maxMicroseconds = 1e9;
constexpr int64_t maxMultiprocessors = 1 << 20;
constexpr int64_t maxDevicesPerNode = 65536;
/// Every pair of CPUs has a link, so the number of links is quadratic.
constexpr int64_t maxCPUsPerNode = 256;

/// Returns the seconds of a key in microseconds.
double readMicroseconds(const json::Reader &reader, llvm::StringRef key);
/// Returns the bytes/s of a number in GB/s.
double readGigabytesPerSecond(const json::Reader &number);
/// Returns the bytes/s of a key in GB/s.
double readBandwidth(const json::Reader &reader, llvm::StringRef key);
/// Returns the bytes/s of a key in Gbit/s.
double readGigabits(const json::Reader &reader, llvm::StringRef key);
/// Returns a number from 0.001 to `most`.
double readShare(const json::Reader &number, double most);
/// Reads an object {"bandwidth_gbps": 25, "latency_us": 5}.
Link readLink(const json::Reader &reader);

/// Reads the section "kernels" of a device.
KernelParameters readKernels(const json::Reader &reader);
/// Reads the name of an embedded device, or an object that describes a device.
Device readDevice(const json::Reader &reader);
/// Reads a kind of node of `cluster`, whose types of devices must be known.
NodeKind readNodeKind(const json::Reader &reader, llvm::StringRef name,
                      const Cluster &cluster);
/// Returns the embedded set of constants of the given name, or `otherwise`
/// after an error.
const CollectiveConstants &readLike(const json::Reader &name,
                                    const CollectiveConstants &otherwise);
/// Replaces the constants for which the object has keys. The caller reads the
/// key `like` and sets `constants` to that set before.
void readConstants(const json::Reader &reader, CollectiveConstants &constants);

/// Sets NodeKind::deviceTypes according to the graph of `kind`.
void indexDevices(NodeKind &kind);
/// Returns a node of `count` devices on one switch with one NIC per device. Its
/// collectives cost as much as the ring formulas over the two links state.
NodeKind makeSimpleNode(int64_t count, const Link &intraNode,
                        const Link &interNode);
/// Returns an error message if a device or NIC of `graph` cannot be reached
/// from the first device, or an empty string.
std::string findUnreachable(const NodeGraph &graph);

/// Reads the flat format of the reference.
void readFlatCluster(const json::Reader &root, const FileReader &readFile,
                     Cluster &cluster);

} // namespace proteus::machine

#endif // PROTEUS_LIB_MACHINE_READERS_H
