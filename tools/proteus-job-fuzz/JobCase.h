//===- JobCase.h - a random job as command-line flags -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_JOBCASE_H
#define PROTEUS_TOOLS_JOBFUZZ_JOBCASE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace proteus {
namespace fuzz {

/// A job as the flags of `proteus simulate`, in the order in which they are
/// given. A flag without a value in the command line has the value "true".
/// `set`, which may occur several times, is the only flag that may be repeated.
struct JobCase {
  std::vector<std::pair<std::string, std::string>> flags;

  /// Returns the value of a flag, or an empty text if the flag is not given.
  llvm::StringRef get(llvm::StringRef flag) const;
  bool has(llvm::StringRef flag) const;
  /// Returns the value of a flag that is an integer, or `otherwise`.
  int64_t getInteger(llvm::StringRef flag, int64_t otherwise) const;
  /// Returns the number of data-parallel ranks, or 0 if the degrees do not
  /// divide the number of devices.
  int64_t getReplicas() const;

  void add(llvm::StringRef flag, llvm::StringRef value);
  /// Sets a flag. Removes other flags that set the same field of the plan.
  void set(llvm::StringRef flag, llvm::StringRef value);
  /// Returns a copy in which a flag has another value.
  JobCase with(llvm::StringRef flag, llvm::StringRef value) const;
  /// Returns a copy without a flag.
  JobCase without(llvm::StringRef flag) const;

  /// Returns the flags as arguments of a command: "--tp=2".
  std::vector<std::string> getArguments() const;
  /// Returns the flags as text for a shell: "--model gpt2 --tp 2".
  std::string str() const;
};

/// Reads a case from the text of `JobCase::str`, without quotes.
JobCase parseCase(llvm::StringRef text);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_JOBCASE_H
