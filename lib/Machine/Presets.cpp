//===- Presets.cpp - embedded clusters ------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace proteus::machine;

namespace {
struct Preset {
  StringRef name;
  StringRef text;
};
} // namespace

/// The embedded clusters. They are sorted by name, because the build file lists
/// them in this order.
static constexpr Preset presets[] = {
#include "ClusterPresets.inc"
};

static const Preset *findPreset(StringRef text) {
  StringRef name = splitClusterName(text).base;
  const Preset *preset =
      llvm::find_if(presets, [&](const Preset &p) { return p.name == name; });
  return preset == std::end(presets) ? nullptr : preset;
}

bool proteus::machine::isClusterPreset(StringRef text) {
  return findPreset(text) != nullptr;
}

std::vector<std::string> proteus::machine::clusterPresetNames() {
  std::vector<std::string> names;
  for (const Preset &preset : presets)
    names.push_back(preset.name.str());
  return names;
}

Expected<Cluster> proteus::machine::parseClusterPreset(StringRef text) {
  const Preset *preset = findPreset(text);
  ClusterName name = splitClusterName(text);
  if (!preset)
    return createStringError(
        "unknown cluster preset '" + name.base +
        "'; known presets: " + llvm::join(clusterPresetNames(), ", "));
  Expected<Cluster> cluster =
      parseClusterJSON(preset->text, ("preset " + preset->name).str());
  if (cluster)
    if (Error error = setNodes(*cluster, name))
      return std::move(error);
  return cluster;
}
