//===- Printable.cpp - text that is safe on a terminal --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Printable.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Returns true if a character is not written as it is: a control character, a
/// separator of lines, or one that changes the direction of writing.
static bool isUnsafe(UTF32 c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) ||     // control characters
         c == 0x61c || c == 0x200e || c == 0x200f || // directional marks
         (c >= 0x2028 && c <= 0x202e) || // separators, overrides of direction
         (c >= 0x2066 && c <= 0x2069);   // isolates
}

std::string proteus::printable(StringRef text, bool keepNewlines) {
  std::string safe;
  raw_string_ostream os(safe);
  const auto *next = reinterpret_cast<const UTF8 *>(text.bytes_begin());
  const auto *end = reinterpret_cast<const UTF8 *>(text.bytes_end());
  while (next < end) {
    const UTF8 *begin = next;
    UTF32 c = 0;
    if (convertUTF8Sequence(&next, end, &c, strictConversion) != conversionOK) {
      next = begin + 1;
      os << format("\\x%02x", *begin);
    } else if (c == '\n' && keepNewlines) {
      os << '\n';
    } else if (!isUnsafe(c)) {
      os << StringRef(reinterpret_cast<const char *>(begin), next - begin);
    } else if (c < 0x80) {
      os << format("\\x%02x", c);
    } else {
      os << format("\\u%04x", c);
    }
  }
  return safe;
}
