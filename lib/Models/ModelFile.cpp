//===- ModelFile.cpp - model files ------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFile.h"

#include "HuggingFace.h"

#include "Proteus/Models/Registry.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

/// Returns the names of all families, separated by commas.
static std::string familyNames() {
  SmallVector<StringRef> names;
  for (const Family &family : Registry::get().getFamilies())
    names.push_back(family.name);
  return join(names, ", ");
}

/// Creates the model of a file in the format of this project. Such a file
/// contains the name of a family (key `family` or `kind`) and dimensions. If
/// the name is absent or unknown, records an error in the JSON document and
/// returns null.
static std::unique_ptr<Model> readModel(const json::Reader &root) {
  StringRef key = root.has("family") ? "family" : "kind";
  if (!root.has(key)) {
    root.fail("expected the key 'family' (one of " + familyNames() +
              "), or 'model_type' (one of " + huggingFaceTypes() + ")");
    return nullptr;
  }
  std::string name = root[key].string();
  const Family *family = Registry::get().findFamily(name);
  if (!family) {
    root[key].fail("unknown family '" + name + "' (known: " + familyNames() +
                   ")");
    return nullptr;
  }
  std::unique_ptr<Model> model = family->make();
  Dimensions dimensions;
  model->declare(dimensions);
  dimensions.read(root, {key, "name"});
  return model;
}

Expected<LoadedModel> models::parseModelFile(StringRef text, StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  json::Reader root = document->root();
  LoadedModel loaded;
  loaded.name = sys::path::stem(source).str();
  loaded.source = source.str();
  if (root.has("name")) {
    loaded.name = root["name"].nonEmptyString();
    constexpr size_t longest = 200;
    if (loaded.name.size() > longest)
      root["name"].fail("expected at most " + Twine(longest) +
                        " characters, got " + Twine(loaded.name.size()));
  }
  loaded.model = root.has("model_type")
                     ? readHuggingFaceConfig(root, loaded.remarks)
                     : readModel(root);
  if (Error error = document->takeError())
    return std::move(error);
  return std::move(loaded);
}

Expected<LoadedModel> models::loadModelFile(StringRef path) {
  Expected<std::string> text = readTextFile(path);
  if (!text)
    return createStringError("can't read the model file '" + path +
                             "': " + toString(text.takeError()));
  return parseModelFile(*text, path);
}
