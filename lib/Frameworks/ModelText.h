//===- ModelText.h - the text of a model file ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_FRAMEWORKS_MODELTEXT_H
#define PROTEUS_LIB_FRAMEWORKS_MODELTEXT_H

#include "Proteus/Support/JSON.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace proteus::frameworks {

/// Builds the text of a model file of the family `decoder`.
class ModelText {
public:
  explicit ModelText(llvm::StringRef name) : os(text), writer(os) {
    writer.beginObject();
    writer.attribute("family", "decoder");
    writer.attribute("name", name);
  }
  /// Sets a dimension. Every dimension may be set once.
  template <typename T> void set(llvm::StringRef name, const T &value) {
    writer.attribute(name, value);
  }
  /// Returns the text. Nothing may be set afterwards.
  std::string finish() {
    writer.endObject();
    return text;
  }

private:
  std::string text;
  llvm::raw_string_ostream os;
  json::Writer writer;
};

} // namespace proteus::frameworks

#endif // PROTEUS_LIB_FRAMEWORKS_MODELTEXT_H
