//===- ScaledCluster.cpp - cluster files with other rates -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledCluster.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace proteus;

namespace {
struct EmbeddedFile {
  StringRef name, text;
};
} // namespace

static constexpr EmbeddedFile clusters[] = {
#include "ClusterTexts.inc"
};
static constexpr EmbeddedFile devices[] = {
#include "DeviceTexts.inc"
};

static json::Object parse(ArrayRef<EmbeddedFile> files, StringRef name) {
  const EmbeddedFile *file =
      find_if(files, [&](const EmbeddedFile &f) { return f.name == name; });
  assert(file != files.end() && "no such embedded file");
  return std::move(*cantFail(json::parse(file->text)).getAsObject());
}

/// Multiplies the number at `key`. Returns false if there is none.
static bool scale(json::Object *object, StringRef key, double factor) {
  std::optional<double> number = object ? object->getNumber(key) : std::nullopt;
  if (!number)
    return false;
  (*object)[key] = *number * factor;
  return true;
}

/// Multiplies the bandwidths of a PCIe tree. A generation has twice the
/// bandwidth of the one before it.
static bool scalePCIe(json::Object *object, double factor) {
  if (!object)
    return false;
  bool found = false;
  if (std::optional<int64_t> generation = object->getInteger("generation")) {
    for (double left = factor; left > 1 && *generation < 7; left /= 2)
      ++*generation;
    (*object)["generation"] = *generation;
    found = true;
  }
  found |= scale(object, "device_link_gbps", factor);
  found |= scale(object, "socket_gbps", factor);
  for (StringRef list : {"cpus", "switches"})
    if (json::Array *branches = object->getArray(list))
      for (json::Value &branch : *branches)
        found |= scalePCIe(branch.getAsObject(), factor);
  return found;
}

static bool scaleNetwork(json::Object &node, double factor) {
  json::Value *nics = node.get("nics");
  if (!nics)
    return false;
  if (json::Array *list = nics->getAsArray()) {
    bool found = false;
    for (json::Value &nic : *list)
      found |= scale(nic.getAsObject(), "speed_gbit", factor);
    return found;
  }
  return scale(nics->getAsObject(), "speed_gbit", factor);
}

static bool scaleLinks(json::Object &node, StringRef rate, double factor) {
  bool all = rate == "links", found = false;
  if (all || rate == "nvlink")
    found |= scale(node.getObject("nvlink"), "link_gbps", factor);
  json::Object *pcie = node.getObject("pcie");
  if (all || rate == "pcie")
    found |= scalePCIe(pcie, factor);
  // The largest default of the link between sockets is 40 GB/s.
  if (all && pcie && !pcie->get("socket_gbps"))
    (*pcie)["socket_gbps"] = 40 * factor;
  if (all || rate == "network")
    found |= scaleNetwork(node, factor);
  if (all || rate == "host")
    found |= scale(node.getObject("host"), "bandwidth_gbps", factor);
  return found;
}

static bool scaleDevice(json::Object &device, StringRef rate, double factor) {
  if (rate == "memory")
    return scale(&device, "memory_bandwidth_gbps", factor);
  json::Object *peak = device.getObject("peak_tflops");
  if (rate != "compute" || !peak)
    return false;
  for (auto &[type, value] : *peak)
    value = *value.getAsNumber() * factor;
  return true;
}

Expected<std::string> proteus::fuzz::writeCluster(StringRef preset,
                                                  int64_t nodes, StringRef rate,
                                                  double factor,
                                                  StringRef directory) {
  json::Object cluster = parse(clusters, preset);
  json::Object device = parse(devices, *cluster.getString("device"));
  if (!rate.empty() && !scaleLinks(*cluster.getObject("node"), rate, factor) &&
      !scaleDevice(device, rate, factor))
    return "";
  cluster["device"] = std::move(device);
  cluster["nodes"] = nodes;
  std::string name = (preset + "-" + Twine(nodes)).str();
  if (!rate.empty())
    name += ("-" + rate + "-x" + Twine(static_cast<int64_t>(factor))).str();
  SmallString<128> path(directory);
  sys::path::append(path, name + ".json");
  if (sys::fs::exists(path))
    return path.str().str();
  if (std::error_code error = sys::fs::create_directories(directory))
    return createStringError(error, "can't create '" + directory + "'");
  if (Error error = writeFileAtomically(path, [&](raw_ostream &os) {
        os << formatv("{0:2}\n", json::Value(std::move(cluster)));
        return Error::success();
      }))
    return std::move(error);
  return path.str().str();
}
