//===- NodeJSON.cpp - reader of kinds of nodes ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <set>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

namespace {

/// A CPU or a PCIe switch in the section "pcie" of a cluster file, with the
/// components below it.
struct Branch {
  explicit Branch(Reader where) : where(std::move(where)) {}

  Reader where; ///< position in the file, for error messages
  // Fields of CPUs only.
  CPUVendor vendor = CPUVendor::Other;
  uint32_t model = 0;
  // Bandwidths of the links from this CPU or switch to the components below it,
  // in bytes/s. `deviceBandwidth` is for links to devices, `bandwidth` for
  // links to NICs and switches.
  double bandwidth = 0;
  double deviceBandwidth = 0;
  /// Numbers of the devices and NICs directly below this CPU or switch. If
  /// there are several copies of the switch, the numbers below the first copy.
  std::vector<int64_t> devices, nics;
  std::vector<Branch> switches;
  int64_t copies = 1;
  // Number of devices and NICs in one copy, including those below its switches.
  // Copy k (from 0) has the devices and NICs of the first copy, with numbers
  // that are higher by k * numDevices and k * numNICs.
  int64_t numDevices = 0, numNICs = 0;
};

/// Reads one kind of node.
class NodeReader {
public:
  NodeReader(const Reader &reader, StringRef name, const Cluster &cluster)
      : reader(reader), cluster(cluster) {
    kind.graph.name = name.str();
  }

  NodeKind read();

private:
  void readDevices();
  void addDevices(int64_t count, uint32_t type);
  void readNVLink(const Reader &nvlink);
  void readPairs(const Reader &pairs, double linkBandwidth);
  void readNICs(const Reader &nics);
  void addNIC(const Reader &nic);
  void attachNICs();

  struct PCIeLink {
    int64_t generation, width;
  };
  void readPCIe(const Reader &pcie);
  Branch readBranch(const Reader &where, PCIeLink below, bool isCPU);
  PCIeLink readLinkBelow(const Reader &where, PCIeLink inherited);
  bool addBranch(const Branch &branch, uint32_t vertex, int64_t device,
                 int64_t nic);
  bool attach(const Branch &branch, uint32_t vertex,
              ArrayRef<uint32_t> children, std::vector<bool> &taken,
              int64_t number, StringRef what, double bandwidth);
  void linkSockets(const Reader &pcie);

  const Reader &reader;
  const Cluster &cluster;
  NodeKind kind;
  std::vector<uint32_t> devices, nics, cpus; ///< numbers of vertices
  /// For each device and NIC: true if it is in the PCIe tree.
  std::vector<bool> placedDevices, placedNICs;
  std::vector<std::vector<int64_t>> near; ///< for each NIC: devices near it
  bool switched = false;                  ///< true if there is an NVSwitch
  bool hasNVLink = false;
};
} // namespace

void proteus::machine::indexDevices(NodeKind &kind) {
  kind.deviceTypes.clear();
  for (uint32_t vertex : kind.graph.ofKind(VertexKind::Device))
    kind.deviceTypes.push_back(kind.graph.vertices[vertex].type);
}

/// Largest number of vertices of a node. A file with more vertices probably
/// nests `copies` by mistake.
static constexpr size_t maxVertices = 4 * maxDevicesPerNode;

//===----------------------------------------------------------------------===//
// Devices and NVLink
//===----------------------------------------------------------------------===//

void NodeReader::addDevices(int64_t count, uint32_t type) {
  for (int64_t i = 0; i < count; ++i) {
    Vertex vertex;
    vertex.kind = VertexKind::Device;
    vertex.index = devices.size();
    vertex.name = "gpu " + std::to_string(vertex.index);
    vertex.type = type;
    vertex.computeCapability = cluster.devices[type].computeCapability;
    vertex.directNIC = true;
    devices.push_back(kind.graph.addVertex(std::move(vertex)));
  }
}

void NodeReader::readDevices() {
  Reader list = reader["devices"];
  if (!list.isArray()) {
    int64_t count = list.integer(1, maxDevicesPerNode);
    if (cluster.devices.size() > 1)
      list.fail("the cluster has several types of devices; write "
                "[{\"type\": NAME, \"count\": N}, ...]");
    return addDevices(count, 0);
  }
  for (const Reader &entry : list.elements()) {
    entry.expectKeys({"type", "count"});
    std::string name = entry["type"].string();
    int64_t count = entry["count"].integer(1, maxDevicesPerNode);
    auto found = llvm::find_if(cluster.devices, [&](const Device &device) {
      return device.name == name;
    });
    if (found == cluster.devices.end()) {
      std::string known;
      for (const Device &device : cluster.devices)
        known += (known.empty() ? "'" : ", '") + device.name + "'";
      return entry["type"].fail(
          "no device '" + name +
          "' in 'devices' of the cluster (known: " + known + ")");
    }
    if (static_cast<int64_t>(devices.size()) + count > maxDevicesPerNode)
      return list.fail("more than " + Twine(maxDevicesPerNode) +
                       " devices in a node");
    addDevices(count, found - cluster.devices.begin());
  }
  if (devices.empty())
    list.fail("a node needs at least one device");
}

void NodeReader::readPairs(const Reader &pairs, double linkBandwidth) {
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const Reader &pair : pairs.elements()) {
    std::vector<Reader> parts = pair.elements();
    if (parts.size() != 3)
      return pair.fail("expected [device, device, number of links]");
    int64_t last = static_cast<int64_t>(devices.size()) - 1;
    int64_t a = parts[0].integer(0, last), b = parts[1].integer(0, last);
    int64_t links = parts[2].integer(1, 1000);
    if (a == b)
      return pair.fail("a device has no link to itself");
    if (!seen.insert(std::minmax(a, b)).second)
      return pair.fail("the pair " + Twine(a) + ", " + Twine(b) +
                       " is listed twice; give all its links at once");
    kind.graph.connect(devices[a], devices[b], LinkKind::NVLink,
                       links * linkBandwidth);
  }
}

void NodeReader::readNVLink(const Reader &nvlink) {
  nvlink.expectKeys({"link_gbps", "switched_links", "pairs"});
  double linkBandwidth = readBandwidth(nvlink, "link_gbps");
  switched = nvlink.has("switched_links");
  if (switched == nvlink.has("pairs"))
    return nvlink.fail("expected either 'switched_links' (links of each device "
                       "to the NVSwitch) or 'pairs'");
  hasNVLink = true;
  if (!switched)
    return readPairs(nvlink["pairs"], linkBandwidth);
  int64_t links = nvlink["switched_links"].integer(1, 1000);
  Vertex vertex;
  vertex.kind = VertexKind::NVSwitch;
  vertex.name = "nvswitch";
  uint32_t center = kind.graph.addVertex(std::move(vertex));
  for (uint32_t device : devices)
    kind.graph.connect(device, center, LinkKind::NVLink, links * linkBandwidth);
}

//===----------------------------------------------------------------------===//
// NICs
//===----------------------------------------------------------------------===//

void NodeReader::addNIC(const Reader &nic) {
  Vertex vertex;
  vertex.kind = VertexKind::NIC;
  vertex.index = nics.size();
  vertex.name = "nic " + std::to_string(vertex.index);
  vertex.portBandwidth = readGigabits(nic, "speed_gbit");
  vertex.guid = vertex.name;
  nics.push_back(kind.graph.addVertex(std::move(vertex)));
  near.emplace_back();
}

void NodeReader::readNICs(const Reader &list) {
  if (!list.isArray()) {
    list.expectKeys({"count", "speed_gbit"});
    int64_t count = list["count"].integer(1, maxDevicesPerNode);
    for (int64_t i = 0; i < count; ++i)
      addNIC(list);
    return;
  }
  for (const Reader &nic : list.elements()) {
    nic.expectKeys({"speed_gbit", "near", "card", "port"});
    addNIC(nic);
    Vertex &vertex = kind.graph.vertices[nics.back()];
    if (nic.has("card"))
      vertex.guid = nic["card"].nonEmptyString();
    if (nic.has("port"))
      vertex.port = nic["port"].integer(0, 1000);
    if (!nic.has("near"))
      continue;
    if (reader.has("pcie"))
      return nic["near"].fail("'pcie' already determines the devices near a "
                              "NIC; remove 'near' or 'pcie'");
    for (const Reader &device : nic["near"].elements())
      near.back().push_back(
          device.integer(0, static_cast<int64_t>(devices.size()) - 1));
  }
}

/// Connects NICs and devices if the file has no PCIe tree. Each NIC gets a PCIe
/// switch. The switch connects the NIC to the devices near it, at the bandwidth
/// of the NIC. A device may be near several NICs.
void NodeReader::attachNICs() {
  int64_t numDevices = devices.size(), numNICs = nics.size();
  if (llvm::all_of(near, [](const auto &list) { return list.empty(); })) {
    // The file has no `near`. Assign devices to NICs evenly. For example, with
    // 8 devices and 4 NICs, devices 0 and 1 share NIC 0; with 4 devices and 8
    // NICs, device 0 gets NICs 0 and 1.
    for (int64_t i = 0; i < std::max(numDevices, numNICs); ++i)
      near[numNICs <= numDevices ? i * numNICs / numDevices : i].push_back(
          numNICs <= numDevices ? i : i * numDevices / numNICs);
  }
  for (auto [i, nic] : llvm::enumerate(nics)) {
    double bandwidth = kind.graph.vertices[nic].portBandwidth;
    Vertex vertex;
    vertex.kind = VertexKind::PCIeSwitch;
    vertex.name = "pcie switch " + std::to_string(i);
    uint32_t center = kind.graph.addVertex(std::move(vertex));
    kind.graph.connect(nic, center, LinkKind::PCIe, bandwidth);
    for (int64_t device : near[i])
      kind.graph.connect(devices[device], center, LinkKind::PCIe, bandwidth);
  }
}

//===----------------------------------------------------------------------===//
// The PCIe tree
//===----------------------------------------------------------------------===//

/// Returns the bandwidth that NCCL assumes for `width` lanes of a PCIe
/// generation, in bytes/s. The overhead of the protocol is already subtracted.
static double pcieBandwidth(int64_t generation, int64_t width) {
  return 3e9 * static_cast<double>(int64_t(1) << (generation - 1)) *
         static_cast<double>(width) / 16;
}

static CPUVendor readVendor(const Reader &reader) {
  std::string name = reader.string();
  if (name == "intel")
    return CPUVendor::Intel;
  if (name == "amd")
    return CPUVendor::AMD;
  if (name == "arm")
    return CPUVendor::ARM;
  if (name == "power")
    return CPUVendor::Power;
  if (name != "other" && reader.isString())
    reader.fail("unknown vendor '" + name +
                "' (one of intel, amd, arm, power, other)");
  return CPUVendor::Other;
}

/// Returns the bandwidth that NCCL assumes between two CPUs, in bytes/s.
static double socketBandwidth(CPUVendor vendor, uint32_t model) {
  constexpr uint32_t skylake = 0x55, sapphireRapids = 0x8f,
                     emeraldRapids = 0xcf;
  switch (vendor) {
  case CPUVendor::Intel:
    return (model >= emeraldRapids    ? 40
            : model >= sapphireRapids ? 22
            : model >= skylake        ? 10
                                      : 6) *
           1e9;
  case CPUVendor::AMD:
    return 16e9;
  case CPUVendor::Power:
    return 32e9;
  case CPUVendor::ARM:
  case CPUVendor::Other:
    return 6e9;
  }
  return 6e9;
}

NodeReader::PCIeLink NodeReader::readLinkBelow(const Reader &where,
                                               PCIeLink inherited) {
  if (where.has("generation"))
    inherited.generation = where["generation"].integer(1, 7);
  if (where.has("width"))
    inherited.width = where["width"].integer(1, 64);
  return inherited;
}

Branch NodeReader::readBranch(const Reader &where, PCIeLink below, bool isCPU) {
  if (isCPU)
    where.expectKeys({"vendor", "model", "generation", "width",
                      "device_link_gbps", "devices", "nics", "switches",
                      "copies"});
  else
    where.expectKeys({"generation", "width", "device_link_gbps", "devices",
                      "nics", "switches", "copies"});
  Branch branch(where);
  if (where.has("vendor"))
    branch.vendor = readVendor(where["vendor"]);
  if (where.has("model"))
    branch.model = where["model"].integer(0, 65535);
  below = readLinkBelow(where, below);
  branch.bandwidth = pcieBandwidth(below.generation, below.width);
  branch.deviceBandwidth = where.has("device_link_gbps")
                               ? readBandwidth(where, "device_link_gbps")
                               : branch.bandwidth;
  auto readNumbers = [&](StringRef key, std::vector<int64_t> &numbers) {
    if (where.has(key))
      for (const Reader &number : where[key].elements())
        numbers.push_back(number.integer(0, maxDevicesPerNode - 1));
  };
  readNumbers("devices", branch.devices);
  readNumbers("nics", branch.nics);
  branch.numDevices = branch.devices.size();
  branch.numNICs = branch.nics.size();
  if (where.has("copies"))
    branch.copies = where["copies"].integer(1, maxDevicesPerNode);
  if (where.has("switches"))
    for (const Reader &child : where["switches"].elements()) {
      branch.switches.push_back(readBranch(child, below, /*isCPU=*/false));
      const Branch &added = branch.switches.back();
      branch.numDevices += added.copies * added.numDevices;
      branch.numNICs += added.copies * added.numNICs;
      // Limit the numbers to avoid an overflow. The limit is above
      // `maxDevicesPerNode`, so that `attach` still refuses such a file.
      branch.numDevices = std::min(branch.numDevices, 2 * maxDevicesPerNode);
      branch.numNICs = std::min(branch.numNICs, 2 * maxDevicesPerNode);
    }
  return branch;
}

bool NodeReader::attach(const Branch &branch, uint32_t vertex,
                        ArrayRef<uint32_t> children, std::vector<bool> &taken,
                        int64_t number, StringRef what, double bandwidth) {
  if (number >= static_cast<int64_t>(children.size())) {
    branch.where.fail("there is no " + what + " " + Twine(number) +
                      "; the node has " + Twine(children.size()));
    return false;
  }
  if (taken[number]) {
    branch.where.fail(what + " " + Twine(number) +
                      " is placed twice in the PCIe tree");
    return false;
  }
  taken[number] = true;
  kind.graph.connect(children[number], vertex, LinkKind::PCIe, bandwidth);
  return true;
}

/// Connects one copy of the components below `branch` to `vertex`. The numbers
/// of devices in this copy are the numbers in the file plus `device`, and the
/// numbers of NICs are the numbers in the file plus `nic`. Returns false after
/// an error.
bool NodeReader::addBranch(const Branch &branch, uint32_t vertex,
                           int64_t device, int64_t nic) {
  for (int64_t number : branch.devices)
    if (!attach(branch, vertex, devices, placedDevices, number + device,
                "device", branch.deviceBandwidth))
      return false;
  for (int64_t number : branch.nics)
    if (!attach(branch, vertex, nics, placedNICs, number + nic, "nic",
                branch.bandwidth))
      return false;
  for (const Branch &child : branch.switches)
    for (int64_t copy = 0; copy < child.copies; ++copy) {
      if (kind.graph.vertices.size() >= maxVertices) {
        child.where.fail("the PCIe tree has too many switches");
        return false;
      }
      Vertex center;
      center.kind = VertexKind::PCIeSwitch;
      center.name = "pcie switch " + std::to_string(kind.graph.vertices.size());
      uint32_t added = kind.graph.addVertex(std::move(center));
      kind.graph.connect(added, vertex, LinkKind::PCIe, branch.bandwidth);
      if (!addBranch(child, added, device + copy * child.numDevices,
                     nic + copy * child.numNICs))
        return false;
    }
  return true;
}

void NodeReader::linkSockets(const Reader &pcie) {
  double given =
      pcie.has("socket_gbps") ? readBandwidth(pcie, "socket_gbps") : 0;
  if (pcie.has("sockets_linked") && !pcie["sockets_linked"].boolean())
    return;
  for (size_t i = 0; i < cpus.size(); ++i)
    for (size_t j = i + 1; j < cpus.size(); ++j) {
      const Vertex &a = kind.graph.vertices[cpus[i]],
                   &b = kind.graph.vertices[cpus[j]];
      double slower = std::min(socketBandwidth(a.vendor, a.model),
                               socketBandwidth(b.vendor, b.model));
      kind.graph.connect(cpus[i], cpus[j], LinkKind::Socket,
                         given > 0 ? given : slower);
    }
}

void NodeReader::readPCIe(const Reader &pcie) {
  pcie.expectKeys(
      {"generation", "width", "socket_gbps", "sockets_linked", "cpus"});
  PCIeLink below = readLinkBelow(pcie, {3, 16});
  placedDevices.resize(devices.size());
  placedNICs.resize(nics.size());
  for (const Reader &entry : pcie["cpus"].elements()) {
    Branch branch = readBranch(entry, below, /*isCPU=*/true);
    if (static_cast<int64_t>(cpus.size()) + branch.copies > maxCPUsPerNode)
      return entry.fail("more than " + Twine(maxCPUsPerNode) +
                        " CPUs in a node");
    for (int64_t copy = 0; copy < branch.copies; ++copy) {
      Vertex cpu;
      cpu.kind = VertexKind::CPU;
      cpu.index = cpus.size();
      cpu.name = "cpu " + std::to_string(cpu.index);
      cpu.vendor = branch.vendor;
      cpu.model = branch.model;
      cpus.push_back(kind.graph.addVertex(std::move(cpu)));
      if (!addBranch(branch, cpus.back(), copy * branch.numDevices,
                     copy * branch.numNICs))
        return;
    }
  }
  linkSockets(pcie);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

NodeKind NodeReader::read() {
  reader.expectKeys({"source", "devices", "nvlink", "pcie", "nics", "gpudirect",
                     "host", "collectives"});
  if (reader.has("source"))
    reader["source"].string();
  readDevices();
  if (devices.empty())
    return std::move(kind);
  if (reader.has("nvlink"))
    readNVLink(reader["nvlink"]);
  if (reader.has("nics"))
    readNICs(reader["nics"]);
  if (reader.has("pcie"))
    readPCIe(reader["pcie"]);
  else if (!nics.empty())
    attachNICs();
  if (reader.has("gpudirect") && !reader["gpudirect"].boolean())
    for (uint32_t device : devices)
      kind.graph.vertices[device].directNIC = false;
  if (reader.has("host"))
    kind.host = readLink(reader["host"]);

  Architecture architecture =
      cluster.devices[kind.graph.vertices[devices[0]].type].architecture;
  kind.collectives = defaultConstants(architecture, hasNVLink);
  if (reader.has("collectives") && reader["collectives"].has("like"))
    kind.collectives =
        readLike(reader["collectives"]["like"], kind.collectives);
  if (!switched)
    kind.collectives.inSwitch.reset();
  if (reader.has("collectives")) {
    readConstants(reader["collectives"], kind.collectives);
    if (kind.collectives.inSwitch && !switched)
      reader["collectives"].fail(
          "'in_switch' needs an NVSwitch: give 'switched_links' in 'nvlink'");
  }
  indexDevices(kind);
  if (std::string what = findUnreachable(kind.graph); !what.empty())
    reader.fail(what);
  return std::move(kind);
}

NodeKind proteus::machine::readNodeKind(const Reader &reader, StringRef name,
                                        const Cluster &cluster) {
  return NodeReader(reader, name, cluster).read();
}
