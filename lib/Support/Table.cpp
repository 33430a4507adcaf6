//===- Table.cpp - text tables with aligned columns -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Table.h"

#include "Proteus/Support/Printable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace proteus;

Table::Table(ArrayRef<StringRef> labels, unsigned leftColumns)
    : leftColumns(leftColumns) {
  std::vector<std::string> head;
  for (StringRef label : labels)
    head.push_back(label.str());
  rows.push_back(std::move(head));
}

void Table::add(std::vector<std::string> row) {
  for (std::string &cell : row)
    cell = printable(cell);
  rows.push_back(std::move(row));
}

void Table::print(raw_ostream &os) const {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  for (const auto &row : rows) {
    std::string line;
    raw_string_ostream text(line);
    for (size_t c = 0; c < row.size(); ++c) {
      text << "  ";
      if (c < leftColumns)
        text << left_justify(row[c], widths[c]);
      else
        text << right_justify(row[c], widths[c]);
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

std::string proteus::fixed(std::optional<double> value, unsigned digits) {
  if (!value)
    return "-";
  std::string text;
  raw_string_ostream(text) << format("%.*f", digits, *value);
  return text;
}
