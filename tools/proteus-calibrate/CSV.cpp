//===- CSV.cpp - measurements as they are published -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CSV.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>

using namespace llvm;
using namespace proteus::calibrate;

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

Expected<CSV> CSV::read(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text =
      MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text)
    return createStringError("can't read " + path + ": " +
                             text.getError().message());
  CSV csv;
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    csv.rows.push_back(fieldsOf(line));
  if (csv.rows.empty())
    return createStringError(path + ": no rows");
  return csv;
}

Expected<size_t> CSV::column(StringRef name) const {
  const auto *found = llvm::find(ArrayRef(rows.front()), name);
  if (found == ArrayRef(rows.front()).end())
    return createStringError("there is no column '" + name + "'");
  return static_cast<size_t>(found - ArrayRef(rows.front()).begin());
}

double proteus::calibrate::numberOf(StringRef text) {
  double value = 0;
  if (text.trim().getAsDouble(value))
    return std::numeric_limits<double>::quiet_NaN();
  return value;
}
