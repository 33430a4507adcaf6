//===- ModelFile.h - models from files --------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_MODELFILE_H
#define PROTEUS_LIB_MODELS_MODELFILE_H

#include "Proteus/Models/Model.h"

namespace proteus::models {

/// A model and where it comes from.
struct LoadedModel {
  std::string name;
  std::string source;
  std::unique_ptr<Model> model;
};

/// Reads a model file. Its family decides which keys it has; a config.json of
/// Hugging Face is known by `model_type`.
llvm::Expected<LoadedModel> loadModelFile(llvm::StringRef path);

/// The same for text; errors call it `source`.
llvm::Expected<LoadedModel> parseModelFile(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_MODELFILE_H
