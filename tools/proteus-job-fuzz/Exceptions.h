//===- Exceptions.h - known exceptions of rules -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_EXCEPTIONS_H
#define PROTEUS_TOOLS_JOBFUZZ_EXCEPTIONS_H

#include "Rules.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace proteus {
namespace fuzz {

/// A mechanism by which jobs violate a rule although no part is wrong.
struct Exception {
  std::string name;
  /// Rules that the mechanism breaks. The reproducer breaks the first one.
  std::vector<const Rule *> rules;
  /// Conditions, of which one must hold; empty: all jobs. A condition is a list
  /// of flags of the base with their values. A value that ends in `*` stands
  /// for all values with this beginning.
  std::vector<std::vector<std::pair<std::string, std::string>>> when;
  /// Largest excess that the mechanism explains.
  double bound = 0;
  std::string mechanism;
  /// A job that violates the rule by this mechanism.
  JobCase reproducer;

  bool explains(const Rule &broken, const Pair &pair,
                const Finding &finding) const;
};

/// Largest number of exceptions. More of them would hide mistakes.
inline constexpr size_t maxExceptions = 10;

/// Reads exceptions from a file. Its first comment describes the format.
llvm::Expected<std::vector<Exception>> readExceptions(llvm::StringRef path);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_EXCEPTIONS_H
