//===- CSV.h - tables of comma-separated values -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reader of CSV tables, whose errors contain the line. The readers of profiles
// and published measurements use it.
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

/// A table of comma-separated values. Fields may be quoted. Empty lines are
/// skipped.
class CSV {
public:
  /// Parses a table. Fails if it has no rows. Errors call the text `source`.
  static llvm::Expected<CSV> parse(llvm::StringRef text,
                                   llvm::StringRef source);
  /// Reads and parses the file `path`.
  static llvm::Expected<CSV> read(llvm::StringRef path);

  /// Returns the number of rows, including the first one.
  size_t size() const { return rows.size(); }
  llvm::ArrayRef<std::string> row(size_t i) const { return rows[i]; }
  /// Returns the index of the column with the field `name` in the first row.
  /// Fails if there is none.
  llvm::Expected<size_t> column(llvm::StringRef name) const;
  /// Returns the error "table.csv:7: <message>" for row `i`.
  llvm::Error errorAt(size_t i, const llvm::Twine &message) const;

private:
  std::string source;
  std::vector<std::vector<std::string>> rows; ///< including the first one
  std::vector<size_t> lines; ///< line in the text of each row, from 1
};

/// Returns the number in `text`, or NaN if `text` is not a number.
double numberOf(llvm::StringRef text);

} // namespace proteus

#endif // PROTEUS_SUPPORT_CSV_H
