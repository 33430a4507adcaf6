//===- HuggingFace.h - models from config.json ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_HUGGINGFACE_H
#define PROTEUS_LIB_MODELS_HUGGINGFACE_H

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// The model that a config.json of Hugging Face describes; null, and a failure
/// of the document, if it is none that is known.
std::unique_ptr<Model> readHuggingFaceConfig(const json::Reader &root);

/// The known values of `model_type`.
std::string huggingFaceTypes();

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_HUGGINGFACE_H
