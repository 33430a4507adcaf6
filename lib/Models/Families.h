//===- Families.h - registration of families --------------------*- C++ -*-===//
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

/// Adds decoder-only transformers.
void addDecoders(Registry &registry);
/// Adds encoders that are trained on masked tokens (BERT).
void addBert(Registry &registry);
/// Adds encoder-decoder transformers, such as T5.
void addEncoderDecoders(Registry &registry);
/// Adds Transformer-XL, a decoder that also attends to the preceding segment.
void addTransformerXL(Registry &registry);
/// Adds AlexNet and VGG.
void addPlainConvNets(Registry &registry);
/// Adds ResNet and other residual networks.
void addResNets(Registry &registry);
/// Adds Inception-v3.
void addInception(Registry &registry);
/// Adds SSD, a single-shot detector.
void addSSD(Registry &registry);
/// Adds vision transformers, which read patches of images.
void addVisionTransformers(Registry &registry);
/// Adds GNMT, a recurrent translation model.
void addGNMT(Registry &registry);
/// Adds DLRM, a recommendation model.
void addDLRM(Registry &registry);
/// Adds the GPT models of the reference (the published Proteus).
void addReferenceGPTs(Registry &registry);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_FAMILIES_H
