//===- ModuleFile.h - reading files with IR ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads files with IR for all tools, and rejects files that are too large or
// that MLIR's parser can't handle. The parser reads files of any size, calls
// itself for each nested bracket and each sign, and reads a long word again for
// each of its parts. Attributes and types that name each other can be as deep
// as the text is long, and exponentially larger.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_MODULEFILE_H
#define PROTEUS_SUPPORT_MODULEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace proteus {

/// Largest number of brackets that may be open at the same time in a text of
/// IR. The brackets of an alias (`#name`, `!name`) count where it is used.
inline constexpr int maxNesting = 500;

/// Largest number of characters of a word, such as the dimensions of a tensor
/// type.
inline constexpr size_t maxWord = 1000;

/// Largest number of aliases to which an alias may lead, when each use is
/// counted.
inline constexpr double maxAliasUses = 1e6;

/// A place that MLIR's parser can't handle.
struct TextFault {
  size_t line = 0; ///< counted from 1
  std::string reason;
};

/// Returns the first fault of a text of IR, or nullopt if there is none.
/// Ignores strings and comments.
std::optional<TextFault> findTextFault(llvm::StringRef text);

/// Reads the file of a module, which contains text or bytecode. The path `-`
/// selects standard input. Fails if the file is larger than
/// `maxModuleMebibytes` MiB, or if a text has a fault.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleFile(llvm::StringRef path);

} // namespace proteus

#endif // PROTEUS_SUPPORT_MODULEFILE_H
