//===- TOML.h - TOML with located errors ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_TOML_H
#define PROTEUS_SUPPORT_TOML_H

#include "Proteus/Support/JSON.h"

namespace proteus::toml {

/// Parses `text` and returns its contents as a document of JSON, so that the
/// readers of both formats are the same: tables are objects, and dates and
/// numbers that are not finite are strings. Error messages begin with `source`,
/// the name of the text. Errors of malformed text contain line and column.
/// Fails if values are nested too deeply.
llvm::Expected<json::Document> parse(llvm::StringRef text,
                                     llvm::StringRef source);

} // namespace proteus::toml

#endif // PROTEUS_SUPPORT_TOML_H
