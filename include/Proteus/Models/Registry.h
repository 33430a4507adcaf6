//===- Registry.h - registry of families and presets ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MODELS_REGISTRY_H
#define PROTEUS_MODELS_REGISTRY_H

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// A family of models. The models of a family have the same names of
/// dimensions, and the same code builds them. A model file contains the name of
/// its family.
struct Family {
  std::string name;
  std::string description;
  /// Alternative names of the family in model files.
  std::vector<std::string> aliases;
  /// Creates a model with the default dimensions of the family.
  ModelFactory make;
};

/// A published model: the name of its family and the published dimensions.
struct Preset {
  std::string name;
  std::string family;
  /// Description in one line.
  std::string description;
  /// Publication that states the dimensions and the number of parameters.
  std::string source;
  ModelFactory make;
};

/// Registry of families and presets, in the order in which they were added.
class Registry {
public:
  /// Returns the registry with all families and presets of the project.
  static const Registry &get();

  void add(Family family) { families.push_back(std::move(family)); }
  void add(Preset preset) { presets.push_back(std::move(preset)); }

  llvm::ArrayRef<Family> getFamilies() const { return families; }
  llvm::ArrayRef<Preset> getPresets() const { return presets; }
  /// Returns the preset `name`. If there is none, returns an error that
  /// suggests the preset with the most similar name.
  llvm::Expected<const Preset *> findPreset(llvm::StringRef name) const;
  /// Returns the family with the name or alias `name`, or null.
  const Family *findFamily(llvm::StringRef name) const;

private:
  std::vector<Family> families;
  std::vector<Preset> presets;
};

} // namespace proteus::models

#endif // PROTEUS_MODELS_REGISTRY_H
