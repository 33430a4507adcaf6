//===- ModuleFile.cpp - reading files with IR -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/ModuleFile.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

/// The first bytes of MLIR bytecode.
static constexpr StringLiteral bytecodeMagic = "ML\xefR";

/// Alignment of a buffer. The constants in bytecode require an alignment, which
/// is at most the size of a page.
static constexpr Align bufferAlignment = Align::Constant<4096>();

size_t proteus::findDeepNesting(StringRef text) {
  int depth = 0;
  size_t line = 1;
  bool inComment = false, inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    char next = i + 1 < text.size() ? text[i + 1] : '\0';
    // A string ends at the end of its line. A missing quote therefore hides at
    // most the rest of one line.
    if (c == '\n') {
      ++line;
      inComment = inString = false;
    } else if (inComment) {
      continue;
    } else if (inString) {
      if (c == '\\')
        ++i;
      else
        inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '/' && next == '/') {
      inComment = true;
    } else if ((c == '-' && next == '>') ||
               ((c == '<' || c == '>') && next == '=')) {
      // The `>` and `<` of arrows and comparisons are not brackets.
      ++i;
    } else if (StringRef("([{<").contains(c)) {
      if (++depth > maxNesting)
        return line;
    } else if (StringRef(")]}>").contains(c)) {
      depth = std::max(0, depth - 1);
    }
  }
  return 0;
}

std::string proteus::deepNestingReason() {
  return "more than " + std::to_string(maxNesting) +
         " brackets are open, deeper than in any model; write the nested parts "
         "one after the other";
}

Expected<std::unique_ptr<MemoryBuffer>>
proteus::readModuleFile(StringRef path) {
  Expected<std::string> text =
      readInput(path == "-" ? "/dev/stdin" : path, maxModuleMebibytes);
  if (!text)
    return text.takeError();
  if (!StringRef(*text).starts_with(bytecodeMagic))
    if (size_t line = findDeepNesting(*text))
      return createStringError("can't read '" + path + "': line " +
                               Twine(line) + ": " + deepNestingReason());
  std::unique_ptr<WritableMemoryBuffer> buffer =
      WritableMemoryBuffer::getNewUninitMemBuffer(
          text->size(), path == "-" ? "<stdin>" : path, bufferAlignment);
  llvm::copy(*text, buffer->getBufferStart());
  return std::unique_ptr<MemoryBuffer>(std::move(buffer));
}
