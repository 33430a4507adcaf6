//===- DecoderPresets.h - presets of decoders -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_DECODERPRESETS_H
#define PROTEUS_LIB_MODELS_DECODERPRESETS_H

#include "Transformer.h"

#include "Proteus/Models/Registry.h"

namespace proteus::models {

/// Adapter that adds presets of the family `decoder` to a registry.
class DecoderPresets {
public:
  explicit DecoderPresets(Registry &registry) : registry(registry) {}
  void add(const char *name, const char *description, std::string source,
           TransformerDims dims) {
    registry.add(Preset{name, "decoder", description, std::move(source),
                        [dims = std::move(dims)] {
                          return std::make_unique<TransformerModel>(dims);
                        }});
  }

private:
  Registry &registry;
};

/// Adds the presets of GPT and similar models.
void addGptPresets(DecoderPresets &presets);
/// Adds the presets of Llama and similar models.
void addLlamaPresets(DecoderPresets &presets);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_DECODERPRESETS_H
