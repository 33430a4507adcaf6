//===- RandomCluster.cpp - random clusters ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomCluster.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace proteus::fuzz;
using llvm::formatv;

namespace {

/// Writer of a random cluster as the text of an attribute.
class ClusterWriter {
public:
  explicit ClusterWriter(Random &random) : random(random) {}

  std::string write(int64_t devices);

private:
  using List = std::vector<std::string>;
  static std::string join(const List &list) { return llvm::join(list, ", "); }

  std::string device(llvm::StringRef name);
  std::string node(int64_t devices, int64_t nics);
  std::string pairs(int64_t devices);
  std::string tree(int64_t devices, int64_t nics);
  std::string fabric(int64_t nodes, int64_t nics);
  /// Returns a random bandwidth; the choices span three orders of magnitude.
  double rate() { return random.pick({0.02, 0.1, 0.5, 1.0, 7.0, 25.0}); }

  Random &random;
  bool twoTypes = false;
};

} // namespace

std::string ClusterWriter::device(llvm::StringRef name) {
  return formatv(
      "{{name = \"{0}\", architecture = \"{1}\", peak_tflops = {{f32 = {2}}, "
      "memory_gib = 16, memory_bandwidth_gbps = {3}, launch_latency_us = {4}, "
      "kernel_overhead_us = {5}, interference = {{matrix_kernel = {6}, "
      "memory_kernel = {7}, communication = {8}}}",
      name,
      random.pick(
          {"pascal", "volta", "ampere", "hopper", "blackwell", "other"}),
      random.pick({"0.01", "0.2", "10.0"}), random.pick({"2", "50", "1000"}),
      random.pick({"0", "0", "2.5", "40.0"}), random.pick({"0", "1.5"}),
      random.pick({"1", "1.19", "1.5"}), random.pick({"1", "1.3", "2.0"}),
      random.pick({"1", "1.25", "3.0"}));
}

/// Returns NVLinks between pairs: the cube mesh of a DGX-1, or neighbours and a
/// random half of the other pairs.
std::string ClusterWriter::pairs(int64_t devices) {
  if (devices == 8 && random.chance(60))
    return "[[0, 1, 1], [0, 2, 1], [0, 3, 2], [0, 4, 2], [1, 2, 2], [1, 3, 1], "
           "[1, 5, 2], [2, 3, 2], [2, 6, 1], [3, 7, 1], [4, 5, 1], [4, 6, 1], "
           "[4, 7, 2], [5, 6, 2], [5, 7, 1], [6, 7, 2]]";
  List list;
  for (int64_t a = 0; a < devices; ++a)
    for (int64_t b = a + 1; b < devices; ++b)
      if (b == a + 1 || random.chance(50))
        list.push_back(formatv("[{0}, {1}, {2}]", a, b, random.between(1, 2)));
  return "[" + join(list) + "]";
}

/// Returns PCIe with devices and NICs in order on one or two sockets, with or
/// without switches.
std::string ClusterWriter::tree(int64_t devices, int64_t nics) {
  int64_t sockets = std::min<int64_t>(random.between(1, 2), devices);
  int64_t parts = random.chance(50) ? 1 : 2;
  List cpus;
  int64_t leaves = sockets * parts;
  auto range = [&](int64_t total, int64_t leaf) {
    List numbers;
    for (int64_t i = total * leaf / leaves; i < total * (leaf + 1) / leaves;
         ++i)
      numbers.push_back(std::to_string(i));
    return "[" + join(numbers) + "]";
  };
  for (int64_t socket = 0; socket < sockets; ++socket) {
    List switches;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t leaf = socket * parts + part;
      switches.push_back("devices = " + range(devices, leaf) +
                         ", nics = " + range(nics, leaf));
    }
    std::string inside = switches.front();
    if (parts > 1)
      inside = "switches = [{" + llvm::join(switches, "}, {") + "}]";
    cpus.push_back("{vendor = \"intel\", model = 79, " + inside + "}");
  }
  return formatv("{{generation = {0}, width = {1}, cpus = [{2}]}",
                 random.between(1, 3), random.pick({1, 4, 16}), join(cpus));
}

std::string ClusterWriter::node(int64_t devices, int64_t nics) {
  List entries;
  if (twoTypes && devices > 1 && random.chance(50))
    entries.push_back(formatv("devices = [{{type = \"d0\", count = {0}}, "
                              "{{type = \"d1\", count = {1}}]",
                              devices - 1, 1));
  else if (twoTypes)
    entries.push_back(formatv("devices = [{{type = \"d{0}\", count = {1}}]",
                              random.below(2), devices));
  else
    entries.push_back(formatv("devices = {0}", devices));
  int64_t form = devices == 1 ? 2 : random.below(3);
  if (form == 0)
    entries.push_back(formatv("nvlink = {{switched_links = {0}, link_gbps = "
                              "{1:f3}}",
                              random.pick({1, 2, 4, 6}), rate()));
  if (form == 1)
    entries.push_back(formatv("nvlink = {{pairs = {0}, link_gbps = {1:f3}}",
                              pairs(devices), rate()));
  if (form > 0 || random.chance(50))
    entries.push_back("pcie = " + tree(devices, nics));
  if (nics > 0)
    entries.push_back(formatv("nics = {{count = {0}, speed_gbit = {1:f3}}",
                              nics, 8 * rate()));
  entries.push_back("host = {bandwidth_gbps = 1.5, latency_us = 3}");
  return "{" + join(entries) + "}";
}

std::string ClusterWriter::fabric(int64_t nodes, int64_t nics) {
  List levels;
  int64_t number = random.between(0, 2);
  for (int64_t level = 0; level < number; ++level) {
    std::string text = formatv(
        "{{name = \"level{0}\", oversubscription = {1}, latency_us = {2}",
        level, random.pick({"1", "1", "1.5", "2", "4"}),
        random.pick({"0", "0.3", "20.0"}));
    if (level + 1 < number)
      text += formatv(", span = {0}",
                      random.between(1, std::max<int64_t>(2, nodes)));
    levels.push_back(text + "}");
  }
  return formatv("{{rails = {0}, latency_us = {1}, levels = [{2}]}",
                 number > 1 && nics > 1 && random.chance(50) ? "true" : "false",
                 random.pick({"0", "1", "15"}), join(levels));
}

std::string ClusterWriter::write(int64_t devices) {
  twoTypes = random.chance(20);
  bool twoKinds = random.chance(20);
  int64_t perNode = random.pick({1, 2, 3, 4, 4, 6, 8, 8});
  int64_t nodes = (devices + perNode - 1) / perNode;
  nodes += random.chance(30) ? random.between(1, 2) : 0;
  int64_t nics = random.pick<int64_t>({1, 2, perNode});
  nics = std::min(nics, perNode);
  List entries = {"name = \"random\""};
  if (twoTypes)
    entries.push_back("devices = [" + device("d0") + ", " + device("d1") + "]");
  else
    entries.push_back("device = " + device("d0"));
  if (twoKinds) {
    int64_t other = random.chance(50) ? perNode : perNode + 1;
    entries.push_back("node_kinds = {a = " + node(perNode, nics) +
                      ", b = " + node(other, nics) + "}");
    entries.push_back(formatv("nodes = [{{kind = \"b\", count = {0}}, {{kind = "
                              "\"a\", count = {1}}]",
                              random.between(1, nodes), nodes));
  } else {
    entries.push_back("node = " + node(perNode, nics));
    entries.push_back(formatv("nodes = {0}", nodes));
  }
  if (random.chance(70))
    entries.push_back("fabric = " + fabric(nodes, nics));
  return "{" + join(entries) + "}";
}

std::string proteus::fuzz::drawCluster(Random &random, int64_t devices) {
  return ClusterWriter(random).write(devices);
}
