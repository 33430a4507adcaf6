//===- ModelFile.h - model files --------------------------------*- C++ -*-===//
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

/// A model and its source.
struct LoadedModel {
  std::string name;
  std::string source;
  std::unique_ptr<Model> model;
};

/// Reads a model file. The keys of the file depend on its family. A file with
/// the key `model_type` is a config.json of Hugging Face.
llvm::Expected<LoadedModel> loadModelFile(llvm::StringRef path);

/// Parses the text of a model file. Errors contain `source` as its name.
llvm::Expected<LoadedModel> parseModelFile(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_MODELFILE_H
