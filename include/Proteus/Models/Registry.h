//===- Registry.h - the models that are known by name -----------*- C++ -*-===//
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

/// Models that are built by the same code. A model file names its family.
struct Family {
  std::string name;
  std::string description;
  /// Other names that files use for it.
  std::vector<std::string> aliases;
  /// A model whose dimensions a file is to give.
  ModelFactory make;
};

/// A published model.
struct Preset {
  std::string name;
  std::string family;
  /// One line.
  std::string description;
  /// Where dimensions and number of parameters were published.
  std::string source;
  ModelFactory make;
};

/// All families and presets, in the order in which they were added.
class Registry {
public:
  static const Registry &get();

  void add(Family family) { families.push_back(std::move(family)); }
  void add(Preset preset) { presets.push_back(std::move(preset)); }

  llvm::ArrayRef<Family> getFamilies() const { return families; }
  llvm::ArrayRef<Preset> getPresets() const { return presets; }
  /// The preset called `name`; the error names the nearest one.
  llvm::Expected<const Preset *> findPreset(llvm::StringRef name) const;
  /// The family called `name`, or null.
  const Family *findFamily(llvm::StringRef name) const;

private:
  std::vector<Family> families;
  std::vector<Preset> presets;
};

} // namespace proteus::models

#endif // PROTEUS_MODELS_REGISTRY_H
