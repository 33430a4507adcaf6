//===- CaseHardware.cpp - clusters of measured runs -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translation of the hardware of a case to a cluster. A case states the name of
// the GPU, the number of GPUs, and the number of GPUs per node. Two texts
// describe the links: `intra_link` those inside a node and `inter_link` the
// network. The GPU determines the links inside a node, unless `intra_link`
// states PCIe. The number and the speed of the network cards follow from
// `inter_link`.
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::validation;

namespace {

/// Package of a GPU. `Any` matches all packages. `DGX2H` is the variant of
/// `SXM3` in the DGX-2H machine; this variant may use more power. `NVL` is a
/// PCIe card; bridges connect two or four such cards, but are not modelled.
enum class Form { Any, SXM, SXM3, DGX2H, PCIe, NVL };

/// A GPU that cases may name, for example "A100-SXM-80GB" or "NVIDIA H100
/// SXM5": the parts of its name, its device in the device library, and the
/// links of a node with such GPUs.
struct KnownGPU {
  StringRef chip; ///< letters and digits of the chip's name, in capitals
  Form form;
  int64_t memoryGB; ///< 0: there is only one size
  StringRef device;
  /// Links between the GPUs of a node, in the syntax of docs/clusters.md;
  /// empty: PCIe only.
  StringRef nvlink;
  unsigned pcieGeneration;
  /// Network of most nodes with such GPUs: the Gbit/s of a card, and the number
  /// of devices that share a card. If `devicesPerCard` is 0, all devices of a
  /// node share one card.
  double cardGbit;
  int64_t devicesPerCard;
};

} // namespace

// Links between the GPUs of a node, in the syntax of docs/clusters.md. The
// rates of NVLinks are those that NCCL assumes, as in the cluster presets.
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

// Every pair of AMD GPUs in a node has a direct link. The constants of
// collectives on AMD GPUs were fitted with 64 GB/s per link of the MI350. A
// link of the MI300 has 5/6 of this rate.
static constexpr StringLiteral meshMI300 = "{link_gbps = 53.3, pairs = all}";
static constexpr StringLiteral meshMI350 = "{link_gbps = 64.0, pairs = all}";

// The A800 and the H800 are export versions of the A100 and the H100. They have
// the same chips but fewer links.
static constexpr StringLiteral switchedA800 =
    "{switched_links = 8, link_gbps = 20.0}";
static constexpr StringLiteral switchedH800 =
    "{switched_links = 8, link_gbps = 20.6}";

/// The first entry that matches the name in a case applies. So a name that
/// begins with another name must come before that name: A10G before A10. If a
/// case does not state the package or the memory size, the first entry of its
/// chip applies.
static constexpr KnownGPU knownGPUs[] = {
    {"GB300", Form::Any, 0, "GB300-288GB", switchedB200, 5, 800, 1},
    {"B300", Form::Any, 0, "B300-SXM6-288GB", switchedB200, 5, 800, 1},
    {"GB200", Form::Any, 0, "GB200-186GB", switchedB200, 5, 400, 1},
    {"B200", Form::Any, 0, "B200-SXM6-180GB", switchedB200, 5, 400, 1},
    {"GH200", Form::Any, 0, "GH200-96GB", switchedH100, 5, 200, 1},
    {"H200", Form::SXM, 0, "H200-SXM5-141GB", switchedH100, 5, 400, 1},
    {"H200", Form::NVL, 0, "H200-NVL-141GB", "", 5, 100, 0},
    {"H800", Form::SXM, 80, "H100-SXM5-80GB", switchedH800, 5, 400, 1},
    {"H100", Form::SXM, 80, "H100-SXM5-80GB", switchedH100, 5, 400, 1},
    {"H100", Form::PCIe, 80, "H100-PCIe-80GB", "", 5, 100, 0},
    {"H100", Form::NVL, 94, "H100-NVL-94GB", "", 5, 100, 0},
    {"H20", Form::Any, 0, "H20-96GB", switchedH100, 5, 400, 1},
    {"A800", Form::SXM, 80, "A100-SXM4-80GB", switchedA800, 4, 200, 1},
    {"A100", Form::SXM, 80, "A100-SXM4-80GB", switchedA100, 4, 200, 1},
    {"A100", Form::SXM, 40, "A100-SXM4-40GB", switchedA100, 4, 200, 1},
    {"A100", Form::PCIe, 80, "A100-PCIe-80GB", "", 4, 100, 0},
    {"A100", Form::PCIe, 40, "A100-PCIe-40GB", "", 4, 100, 0},
    {"V100", Form::SXM, 16, "V100-SXM2-16GB", cubeV100, 3, 100, 2},
    {"V100", Form::SXM, 32, "V100-SXM2-32GB", cubeV100, 3, 100, 2},
    {"V100", Form::SXM3, 32, "V100-SXM3-32GB", switchedV100, 3, 100, 2},
    {"V100", Form::DGX2H, 32, "V100-SXM3-32GB-H", switchedV100, 3, 100, 2},
    {"V100S", Form::PCIe, 32, "V100S-PCIe-32GB", "", 3, 100, 0},
    {"V100", Form::PCIe, 32, "V100-PCIe-32GB", "", 3, 100, 0},
    {"V100", Form::PCIe, 16, "V100-PCIe-16GB", "", 3, 100, 0},
    {"P100", Form::SXM, 16, "P100-SXM2-16GB", cubeP100, 3, 100, 2},
    {"P100", Form::PCIe, 16, "P100-PCIe-16GB", "", 3, 100, 0},
    {"K80", Form::Any, 0, "K80-half", "", 3, 10, 0},
    {"T4", Form::Any, 0, "T4", "", 3, 100, 0},
    {"MI355X", Form::Any, 0, "MI355X-288GB", meshMI350, 5, 400, 1},
    {"MI350X", Form::Any, 0, "MI350X-288GB", meshMI350, 5, 400, 1},
    {"MI325X", Form::Any, 0, "MI325X-256GB", meshMI300, 5, 400, 1},
    {"MI300X", Form::Any, 0, "MI300X-192GB", meshMI300, 5, 400, 1},
    {"P40", Form::Any, 0, "P40", "", 3, 100, 0},
    {"M40", Form::Any, 0, "M40", "", 3, 10, 0},
    {"A30", Form::Any, 0, "A30-24GB", "", 4, 100, 0},
    {"A10G", Form::Any, 0, "A10G", "", 4, 100, 0},
    {"A10", Form::Any, 0, "A10", "", 4, 100, 0},
    {"L40S", Form::Any, 0, "L40S", "", 4, 100, 0},
    {"L40", Form::Any, 0, "L40", "", 4, 100, 0},
    {"A5000", Form::Any, 0, "RTX-A5000", "", 4, 10, 0},
    {"A4000", Form::Any, 0, "RTX-A4000", "", 4, 10, 0},
    {"6000ADA", Form::Any, 0, "RTX-6000-Ada", "", 4, 10, 0},
    {"QUADRORTX6000", Form::Any, 0, "Quadro-RTX-6000", "", 3, 10, 0},
    {"QUADRORTX8000", Form::Any, 0, "Quadro-RTX-8000", "", 3, 10, 0},
    {"TITANRTX", Form::Any, 0, "TITAN-RTX", "", 3, 10, 0},
    {"TITANV", Form::Any, 0, "TITAN-V", "", 3, 10, 0},
    {"2080TI", Form::Any, 0, "RTX-2080Ti", "", 3, 10, 0},
    {"3080", Form::Any, 0, "RTX-3080", "", 4, 10, 0},
    {"5090", Form::Any, 0, "RTX-5090", "", 5, 10, 0},
    {"A6000", Form::Any, 0, "RTX-A6000", "", 4, 10, 0},
    {"A40", Form::Any, 0, "A40", "", 4, 100, 0},
    {"L4", Form::Any, 0, "L4", "", 4, 100, 0},
    {"3090", Form::Any, 0, "RTX-3090", "", 4, 10, 0},
    {"4090", Form::Any, 0, "RTX-4090", "", 4, 10, 0},
    {"TITANXP", Form::Any, 0, "TITAN-Xp", "", 3, 10, 0},
    {"1080TI", Form::Any, 0, "GTX-1080Ti", "", 3, 10, 0},
    {"1080", Form::Any, 0, "GTX-1080", "", 3, 10, 0},
};

/// Returns true if `word` names `chip`: after an optional maker or product
/// line, it begins with the name of the chip, and no digit follows. "RTX3090"
/// names the 3090 and "V100SXM2" the V100. "GH200" does not name the H200, and
/// "A4000" does not name the A40. "V100SXM2" does not name the V100S, because
/// its S is the first letter of the package; "V100S" does not name the V100.
static bool namesChip(StringRef word, StringRef chip) {
  for (StringRef maker : {"NVIDIA", "TESLA", "GEFORCE", "RTX", "GTX"})
    word.consume_front(maker);
  if (!word.consume_front(chip))
    return false;
  bool isForm = chip.ends_with("S") && word.starts_with("XM");
  bool isOther = word.starts_with("S") && !word.starts_with("SXM");
  return word.empty() || (!isDigit(word.front()) && !isForm && !isOther);
}

namespace {
/// An entry of `knownGPUs`. If the case states a memory size that no entry of
/// this GPU has, `memoryGB` holds the size.
struct FoundGPU {
  const KnownGPU *gpu = nullptr;
  std::optional<int64_t> memoryGB;
};
} // namespace

static FoundGPU findGPU(StringRef words, int64_t memoryGB) {
  std::string capitals = words.upper(), letters;
  SmallVector<StringRef> parts;
  for (StringRef rest = capitals; !rest.empty();) {
    StringRef part = rest.take_while(isAlnum);
    if (!part.empty())
      parts.push_back(part);
    rest = rest.drop_front(std::max<size_t>(1, part.size()));
  }
  // Also search the name without its spaces, to find "TITANXP" in "TITAN Xp".
  letters = join(parts, "");
  StringRef name = letters;
  parts.push_back(name);
  Form form = name.contains("PCIE")    ? Form::PCIe
              : name.contains("DGX2H") ? Form::DGX2H
              : name.contains("SXM3")  ? Form::SXM3
              : name.contains("SXM")   ? Form::SXM
              : name.contains("NVL")   ? Form::NVL
                                       : Form::Any;
  SmallVector<StringRef> found;
  if (Regex("([0-9]+) ?Gi?B").match(words, &found))
    found[1].getAsInteger(10, memoryGB);
  FoundGPU other;
  for (const KnownGPU &gpu : knownGPUs) {
    if (!any_of(parts,
                [&](StringRef part) { return namesChip(part, gpu.chip); }) ||
        (form != Form::Any && gpu.form != Form::Any && form != gpu.form))
      continue;
    if (memoryGB == 0 || gpu.memoryGB == 0 || memoryGB == gpu.memoryGB)
      return {&gpu, std::nullopt};
    if (!other.gpu)
      other = {&gpu, memoryGB};
  }
  return other;
}

/// Returns the links between the GPUs of a node with `devices` devices, in the
/// syntax of docs/clusters.md.
static std::string linksOf(const KnownGPU &gpu, int64_t devices) {
  if (gpu.nvlink == cubeV100 && devices == 4)
    return pairsV100.str();
  if (gpu.nvlink != cubeV100 && gpu.nvlink != cubeP100 &&
      gpu.nvlink != meshMI300 && gpu.nvlink != meshMI350)
    return gpu.nvlink.str();
  // V100 nodes with more than 8 devices are of the type DGX-2, which has
  // switches.
  if (gpu.nvlink == cubeV100 && devices > 8)
    return switchedV100.str();
  std::string pairs;
  auto add = [&](const Twine &pair) {
    pairs += ((pairs.empty() ? "" : ", ") + pair).str();
  };
  auto [before, rest] = gpu.nvlink.split("pairs = ");
  if (rest.starts_with("all"))
    for (int64_t a = 0; a < devices; ++a)
      for (int64_t b = a + 1; b < devices; ++b)
        add("[" + Twine(a) + ", " + Twine(b) + ", 1]");
  // In a node with fewer than 8 devices, keep the links of the cube between the
  // devices that exist.
  SmallVector<StringRef> found;
  for (Regex pair("\\[([0-9]), ([0-9]), [0-9]\\]"); pair.match(rest, &found);
       rest = rest.substr(found[0].end() - rest.begin()))
    if (found[1].front() - '0' < devices && found[2].front() - '0' < devices)
      add(found[0]);
  return pairs.empty() ? "" : (before + "pairs = [" + pairs + "]}").str();
}

namespace {
/// Sizes of a node, in GPUs. A host is the machine to which the words about the
/// network refer. It is smaller than the node if NVLink connects several hosts.
struct NodeSize {
  int64_t node = 1, host = 1;
};
} // namespace

static NodeSize nodeSizeOf(const json::Reader &h, const KnownGPU &gpu,
                           int64_t gpus, CaseNotes &notes) {
  auto divisorUpTo = [&](int64_t most) {
    int64_t size = std::min(most, gpus);
    while (gpus % size != 0)
      --size;
    return size;
  };
  std::optional<int64_t> stated = countOf(h, "gpus_per_node", 1, 1024);
  // Hosts with GB200 or GB300 are trays of four GPUs. NVLink connects all trays
  // of a rack, so a rack counts as one node.
  constexpr int64_t rack = 72, tray = 4;
  if (gpu.chip.starts_with("GB") && (!stated || *stated <= tray) &&
      gpus > tray) {
    int64_t size = divisorUpTo(rack);
    notes.assumed.push_back(std::to_string(size) +
                            " GPUs are linked by NVLink, in racks of " +
                            std::to_string(rack));
    return {size, stated.value_or(tray)};
  }
  if (stated)
    return {*stated, *stated};
  int64_t size = divisorUpTo(8);
  notes.assumed.push_back("the size of nodes is not stated: they have " +
                          std::to_string(size) + " GPUs");
  return {size, size};
}

/// Returns true if only PCIe connects the GPUs of a node, because the GPU has
/// no NVLink, or because the text `links` states PCIe and no NVLink.
static bool isLinkedByPCIe(const KnownGPU &gpu, StringRef links) {
  if (gpu.nvlink.empty())
    return true;
  return links.contains_insensitive("pcie") &&
         (links.contains_insensitive("no nvlink") ||
          !links.contains_insensitive("nv"));
}

/// Returns the PCIe part of a node, in the syntax of docs/clusters.md. The node
/// has two sockets, each with half of the devices and of the network cards.
static std::string pcieOf(const KnownGPU &gpu, int64_t devices, int64_t cards) {
  auto list = [](int64_t first, int64_t last) {
    std::string text;
    for (int64_t i = first; i < last; ++i)
      text += (i > first ? ", " : "") + std::to_string(i);
    return text;
  };
  // The vendor determines the speed of the link between the sockets. Most GPU
  // hosts with PCIe 3 had Intel processors. The first GPU hosts with PCIe 4 and
  // 5 had AMD processors, which have faster links between the sockets.
  StringRef host = gpu.pcieGeneration >= 4 ? "vendor = \"amd\""
                                           : "vendor = \"intel\", model = 85";
  auto socket = [&](int64_t first, int64_t last, int64_t firstCard,
                    int64_t lastCard) {
    std::string text = formatv("{0}, devices = [{1}]", host, list(first, last));
    if (firstCard < lastCard)
      text += formatv(", nics = [{0}]", list(firstCard, lastCard));
    return "{" + text + "}";
  };
  int64_t half = devices / 2, cardsOfFirst = (cards + 1) / 2;
  return formatv("{{generation = {0}, width = 16, cpus = [{1}, {2}]}",
                 gpu.pcieGeneration, socket(0, half, 0, cardsOfFirst),
                 socket(half, devices, cardsOfFirst, cards))
      .str();
}

Expected<std::string> proteus::validation::clusterOfCase(const json::Reader &h,
                                                         int64_t gpus,
                                                         CaseNotes &notes) {
  std::string name = h["gpu"].string();
  auto wordsOf = [&](StringRef key) {
    return hasValue(h, key) ? h[key].string() : std::string();
  };
  std::string inside = wordsOf("intra_link"), outside = wordsOf("inter_link");
  int64_t memoryGB =
      hasValue(h, "gpu_mem_GB") && h["gpu_mem_GB"].isNumber()
          ? static_cast<int64_t>(h["gpu_mem_GB"].nonNegative(1e6))
          : 0;
  auto [gpu, otherMemory] = findGPU(name, memoryGB);
  if (!gpu)
    return createStringError("the GPU '" + name + "' is not known");
  notes.device = gpu->device.str();
  if (otherMemory)
    notes.assumed.push_back("'" + name + "' is " + gpu->device.str() +
                            " with " + std::to_string(*otherMemory) + " GB");
  NodeSize size = nodeSizeOf(h, *gpu, gpus, notes);
  int64_t perNode = size.node;
  bool isPCIe = isLinkedByPCIe(*gpu, inside);
  int64_t nodes = (gpus + perNode - 1) / perNode;
  if (nodes > 1 && gpus % perNode != 0)
    notes.assumed.push_back("the last of " + std::to_string(nodes) +
                            " nodes has " + std::to_string(gpus % perNode) +
                            " of its " + std::to_string(perNode) +
                            " GPUs in use");
  // A job on a single node may use only some of its GPUs, for example 2 of 8.
  // So assume that this node has at least 8 devices, and let the job use all
  // links of the node.
  int64_t devices = gpus > perNode ? perNode : std::max<int64_t>(perNode, 8);
  std::string nvlink = isPCIe ? "" : linksOf(*gpu, devices);
  std::string node = formatv("devices = {0}", devices);
  if (!nvlink.empty())
    node += formatv(", nvlink = {0}", nvlink);
  int64_t cards = 0;
  if (gpus > perNode) {
    Network usual{gpu->devicesPerCard > 0
                      ? std::max<int64_t>(1, size.host / gpu->devicesPerCard)
                      : 1,
                  gpu->cardGbit};
    Network network = networkOfWords(outside, size.host, usual, notes);
    // A host has at most two cards per GPU. More cards are those of the rack.
    // A part of a host has its share of the cards, rounded up.
    cards = network.cards > 2 * size.host
                ? network.cards
                : (network.cards * perNode + size.host - 1) / size.host;
    node += formatv(", nics = {{count = {0}, speed_gbit = {1}}", cards,
                    formatv("{0:f2}", network.gbit).str());
  }
  // Collectives in a rack have fitted constants, as in the cluster presets.
  if (gpu->chip.starts_with("GB"))
    node += ", collectives = {like = \"blackwell-nvl72\"}";
  if (isPCIe && devices > 1)
    node += ", pcie = " + pcieOf(*gpu, devices, cards);
  std::string device = "\"" + gpu->device.str() + "\"";
  if (otherMemory)
    device = formatv("{{like = {0}, memory_gb = {1}}", device, *otherMemory);
  return formatv("{{name = \"{0}\", device = {1}, node = {{{2}}, nodes = {3}}",
                 gpu->device, device, node, nodes)
      .str();
}
