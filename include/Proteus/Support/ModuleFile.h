//===- ModuleFile.h - reading files with IR ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads files with IR for all tools. MLIR's parser has no limits of its own: it
// reads files of any size and calls itself for each nested bracket, so a deeply
// nested text overflows its stack.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_MODULEFILE_H
#define PROTEUS_SUPPORT_MODULEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace proteus {

/// Largest number of brackets that may be open at one place of a text of IR.
inline constexpr int maxNesting = 500;

/// Returns the line, counted from 1, on which more than `maxNesting` brackets
/// are open for the first time, or 0 if there is none. Brackets in strings and
/// comments do not count.
size_t findDeepNesting(llvm::StringRef text);

/// Reads the file of a module, text or bytecode; `-` is standard input. Fails
/// if the file is larger than `maxModuleMebibytes`, or nests too deep.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleFile(llvm::StringRef path);

} // namespace proteus

#endif // PROTEUS_SUPPORT_MODULEFILE_H
