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

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_FAMILIES_H
