//===- Registry.cpp - registry of families and presets ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/Registry.h"

#include "Families.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus::models;

const Registry &Registry::get() {
  static const Registry registry = [] {
    Registry all;
    addDecoders(all);
    addBert(all);
    addEncoderDecoders(all);
    addTransformerXL(all);
    addPlainConvNets(all);
    addResNets(all);
    addInception(all);
    addSSD(all);
    addVisionTransformers(all);
    addGNMT(all);
    addDLRM(all);
    addReferenceGPTs(all);
    return all;
  }();
  return registry;
}

Expected<const Preset *> Registry::findPreset(StringRef name) const {
  auto distance = [&](const Preset &preset) {
    return name.edit_distance_insensitive(preset.name);
  };
  const Preset &nearest =
      *llvm::min_element(presets, [&](const Preset &a, const Preset &b) {
        return distance(a) < distance(b);
      });
  if (nearest.name == name)
    return &nearest;
  return createStringError("there is no model '" + name +
                           "'; the nearest name is '" + nearest.name +
                           "', and the path of a model file ends in .json");
}

const Family *Registry::findFamily(StringRef name) const {
  for (const Family &family : families)
    if (family.name == name || llvm::is_contained(family.aliases, name))
      return &family;
  return nullptr;
}
