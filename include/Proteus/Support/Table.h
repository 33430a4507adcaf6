//===- Table.h - text tables with aligned columns ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables in the output of the driver's commands and in the summary of a
// simulation.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_TABLE_H
#define PROTEUS_SUPPORT_TABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus {

/// Rows of text with aligned columns.
class Table {
public:
  /// Creates a table with a row of labels. The first `leftColumns` columns are
  /// aligned to the left, all other columns to the right.
  explicit Table(llvm::ArrayRef<llvm::StringRef> labels,
                 unsigned leftColumns = 1);
  /// Adds a row. Characters that are unsafe on a terminal are escaped.
  void add(std::vector<std::string> row);
  /// Prints the rows. If `maxWidth` is not 0 and a row is wider, long entries
  /// are shortened in the middle.
  void print(llvm::raw_ostream &os, size_t maxWidth = 0) const;

private:
  std::vector<std::vector<std::string>> rows;
  unsigned leftColumns;
};

/// Returns `value` with `digits` decimal places, or "-" if it is absent.
std::string fixed(std::optional<double> value, unsigned digits);
/// Returns `text` in lines of at most `width` characters, each with a newline.
/// The text is broken at spaces; a word that is too wide is cut. The first line
/// begins with `first`, the others with `next`.
std::string wrapped(llvm::StringRef text, size_t width, llvm::StringRef first,
                    llvm::StringRef next);
/// Formats a large count, such as a number of parameters: 175181291520 becomes
/// "175.18 B".
std::string countInWords(int64_t count);

} // namespace proteus

#endif // PROTEUS_SUPPORT_TABLE_H
