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

/// A model with its name and its source. The source is a publication, the path
/// of a model file, or the word `model` for the text of a model file.
struct LoadedModel {
  std::string name;
  std::string source;
  std::unique_ptr<Model> model;
  /// Remarks on keys of the file that the model does not use.
  std::vector<std::string> remarks;
};

/// Reads a model file. A file with the key `model_type` is a config.json of
/// Hugging Face. In any other file, the key `family` or `kind` selects a
/// family, `name` is the name of the model, and all other keys are dimensions.
llvm::Expected<LoadedModel> loadModelFile(llvm::StringRef path);

/// Parses the text of a model file. `source` is the name of the file in error
/// messages, and becomes the source of the result.
llvm::Expected<LoadedModel> parseModelFile(llvm::StringRef text,
                                           llvm::StringRef source);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_MODELFILE_H
