//===- File.h - whole files or none -----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_FILE_H
#define PROTEUS_SUPPORT_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus {

/// Reads a file that a person or a script has written. A file that is larger
/// than any of those, or has no end, is an error, before it takes memory. The
/// error states the reason only.
llvm::Expected<std::string> readTextFile(llvm::StringRef path);

/// Reads such a file. The error names it: "can't read 'path': ...".
llvm::Expected<std::string> readInput(llvm::StringRef path);

/// Writes a file that either exists completely or not at all: the text goes to
/// a temporary file beside `path`, which takes its name at the end. A `path`
/// that exists and is no regular file (a pipe, /dev/stdout) is written
/// directly, and so is standard output, which is "-".
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text);

/// The same for text that is produced piece by piece. If `write` fails, its
/// error is returned and no file is left behind.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace proteus

#endif // PROTEUS_SUPPORT_FILE_H
