//===- HuggingFace.h - models from config.json files ------------*- C++ -*-===//
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

/// Creates the model of a config.json of Hugging Face from the root object of
/// the file. Records an error in the JSON document if a value is missing or
/// invalid. If `model_type` is unknown, records an error and returns null.
/// Adds remarks on the keys that the model does not use.
std::unique_ptr<Model> readHuggingFaceConfig(const json::Reader &root,
                                             std::vector<std::string> &remarks);

/// Returns remarks on the keys of `root` that nothing has read: one names the
/// keys that are not modelled, one those that are unknown, with the nearest of
/// the keys `known`, and one those without effect.
std::vector<std::string> remarksOnUnusedKeys(const json::Reader &root,
                                             llvm::ArrayRef<std::string> known);

/// Returns the supported values of `model_type`, separated by commas.
std::string huggingFaceTypes();

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_HUGGINGFACE_H
