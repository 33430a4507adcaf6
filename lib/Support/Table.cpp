//===- Table.cpp - text tables with aligned columns -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/Table.h"

#include "Proteus/Support/Printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
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

/// Shortens `text` to `width` characters by leaving out its middle.
static std::string shortened(StringRef text, size_t width) {
  constexpr StringLiteral mark = "...";
  if (text.size() <= width)
    return text.str();
  size_t kept = width - mark.size();
  return (Twine(text.take_front(kept - kept / 2)) + mark +
          text.take_back(kept / 2))
      .str();
}

void Table::print(raw_ostream &os, size_t maxWidth) const {
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  size_t all = 0;
  for (size_t width : widths)
    all += width + 2;
  constexpr size_t minWidth = 12; // of a column that is shortened
  while (maxWidth && all > maxWidth) {
    size_t &widest = *llvm::max_element(widths);
    if (widest <= minWidth)
      break;
    size_t cut = std::min(all - maxWidth, widest - minWidth);
    widest -= cut;
    all -= cut;
  }
  for (const auto &row : rows) {
    std::string line;
    raw_string_ostream text(line);
    for (size_t c = 0; c < row.size(); ++c) {
      text << "  ";
      std::string cell = shortened(row[c], widths[c]);
      if (c < leftColumns)
        text << left_justify(cell, widths[c]);
      else
        text << right_justify(cell, widths[c]);
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

std::string proteus::wrapped(StringRef text, size_t width, StringRef first,
                             StringRef next) {
  std::string lines;
  StringRef indent = first;
  do {
    assert(indent.size() < width && "no room for the text");
    size_t room = width - indent.size();
    StringRef part = text;
    if (text.size() > room) {
      size_t space = text.take_front(room + 1).rfind(' ');
      part = text.take_front(space == StringRef::npos ? room : space);
    }
    text = text.drop_front(part.size()).ltrim(' ');
    lines += (Twine(indent) + part + "\n").str();
    indent = next;
  } while (!text.empty());
  return lines;
}

std::string proteus::fixed(std::optional<double> value, unsigned digits) {
  if (!value)
    return "-";
  std::string text;
  raw_string_ostream(text) << format("%.*f", digits, *value);
  return text;
}

std::string proteus::countInWords(int64_t count) {
  double value = static_cast<double>(count);
  if (value >= 1e9)
    return fixed(value / 1e9, 2) + " B";
  return fixed(value / 1e6, 2) + " M";
}
