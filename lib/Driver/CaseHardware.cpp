//===- CaseHardware.cpp - clusters of measured runs -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case names a GPU, how many of them are in a node and in all, and describes
// links in words. The GPU decides what connects a node; words say whether it is
// PCIe instead, and how many network cards of which speed a node has.
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

namespace {

/// A GPU as cases call it, the device file, and what connects a node of it.
struct KnownGPU {
  StringRef name;
  StringRef device;
  StringRef nvlink; ///< of a node; empty: PCIe only
  unsigned pcieGeneration;
};

} // namespace

// Rates of links are those that NCCL counts, as in the presets.
static constexpr StringLiteral switchedA100 =
    "{switched_links = 12, link_gbps = 20.0}";
static constexpr StringLiteral switchedH100 =
    "{switched_links = 18, link_gbps = 20.6}";
static constexpr StringLiteral switchedB200 =
    "{switched_links = 18, link_gbps = 40.1}";
static constexpr StringLiteral switchedV100 =
    "{switched_links = 6, link_gbps = 22.0}";
static constexpr StringLiteral cubeV100 =
    "{link_gbps = 22.0, pairs = [[0, 1, 1], [0, 2, 1], [0, 3, 2], [0, 4, 2], "
    "[1, 2, 2], [1, 3, 1], [1, 5, 2], [2, 3, 2], [2, 6, 1], [3, 7, 1], "
    "[4, 5, 1], [4, 6, 1], [4, 7, 2], [5, 6, 2], [5, 7, 1], [6, 7, 2]]}";
static constexpr StringLiteral cubeP100 =
    "{link_gbps = 18.0, pairs = [[0, 1, 1], [0, 2, 1], [0, 3, 1], [0, 4, 1], "
    "[1, 2, 1], [1, 3, 1], [1, 5, 1], [2, 3, 1], [2, 6, 1], [3, 7, 1], "
    "[4, 5, 1], [4, 6, 1], [4, 7, 1], [5, 6, 1], [5, 7, 1], [6, 7, 1]]}";
static constexpr StringLiteral pairsV100 =
    "{link_gbps = 22.0, pairs = [[0, 1, 2], [0, 2, 2], [0, 3, 2], [1, 2, 2], "
    "[1, 3, 2], [2, 3, 2]]}";

static constexpr KnownGPU knownGPUs[] = {
    {"GB200", "GB200-186GB", switchedB200, 5},
    {"B200-SXM", "B200-SXM6-180GB", switchedB200, 5},
    {"H200-SXM", "H200-SXM5-141GB", switchedH100, 5},
    {"H100-SXM-80GB", "H100-SXM5-80GB", switchedH100, 5},
    {"H100-PCIe-80GB", "H100-PCIe-80GB", "", 5},
    {"A100-SXM-80GB", "A100-SXM4-80GB", switchedA100, 4},
    {"A100-SXM-40GB", "A100-SXM4-40GB", switchedA100, 4},
    {"A100-PCIe-80GB", "A100-PCIe-80GB", "", 4},
    {"V100-SXM3-32GB", "V100-SXM3-32GB", switchedV100, 3},
    {"V100-SXM3-32GB (DGX-2H 450W)", "V100-SXM3-32GB", switchedV100, 3},
    {"V100-SXM2-32GB", "V100-SXM2-32GB", cubeV100, 3},
    {"V100-SXM2-16GB", "V100-SXM2-16GB", cubeV100, 3},
    {"P100-SXM2-16GB", "P100-SXM2-16GB", cubeP100, 3},
    {"K80 (half board)", "K80-half", "", 3},
    {"RTX3090", "RTX-3090", "", 4},
    {"RTX4090", "RTX-4090", "", 4},
    {"RTX-A6000", "RTX-A6000", "", 4},
};

namespace {
struct Network {
  int64_t cards = 0;
  double gbit = 0; ///< of each
};
} // namespace

/// "4x 100 Gb/s ...", "800 Gb/s per node total ...", "measured ~40-57 Gb/s".
static Expected<Network> parseNetwork(StringRef words) {
  SmallVector<StringRef> found;
  int64_t cards = 0;
  double speed = 0;
  if (Regex("([0-9]+) ?x ?([0-9]+) Gb/s").match(words, &found) &&
      !found[1].getAsInteger(10, cards) && !found[2].getAsDouble(speed))
    return Network{cards, speed};
  if (Regex("([0-9]+) Gb/s per node").match(words, &found) &&
      !found[1].getAsDouble(speed))
    return Network{8, speed / 8};
  double low = 0, high = 0;
  if (Regex("([0-9]+)-([0-9]+) Gb/s").match(words, &found) &&
      !found[1].getAsDouble(low) && !found[2].getAsDouble(high))
    return Network{1, (low + high) / 2};
  // Where measured collectives are said to be known instead, the usual network
  // of such nodes.
  if (words.contains("measured collectives"))
    return Network{8, 400};
  return createStringError("the network '" + words +
                           "' says neither cards nor their speed (\"4x 100 "
                           "Gb/s\")");
}

Expected<std::string> proteus::driver::clusterOfCase(const json::Reader &h) {
  std::string name = h["gpu"].string();
  int64_t gpus = h["gpus"].integer(1, 1000000);
  int64_t perNode = h["gpus_per_node"].integer(1, 1024);
  std::string inside = h["intra_link"].string();
  std::string outside = h["inter_link"].string();
  const KnownGPU *gpu = llvm::find_if(
      knownGPUs, [&](const KnownGPU &known) { return known.name == name; });
  if (gpu == std::end(knownGPUs))
    return createStringError("the GPU '" + name + "' is not known");
  bool isPCIe = gpu->nvlink.empty() || StringRef(inside).starts_with("PCIe");
  if (gpus > perNode && gpus % perNode != 0)
    return createStringError(Twine(gpus) + " GPUs are not whole nodes of " +
                             Twine(perNode));
  // Those who use a part of a node have the links of the whole.
  int64_t devices = gpus > perNode ? perNode : std::max<int64_t>(perNode, 8);
  StringRef nvlink = gpu->nvlink;
  if (!isPCIe && devices == 4 && nvlink == cubeV100)
    nvlink = pairsV100;
  if (!isPCIe && (nvlink == cubeV100 || nvlink == cubeP100) && devices != 8)
    return createStringError("nodes of " + Twine(devices) + " " + name +
                             " are not known");
  std::string node = formatv("devices = {0}", devices);
  if (!isPCIe)
    node += formatv(", nvlink = {0}", nvlink);
  int64_t half = devices / 2;
  auto list = [](int64_t first, int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += (i ? ", " : "") + std::to_string(first + i);
    return text;
  };
  // Hosts of PCIe 3 were Intel's; those that first had PCIe 4 and 5 in such
  // machines AMD's, whose sockets are linked faster.
  StringRef host = gpu->pcieGeneration >= 4 ? "vendor = \"amd\""
                                            : "vendor = \"intel\", model = 85";
  if (isPCIe && devices > 1)
    node += formatv(", pcie = {{generation = {0}, width = 16, cpus = "
                    "[{{{1}, devices = [{2}]}, {{{1}, devices = [{3}]}]}",
                    gpu->pcieGeneration, host, list(0, half),
                    list(half, devices - half));
  if (gpus > perNode) {
    Expected<Network> network = parseNetwork(outside);
    if (!network)
      return network.takeError();
    node += formatv(", nics = {{count = {0}, speed_gbit = {1}}", network->cards,
                    formatv("{0:f2}", network->gbit).str());
  }
  std::string device = "\"" + gpu->device.str() + "\"";
  return formatv("{{name = \"{0}\", device = {1}, node = {{{2}}, nodes = {3}}",
                 gpu->device, device, node,
                 std::max<int64_t>(1, gpus / perNode))
      .str();
}
