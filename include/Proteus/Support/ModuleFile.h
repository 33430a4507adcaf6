//===- ModuleFile.h - reading files with IR ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads files with IR for all tools, and rejects files that are too large or
// too deeply nested. MLIR's parser has no such limits: it reads files of any
// size, and it calls itself for each nested bracket, so a deeply nested text
// overflows the stack.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_MODULEFILE_H
#define PROTEUS_SUPPORT_MODULEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace proteus {

/// Largest number of brackets that may be open at the same time in a text of
/// IR.
inline constexpr int maxNesting = 500;

/// Returns the first line, counted from 1, on which more than `maxNesting`
/// brackets are open, or 0 if there is no such line. Ignores brackets in
/// strings and comments.
size_t findDeepNesting(llvm::StringRef text);

/// Returns the reason for which a text with such a line is refused, and the
/// remedy.
std::string deepNestingReason();

/// Reads the file of a module, which contains text or bytecode. The path `-`
/// selects standard input. Fails if the file is larger than
/// `maxModuleMebibytes` MiB, or if more than `maxNesting` brackets are open at
/// the same time in a text.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleFile(llvm::StringRef path);

} // namespace proteus

#endif // PROTEUS_SUPPORT_MODULEFILE_H
