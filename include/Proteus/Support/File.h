//===- File.h - reading and atomic writing of files -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Functions with which the passes and tools read text files and write results.
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

/// Largest size, in MiB, of a text file that is not IR, such as the description
/// of a cluster, a profile or published cases. It is much larger than real
/// files: a thousand measured runs take about 1 MiB of JSON. A higher limit
/// would cost much memory, because a parsed number takes about 10 times the
/// memory of its text.
inline constexpr size_t maxDescriptionMebibytes = 16;

/// Largest size, in MiB, of a file with IR. It is larger than
/// `maxDescriptionMebibytes`, because a model may contain large constants.
inline constexpr size_t maxModuleMebibytes = 256;

/// Reads a text file. Fails if the file is larger than `maxMebibytes` MiB, so
/// that a huge file, or a file without end such as /dev/zero, can't fill the
/// memory. The error contains the reason but not the path.
llvm::Expected<std::string>
readTextFile(llvm::StringRef path,
             size_t maxMebibytes = maxDescriptionMebibytes);

/// Reads a text file like readTextFile, but adds the path to the error: "can't
/// read 'path': ...".
llvm::Expected<std::string>
readInput(llvm::StringRef path, size_t maxMebibytes = maxDescriptionMebibytes);

/// Returns true if `a` and `b` name the same file, whether or not it exists.
bool isSameFile(llvm::StringRef a, llvm::StringRef b);

/// Writes `text` to `path`, completely or not at all: the text first goes to a
/// temporary file in the same directory, which is then renamed to `path`.
/// A symbolic link remains, and the file to which it leads is replaced. Writes
/// directly if `path` is "-" (standard output) or exists and is not a regular
/// file, such as a pipe.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text);

/// Calls `write` with a stream and writes the output to `path` like the
/// function above. If `write` fails, returns its error, and a regular file at
/// `path` keeps its old contents.
llvm::Error
writeFileAtomically(llvm::StringRef path,
                    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace proteus

#endif // PROTEUS_SUPPORT_FILE_H
