//===- Families.h - who adds what to the registry ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_FAMILIES_H
#define PROTEUS_LIB_MODELS_FAMILIES_H

namespace proteus::models {

class Registry;

/// Decoder-only transformers.
void addDecoders(Registry &registry);
/// Encoders trained by masking.
void addBert(Registry &registry);
/// Transformers that read and write.
void addEncoderDecoders(Registry &registry);
/// Decoders with a memory of the last segment.
void addTransformerXL(Registry &registry);
/// AlexNet and VGG.
void addPlainConvNets(Registry &registry);
/// Residual networks.
void addResNets(Registry &registry);
/// Inception-v3.
void addInception(Registry &registry);
/// Single-shot detection.
void addSSD(Registry &registry);
/// Transformers on patches of images.
void addVisionTransformers(Registry &registry);
/// Recurrent translation.
void addGNMT(Registry &registry);
/// Recommendation.
void addDLRM(Registry &registry);
/// GPT as the original Proteus has it.
void addReferenceGPTs(Registry &registry);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_FAMILIES_H
