//===- Nearest.h - nearest match among known words --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Finds the name that a user probably meant, for error messages.
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_NEAREST_H
#define PROTEUS_SUPPORT_NEAREST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace proteus {

/// Returns the element of `known` that is most similar to `text`, or an empty
/// string if no element is similar.
std::string nearest(llvm::StringRef text, llvm::ArrayRef<std::string> known);

} // namespace proteus

#endif // PROTEUS_SUPPORT_NEAREST_H
