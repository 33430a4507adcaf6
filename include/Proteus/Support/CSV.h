//===- CSV.h - tables of comma-separated values -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reader of CSV tables, for profiles and published measurements. Error
// messages contain the line of the error.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_CSV_H
#define PROTEUS_SUPPORT_CSV_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus {

/// A table of comma-separated values. A field in quotes may contain commas but
/// no line breaks. Empty lines are skipped.
class CSV {
public:
  /// Parses a table. Fails if the table has no rows. Error messages begin with
  /// `source`, the name of the text.
  static llvm::Expected<CSV> parse(llvm::StringRef text,
                                   llvm::StringRef source);
  /// Reads and parses the file `path`.
  static llvm::Expected<CSV> read(llvm::StringRef path);

  /// Returns the number of rows, including the header.
  size_t size() const { return rows.size(); }
  llvm::ArrayRef<std::string> row(size_t i) const { return rows[i]; }
  /// Returns the index of the column that has `name` in the first row. Fails if
  /// there is no such column.
  llvm::Expected<size_t> column(llvm::StringRef name) const;
  /// Returns an error about row `i`, such as "table.csv:7: <message>".
  llvm::Error errorAt(size_t i, const llvm::Twine &message) const;

private:
  std::string source;
  std::vector<std::vector<std::string>> rows; ///< including the header
  std::vector<size_t> lines; ///< line number of each row in the text, from 1
};

/// Returns the number in `text`, or NaN if `text` is not a number.
double numberOf(llvm::StringRef text);

} // namespace proteus

#endif // PROTEUS_SUPPORT_CSV_H
