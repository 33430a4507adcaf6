//===- CSV.h - measurements as they are published ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_CSV_H
#define PROTEUS_CALIBRATE_CSV_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus::calibrate {

/// Comma-separated values; fields may be quoted.
class CSV {
public:
  static llvm::Expected<CSV> read(llvm::StringRef path);

  size_t size() const { return rows.size(); }
  llvm::ArrayRef<std::string> row(size_t i) const { return rows[i]; }
  /// The column whose name the first row has; fails if there is none.
  llvm::Expected<size_t> column(llvm::StringRef name) const;

private:
  std::vector<std::vector<std::string>> rows; ///< the first one included
};

/// The number that `text` is, or NaN.
double numberOf(llvm::StringRef text);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_CSV_H
