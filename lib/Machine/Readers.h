//===- Readers.h - figures of cluster files in their units ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the readers of devices, nodes and clusters share. A reader that fails
// leaves its error in the document and returns something harmless.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MACHINE_READERS_H
#define PROTEUS_LIB_MACHINE_READERS_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Support/JSON.h"

namespace proteus::machine {

/// Figures beyond these are slips of a unit, not machines.
constexpr double maxTeraflops = 1e9;
constexpr double maxGigabytesPerSecond = 1e9;
constexpr double minGigabytesPerSecond = 1e-6;
constexpr double maxMemoryGigabytes = 1e6;
constexpr double maxMicroseconds = 1e9;
constexpr int64_t maxMultiprocessors = 1 << 20;
constexpr int64_t maxDevicesPerNode = 65536;
/// CPUs of a node are linked in pairs, so their number counts twice.
constexpr int64_t maxCPUsPerNode = 256;

/// Seconds of a key in microseconds.
double readMicroseconds(const json::Reader &reader, llvm::StringRef key);
/// Bytes/s of a number of GB/s.
double readGigabytesPerSecond(const json::Reader &number);
/// The same of a key.
double readBandwidth(const json::Reader &reader, llvm::StringRef key);
/// Bytes/s of a number of Gbit/s.
double readGigabits(const json::Reader &reader, llvm::StringRef key);
/// A number from 0.001 to `most`.
double readShare(const json::Reader &number, double most);
/// {"bandwidth_gbps": 25, "latency_us": 5}
Link readLink(const json::Reader &reader);

/// The section "kernels" of a device.
KernelParameters readKernels(const json::Reader &reader);
/// A device written out, or the name of an embedded one.
Device readDevice(const json::Reader &reader);
/// The inside of a node of `cluster`, whose device types are known.
NodeKind readNodeKind(const json::Reader &reader, llvm::StringRef name,
                      const Cluster &cluster);
/// The embedded set of constants of that name, `otherwise` after an error.
const CollectiveConstants &readLike(const json::Reader &name,
                                    const CollectiveConstants &otherwise);
/// Replaces the constants that the object names. Which set they replace, its
/// `like`, is the caller's.
void readConstants(const json::Reader &reader, CollectiveConstants &constants);

/// Fills in what follows from the graph of `kind`: the types of its devices.
void indexDevices(NodeKind &kind);
/// A node of `count` devices on one switch with a NIC for each, whose
/// collectives cost what the ring formulas over the two links say.
NodeKind makeSimpleNode(int64_t count, const Link &intraNode,
                        const Link &interNode);
/// What of `graph` can't be reached from its first device, in words; empty if
/// nothing.
std::string findUnreachable(const NodeGraph &graph);

/// Reads the flat format of the original.
void readFlatCluster(const json::Reader &root, const FileReader &readFile,
                     Cluster &cluster);

} // namespace proteus::machine

#endif // PROTEUS_LIB_MACHINE_READERS_H
