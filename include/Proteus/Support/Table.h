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
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
  unsigned leftColumns;
};

/// Returns `value` with `digits` decimal places, or "-" if it is absent.
std::string fixed(std::optional<double> value, unsigned digits);

} // namespace proteus

#endif // PROTEUS_SUPPORT_TABLE_H
