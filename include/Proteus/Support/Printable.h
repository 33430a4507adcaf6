//===- Printable.h - text that is safe on a terminal ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes text from the input, such as names of models and files, safe to print
// on a terminal. Control characters in it could change the state of the
// terminal, and characters that change the direction of writing could make a
// message read differently.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_PRINTABLE_H
#define PROTEUS_SUPPORT_PRINTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace proteus {

/// Returns `text` with unsafe characters escaped, for example as `\x1b` or
/// `\u202e`. Unsafe are control characters, separators of lines, characters
/// that change the direction of writing, and bytes that are not UTF-8. Newlines
/// are kept if `keepNewlines` is true.
std::string printable(llvm::StringRef text, bool keepNewlines = false);

} // namespace proteus

#endif // PROTEUS_SUPPORT_PRINTABLE_H
