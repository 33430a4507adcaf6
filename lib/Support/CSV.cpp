//===- CSV.cpp - tables of comma-separated values -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/CSV.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <limits>

using namespace llvm;
using namespace proteus;

static std::vector<std::string> fieldsOf(StringRef line) {
  std::vector<std::string> fields(1);
  bool isQuoted = false;
  for (char c : line) {
    if (c == '"')
      isQuoted = !isQuoted;
    else if (c == ',' && !isQuoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

Expected<CSV> CSV::parse(StringRef text, StringRef source) {
  CSV csv;
  csv.source = source.str();
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.trim().empty())
      continue;
    csv.rows.push_back(fieldsOf(line));
    csv.lines.push_back(number + 1);
  }
  if (csv.rows.empty())
    return createStringError(source + ": no rows");
  return csv;
}

Expected<CSV> CSV::read(StringRef path) {
  Expected<std::string> text = readInput(path);
  if (!text)
    return text.takeError();
  return parse(*text, path);
}

Expected<size_t> CSV::column(StringRef name) const {
  const auto *found = llvm::find(ArrayRef(rows.front()), name);
  if (found == ArrayRef(rows.front()).end())
    return createStringError(Twine(source) + ": there is no column '" + name +
                             "'");
  return static_cast<size_t>(found - ArrayRef(rows.front()).begin());
}

Error CSV::errorAt(size_t i, const Twine &message) const {
  return createStringError(Twine(source) + ":" + Twine(lines[i]) + ": " +
                           message);
}

double proteus::numberOf(StringRef text) {
  double value = 0;
  if (text.trim().getAsDouble(value))
    return std::numeric_limits<double>::quiet_NaN();
  return value;
}
