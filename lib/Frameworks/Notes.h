//===- Notes.h - settings that are not used --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_FRAMEWORKS_NOTES_H
#define PROTEUS_LIB_FRAMEWORKS_NOTES_H

#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Support/Reasons.h"

namespace proteus::frameworks {

/// Settings that a job states but the prediction does not use, and decisions
/// that the framework takes by default.
class Notes {
public:
  explicit Notes(const Framework &framework) : framework(framework) {}

  /// Adds a setting without effect on the prediction, with the reason.
  void noEffect(llvm::StringRef setting, llvm::StringRef reason) {
    without.add(setting, reason);
  }
  /// Adds a setting that is not modelled, with the assumption instead.
  void notModelled(llvm::StringRef setting, llvm::StringRef assumption) {
    unmodelled.add(setting, assumption);
  }
  /// Adds a decision that the job leaves to the framework.
  void byDefault(const llvm::Twine &text) { defaults.push_back(text.str()); }
  /// Adds a remark of its own.
  void add(const llvm::Twine &text) { others.push_back(text.str()); }

  /// Returns at most one remark per kind, then the others.
  std::vector<std::string> remarks() const;

private:
  const Framework &framework;
  Reasons without, unmodelled;
  std::vector<std::string> defaults, others;
};

} // namespace proteus::frameworks

#endif // PROTEUS_LIB_FRAMEWORKS_NOTES_H
