//===- Reasons.h - names grouped by reason ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_REASONS_H
#define PROTEUS_SUPPORT_REASONS_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace proteus {

/// Names of settings, each with the reason for which it is listed. Remarks list
/// names with the same reason together.
class Reasons {
public:
  /// Adds a name. Does nothing if it is already there with this reason.
  void add(llvm::StringRef name, llvm::StringRef reason);
  bool empty() const { return groups.empty(); }
  /// Returns "a, b (reason); c (other reason)", in the order of the calls.
  std::string text() const;

private:
  struct Group {
    std::string reason;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_REASONS_H
