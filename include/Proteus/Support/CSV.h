//===- CSV.h - measurements as they are published ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Comma-separated values; fields may be quoted. Empty lines are no rows.
class CSV {
public:
  /// Fails if there are no rows; errors call the text `source`.
  static llvm::Expected<CSV> parse(llvm::StringRef text,
                                   llvm::StringRef source);
  static llvm::Expected<CSV> read(llvm::StringRef path);

  size_t size() const { return rows.size(); }
  llvm::ArrayRef<std::string> row(size_t i) const { return rows[i]; }
  /// The column whose name the first row has; fails if there is none.
  llvm::Expected<size_t> column(llvm::StringRef name) const;
  /// "table.csv:7: <message>" about row `i`.
  llvm::Error errorAt(size_t i, const llvm::Twine &message) const;

private:
  std::string source;
  std::vector<std::vector<std::string>> rows; ///< the first one included
  std::vector<size_t> lines;                  ///< of the rows
};

/// The number that `text` is, or NaN.
double numberOf(llvm::StringRef text);

} // namespace proteus

#endif // PROTEUS_SUPPORT_CSV_H
