//===- File.h - reading and atomic writing of files -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions by which the passes and tools read text files and write results.
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

/// Largest size in MiB of a file with a description: a cluster, a stack, a
/// profile, published cases. For comparison, a thousand measured runs are about
/// 1 MiB of JSON. A parsed number takes about 10 times the memory of its text.
inline constexpr size_t maxDescriptionMebibytes = 16;

/// Largest size in MiB of a file with IR. A constant of a model may be large.
inline constexpr size_t maxModuleMebibytes = 256;

/// Reads a text file. Fails if it is larger than `maxMebibytes`, so that
/// neither a large file nor a file without end, such as /dev/zero, fills the
/// memory. The error contains the reason but not the path.
llvm::Expected<std::string>
readTextFile(llvm::StringRef path,
             size_t maxMebibytes = maxDescriptionMebibytes);

/// Reads a text file as readTextFile does. The error contains the path: "can't
/// read 'path': ...".
llvm::Expected<std::string>
readInput(llvm::StringRef path, size_t maxMebibytes = maxDescriptionMebibytes);

/// Writes `text` to `path` so that the file is complete or does not change. The
/// text goes to a temporary file in the same directory, which is then renamed
/// to `path`. If `path` exists and is no regular file (a pipe, /dev/stdout), or
/// is "-" for standard output, writes to it directly.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text);

/// Writes the output of `write` to `path` in the same way. If `write` fails,
/// returns its error and removes the temporary file.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace proteus

#endif // PROTEUS_SUPPORT_FILE_H
