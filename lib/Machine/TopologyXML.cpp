//===- TopologyXML.cpp - reader of NCCL topology dumps --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dump (NCCL_TOPO_DUMP_FILE) is a tree of CPUs, PCIe switches below the CPUs,
// and GPUs and NICs below the switches. An NVLink is listed by the GPUs at both
// of its ends. Speeds are converted to the bandwidths that NCCL 2.10.3 assumes
// for them, so that the ring search finds the rings of NCCL. NVLinks of compute
// capability 9.0 and later have the bandwidths of NCCL 2.30.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <cstring>
#include <map>
#include <pugixml.hpp>

using namespace llvm;
using namespace proteus::machine;

// Limits that no real machine reaches. They bound the time to read a wrong or
// hostile file.
static constexpr size_t maxTextBytes = 16 << 20;
static constexpr size_t maxVertices = 4096;
static constexpr unsigned maxDepth = 32;
static constexpr size_t maxCPUs = 64;
static constexpr int64_t maxNumber = 1 << 20;
static constexpr int64_t maxNVLinksPerEntry = 1024;
static constexpr int64_t maxPortMegabits = 100000000; // 100 Tb/s

static constexpr uint32_t noVertex = ~0u;
static constexpr double gigabyte = 1e9;
/// Values for a file without speeds. A bus is then a PCIe 3.0 x16 slot:
/// `unknownLaneRate` is the bandwidth of 80 lanes in GB/s, so 16 lanes have 12
/// GB/s.
static constexpr double unknownLaneRate = 60;
static constexpr int64_t unknownLanes = 16;
static constexpr int64_t unknownPortMegabits = 10000;
static constexpr StringRef nvSwitchClass = "0x068000";

/// Returns the bandwidth, in GB/s, of one NVLink in one direction, for a GPU of
/// the compute capability `capability` (70, 80, 90, ...).
static double nvlinkRate(uint32_t capability) {
  if (capability >= 100)
    return 40.1;
  if (capability >= 90)
    return 20.6;
  if (capability == 86)
    return 12;
  return capability >= 70 ? 22 : 18;
}

/// Returns the bandwidth between two CPUs of the kind of `cpu`, in GB/s.
static double socketRate(const Vertex &cpu) {
  constexpr uint32_t skylake = 0x55;
  switch (cpu.vendor) {
  case CPUVendor::Intel:
    return cpu.model >= skylake ? 9 : 6;
  case CPUVendor::AMD:
    return 16;
  case CPUVendor::Power:
    return 32;
  case CPUVendor::ARM:
  case CPUVendor::Other:
    return 6;
  }
  return 6;
}

namespace {
class TopologyReader {
public:
  TopologyReader(StringRef text, StringRef source)
      : text(text), source(source) {}

  Expected<NodeGraph> read();

private:
  void readCPU(pugi::xml_node node);
  void readPCI(pugi::xml_node node, uint32_t parent, unsigned depth);
  void readGPU(pugi::xml_node node, const std::string &bus, uint32_t parent,
               double bandwidth);
  void readNIC(pugi::xml_node node, const std::string &bus, uint32_t parent,
               double bandwidth);
  void readNVLinks(pugi::xml_node gpu, uint32_t device);
  void connectSockets();
  void connectNVLinks();
  void numberDevices();
  void numberNICs();

  uint32_t add(pugi::xml_node node, Vertex vertex);
  double busBandwidth(pugi::xml_node node);

  // Readers of attributes. On an error, `required` returns an empty string and
  // `integer` returns `min`. If the attribute is absent, `integer` returns
  // `missing`; without `missing`, this is an error.
  std::string required(pugi::xml_node node, const char *name);
  int64_t integer(pugi::xml_node node, const char *name, int64_t min,
                  int64_t max, std::optional<int64_t> missing = std::nullopt);

  void fail(pugi::xml_node node, const Twine &message);
  std::string where(pugi::xml_node node) const;
  std::string where(ptrdiff_t offset) const;

  StringRef text, source;
  NodeGraph graph;
  std::string error; ///< the first error

  /// An `nvlink` element of a GPU: `count` NVLinks to another GPU or to a
  /// switch.
  struct Bridge {
    uint32_t device;
    std::string target; ///< bus id of the other end; empty for a switch
    int64_t count;
    pugi::xml_node node;
  };
  // Vertices by bus id, by the attribute `dev` of GPUs, and by the attribute
  // `dev` of NICs.
  std::map<std::string, uint32_t> byBus;
  std::map<int64_t, uint32_t> byDev, byNetDev;
  std::vector<uint32_t> cpus;
  std::vector<Bridge> bridges;
  bool everyPortDirect = true; ///< true if all ports support GPUDirect
};
} // namespace

std::string TopologyReader::where(ptrdiff_t offset) const {
  StringRef before = text.take_front(std::max<ptrdiff_t>(offset, 0));
  return (source + ":" + Twine(before.count('\n') + 1)).str();
}

std::string TopologyReader::where(pugi::xml_node node) const {
  return where(node.offset_debug());
}

void TopologyReader::fail(pugi::xml_node node, const Twine &message) {
  if (error.empty())
    error = (where(node) + ": " + message).str();
}

std::string TopologyReader::required(pugi::xml_node node, const char *name) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute || !*attribute.value()) {
    fail(node,
         Twine("'") + node.name() + "' needs the attribute '" + name + "'");
    return "";
  }
  return attribute.value();
}

int64_t TopologyReader::integer(pugi::xml_node node, const char *name,
                                int64_t min, int64_t max,
                                std::optional<int64_t> missing) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (missing && !attribute)
    return *missing;
  std::string value = required(node, name);
  int64_t number = 0;
  if (!error.empty())
    return min;
  if (StringRef(value).getAsInteger(10, number) || number < min ||
      number > max) {
    fail(node, Twine("attribute '") + name + "' of '" + node.name() +
                   "' must be a whole number from " + Twine(min) + " to " +
                   Twine(max) + ", got '" + value + "'");
    return min;
  }
  return number;
}

uint32_t TopologyReader::add(pugi::xml_node node, Vertex vertex) {
  if (graph.vertices.size() >= maxVertices) {
    fail(node, "more than " + Twine(maxVertices) +
                   " CPUs, switches, GPUs and NICs in one node");
    return 0;
  }
  return graph.addVertex(std::move(vertex));
}

/// Returns the bandwidth, in bytes/s, of the slot of a 'pci' element. If a
/// system does not report the slot, its dump has an empty speed and the width
/// 0. Both then have default values.
double TopologyReader::busBandwidth(pugi::xml_node node) {
  int64_t lanes = integer(node, "link_width", 0, 64, 0);
  if (lanes == 0)
    lanes = unknownLanes;
  double laneRate = unknownLaneRate;
  StringRef speed = StringRef(node.attribute("link_speed").value()).trim();
  if (!speed.empty()) {
    // Transfer rates in GT/s, and the bandwidth of 80 lanes at each rate in
    // GB/s. Files contain rates such as "8 GT/s" or "16.0 GT/s PCIe".
    static constexpr std::pair<double, double> rates[] = {
        {2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}};
    auto [amount, unit] = speed.split(' ');
    double transfers = 0;
    bool known = unit.starts_with("GT/s") && !amount.getAsDouble(transfers);
    const auto *rate = llvm::find_if(
        rates, [&](const auto &entry) { return entry.first == transfers; });
    if (!known || rate == std::end(rates)) {
      fail(node, "link_speed must be empty or 2.5, 5, 8, 16, 32 or 64 GT/s, "
                 "got '" +
                     speed + "'");
      return gigabyte;
    }
    laneRate = rate->second;
  }
  return lanes * laneRate / 80 * gigabyte;
}

void TopologyReader::readCPU(pugi::xml_node node) {
  if (cpus.size() >= maxCPUs)
    return fail(node, "more than " + Twine(maxCPUs) + " CPUs in one node");
  Vertex cpu;
  cpu.kind = VertexKind::CPU;
  cpu.index = cpus.size();
  cpu.name = "cpu " + std::to_string(cpu.index);
  integer(node, "numaid", -1, maxNumber, -1);
  integer(node, "familyid", 0, maxNumber, 0);
  cpu.model = integer(node, "modelid", 0, maxNumber, 0);
  StringRef arch = node.attribute("arch").value();
  StringRef vendor = node.attribute("vendor").value();
  if (arch == "arm64" || arch == "aarch64")
    cpu.vendor = CPUVendor::ARM;
  else if (arch.starts_with("ppc"))
    cpu.vendor = CPUVendor::Power;
  else if (vendor == "GenuineIntel")
    cpu.vendor = CPUVendor::Intel;
  else if (vendor == "AuthenticAMD")
    cpu.vendor = CPUVendor::AMD;
  uint32_t vertex = add(node, std::move(cpu));
  cpus.push_back(vertex);
  for (pugi::xml_node child : node.children()) {
    StringRef name = child.name();
    if (name == "pci")
      readPCI(child, vertex, 1);
    else if (name == "nic")
      readNIC(child, "", vertex,
              unknownLanes * unknownLaneRate / 80 * gigabyte);
    else if (child.type() == pugi::node_element)
      fail(child, "element '" + name + "' below 'cpu' is not modelled");
    if (!error.empty())
      return;
  }
}

void TopologyReader::readPCI(pugi::xml_node node, uint32_t parent,
                             unsigned depth) {
  if (depth > maxDepth)
    return fail(node, "PCIe switches are nested more than " + Twine(maxDepth) +
                          " deep");
  std::string bus = required(node, "busid");
  double bandwidth = busBandwidth(node);
  if (!error.empty())
    return;
  if (auto known = byBus.find(bus); known != byBus.end())
    return fail(node, "bus id '" + bus + "' is used twice");
  uint32_t &vertexOfBus = byBus[bus] = noVertex;
  uint32_t next = graph.vertices.size();

  pugi::xml_node gpu = node.child("gpu"), nic = node.child("nic");
  if (gpu)
    readGPU(gpu, bus, parent, bandwidth);
  else if (nic)
    readNIC(nic, bus, parent, bandwidth);
  uint32_t self = parent;
  if (!gpu && !nic) {
    Vertex vertex;
    vertex.kind = VertexKind::PCIeSwitch;
    vertex.name = "pcie switch " + bus;
    self = add(node, std::move(vertex));
    if (!error.empty())
      return;
    graph.connect(self, parent, LinkKind::PCIe, bandwidth);
  }
  if (graph.vertices.size() > next)
    vertexOfBus = next;
  for (pugi::xml_node child : node.children()) {
    if (!error.empty())
      return;
    StringRef name = child.name();
    if (name == "pci" && self != parent)
      readPCI(child, self, depth + 1);
    else if (child.type() == pugi::node_element && child != gpu && child != nic)
      fail(child, "element '" + name +
                      "' beside or below this 'pci' element "
                      "is not modelled");
  }
}

void TopologyReader::readGPU(pugi::xml_node node, const std::string &bus,
                             uint32_t parent, double bandwidth) {
  Vertex device;
  device.kind = VertexKind::Device;
  device.name = "gpu " + bus;
  int64_t dev = integer(node, "dev", 0, maxNumber);
  device.computeCapability = integer(node, "sm", 1, 10000);
  integer(node, "rank", -1, maxNumber, -1);
  device.directNIC = integer(node, "gdr", 0, 1, 0);
  if (!error.empty())
    return;
  uint32_t vertex = add(node, std::move(device));
  if (!error.empty())
    return;
  if (!byDev.try_emplace(dev, vertex).second)
    return fail(node, "gpu dev " + Twine(dev) + " is used twice");
  graph.connect(vertex, parent, LinkKind::PCIe, bandwidth);
  readNVLinks(node, vertex);
}

void TopologyReader::readNVLinks(pugi::xml_node gpu, uint32_t device) {
  for (pugi::xml_node node : gpu.children()) {
    if (node.type() != pugi::node_element)
      continue;
    if (StringRef(node.name()) != "nvlink")
      return fail(node, Twine("element '") + node.name() +
                            "' below 'gpu' is not modelled");
    std::string kind = required(node, "tclass");
    int64_t count = integer(node, "count", 1, maxNVLinksPerEntry);
    if (!error.empty())
      return;
    if (kind == nvSwitchClass) {
      // All switches are modelled as one, because a device can use all its
      // links to reach any other device.
      bridges.push_back({device, "", count, node});
      continue;
    }
    if (!StringRef(kind).starts_with("0x03"))
      return fail(node, "nvlink to a device of tclass '" + Twine(kind) +
                            "' is not modelled: only GPUs (0x03....) and "
                            "switches (" +
                            nvSwitchClass + ")");
    bridges.push_back({device, required(node, "target"), count, node});
  }
}

void TopologyReader::readNIC(pugi::xml_node node, const std::string &bus,
                             uint32_t parent, double bandwidth) {
  uint32_t card = parent;
  for (pugi::xml_node net : node.children("net")) {
    Vertex port;
    port.kind = VertexKind::NIC;
    int64_t dev = integer(net, "dev", 0, maxNumber);
    StringRef name = net.attribute("name").value();
    port.name = "nic " + (name.empty() ? bus : name.str());
    port.portBandwidth =
        integer(net, "speed", 1, maxPortMegabits, unknownPortMegabits) / 8000. *
        gigabyte;
    port.port = integer(net, "port", 0, maxNumber, 0);
    port.guid = net.attribute("guid").value();
    everyPortDirect &= integer(net, "gdr", 0, 1, 0) == 1;
    integer(net, "maxconn", 1, INT64_MAX, 1);
    if (!error.empty())
      return;
    uint32_t vertex = add(net, std::move(port));
    if (!error.empty())
      return;
    if (!byNetDev.try_emplace(dev, vertex).second)
      return fail(net, "net dev " + Twine(dev) + " is used twice");
    // All ports of a card share the slot of the first port.
    graph.connect(vertex, card, LinkKind::PCIe, bandwidth);
    if (card == parent)
      card = vertex;
  }
}

void TopologyReader::connectSockets() {
  for (size_t i = 0; i < cpus.size(); ++i)
    for (size_t k = i + 1; k < cpus.size(); ++k)
      graph.connect(cpus[i], cpus[k], LinkKind::Socket,
                    socketRate(graph.vertices[cpus[i]]) * gigabyte);
}

void TopologyReader::connectNVLinks() {
  std::optional<uint32_t> nvSwitch;
  std::map<uint32_t, int64_t> toSwitch;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> counts;
  for (const Bridge &bridge : bridges) {
    if (bridge.target.empty()) {
      toSwitch[bridge.device] += bridge.count;
      continue;
    }
    auto target = byBus.find(bridge.target);
    // A dump contains only the GPUs that the process could see. Their links may
    // lead to other GPUs.
    if (target == byBus.end()) {
      graph.remarks.push_back(where(bridge.node) + ": the nvlink to '" +
                              bridge.target +
                              "' is left out: that GPU is not in the file");
      continue;
    }
    if (target->second == noVertex ||
        graph.vertices[target->second].kind != VertexKind::Device)
      return fail(bridge.node,
                  "nvlink target '" + bridge.target + "' is not a GPU");
    if (target->second == bridge.device)
      return fail(bridge.node, "nvlink leads back to its own GPU");
    if (!counts.try_emplace({bridge.device, target->second}, bridge.count)
             .second)
      return fail(bridge.node,
                  "nvlink to '" + bridge.target + "' is listed twice");
  }
  for (const Bridge &bridge : bridges) {
    auto target = byBus.find(bridge.target);
    if (bridge.target.empty() || target == byBus.end())
      continue;
    uint32_t other = target->second;
    auto back = counts.find({other, bridge.device});
    int64_t backCount = back == counts.end() ? 0 : back->second;
    if (backCount != bridge.count)
      return fail(bridge.node, Twine(bridge.count) + " nvlinks lead to '" +
                                   bridge.target + "', but " +
                                   Twine(backCount) +
                                   " come back: both ends must list a link");
    if (bridge.device < other)
      graph.connect(
          bridge.device, other, LinkKind::NVLink,
          bridge.count * gigabyte *
              nvlinkRate(graph.vertices[bridge.device].computeCapability));
  }
  for (auto [device, count] : toSwitch) {
    if (!nvSwitch) {
      Vertex vertex;
      vertex.kind = VertexKind::NVSwitch;
      vertex.name = "nvswitch";
      nvSwitch = graph.addVertex(std::move(vertex));
    }
    graph.connect(device, *nvSwitch, LinkKind::NVLink,
                  count * gigabyte *
                      nvlinkRate(graph.vertices[device].computeCapability));
  }
}

/// Numbers the devices from 0 in the order of their attribute `dev`. Also
/// clears `directNIC` of all devices unless all NIC ports support GPUDirect.
void TopologyReader::numberDevices() {
  uint32_t index = 0;
  for (auto [dev, vertex] : byDev) {
    graph.vertices[vertex].index = index++;
    graph.vertices[vertex].directNIC &= everyPortDirect;
  }
}

void TopologyReader::numberNICs() {
  uint32_t index = 0;
  for (auto [dev, vertex] : byNetDev)
    graph.vertices[vertex].index = index++;
}

Expected<NodeGraph> TopologyReader::read() {
  auto failure = [&] {
    return createStringError(std::errc::invalid_argument, "%s", error.c_str());
  };
  if (text.size() > maxTextBytes) {
    error = (source + ": a topology of more than " + Twine(maxTextBytes >> 20) +
             " MiB")
                .str();
    return failure();
  }
  pugi::xml_document document;
  pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size());
  if (!parsed) {
    error = where(parsed.offset) + ": malformed XML: " + parsed.description();
    return failure();
  }
  pugi::xml_node system = document.child("system");
  if (!system) {
    error = (source + ":1: expected an NCCL topology dump with the root "
                      "element 'system'")
                .str();
    return failure();
  }
  for (pugi::xml_node child : system.children()) {
    if (StringRef(child.name()) == "cpu")
      readCPU(child);
    else if (child.type() == pugi::node_element)
      fail(child, Twine("element '") + child.name() +
                      "' below 'system' is not modelled");
    if (!error.empty())
      return failure();
  }
  if (byDev.empty())
    fail(system, "no 'gpu' element: a node needs at least one device");
  connectSockets();
  connectNVLinks();
  if (!error.empty())
    return failure();
  numberDevices();
  numberNICs();
  graph.name = source.str();
  return std::move(graph);
}

Expected<NodeGraph> proteus::machine::parseTopologyXML(StringRef text,
                                                       StringRef source) {
  return TopologyReader(text, source).read();
}
