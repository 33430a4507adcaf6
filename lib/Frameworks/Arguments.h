//===- Arguments.h - flags of a pasted command -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_FRAMEWORKS_ARGUMENTS_H
#define PROTEUS_LIB_FRAMEWORKS_ARGUMENTS_H

#include "Notes.h"

#include "llvm/ADT/StringMap.h"

namespace proteus::frameworks {

/// The flags of a command by name, as `argparse` of Python reads them: the last
/// value of a repeated flag counts. A read of a wrong value records an error,
/// of which the first is kept, and returns nullopt.
class Arguments {
public:
  /// Reads `words`. Adds flags without an effect on the prediction to `notes`.
  /// Fails if flags are unknown or refused, all of which the error names, or if
  /// values are missing.
  static llvm::Expected<Arguments> parse(const Framework &framework,
                                         llvm::ArrayRef<std::string> words,
                                         Notes &notes);

  bool has(llvm::StringRef name) const { return values.contains(name); }
  std::optional<int64_t> integer(llvm::StringRef name, int64_t min,
                                 int64_t max);
  /// Returns a number in [min, max].
  std::optional<double> number(llvm::StringRef name, double min, double max);
  /// Returns a value that is one of `allowed`.
  std::optional<std::string> word(llvm::StringRef name,
                                  llvm::ArrayRef<llvm::StringRef> allowed);
  /// Returns the value of a flag as it is; empty if the flag has none.
  std::optional<std::string> text(llvm::StringRef name) const;
  /// Returns the values of a flag that takes several.
  std::vector<std::string> list(llvm::StringRef name) const;
  /// Returns the settings that are stated, in the order of the table.
  std::vector<const Setting *> stated() const;

  /// Records the error `message`, unless there is one.
  void fail(const llvm::Twine &message);
  /// Returns the first error.
  llvm::Error takeError();

private:
  explicit Arguments(const Framework &framework) : framework(&framework) {}

  const Framework *framework;
  llvm::StringMap<std::vector<std::string>> values;
  std::string error;
};

} // namespace proteus::frameworks

#endif // PROTEUS_LIB_FRAMEWORKS_ARGUMENTS_H
