//===- PlanFields.h - fields of a plan by name ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of PlanFields.def as objects. Readers and writers of flags, pass
// options, JSON and documentation use them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_PLAN_PLANFIELDS_H
#define PROTEUS_PLAN_PLANFIELDS_H

#include "Proteus/Plan/ParallelPlan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <vector>

namespace proteus::plan {

/// A decision and its name in every format.
struct Field {
  enum class Kind { Integer, Switch, Choice };

  Kind kind;
  std::string section, member;
  std::string flag, option, caseKey, stackKey, tree, help;
  std::vector<std::string> aliases;
  /// Value if the field is not stated; empty for fields without a default.
  std::string defaultText;
  int64_t min = 0, max = 0;       ///< bounds of an integer
  std::vector<std::string> words; ///< spellings of a choice

  /// Returns the stated value as text, or nullopt if the field is open.
  std::function<std::optional<std::string>(const ParallelPlan &)> get;
  /// Makes the field open.
  std::function<void(ParallelPlan &)> reset;

  /// States the field. Fails with a list of the allowed values if `text` is not
  /// one of them.
  llvm::Error set(ParallelPlan &plan, llvm::StringRef text) const;
  /// Returns the values that `set` accepts, as the placeholder of a flag.
  std::string placeholder() const;

private:
  friend std::vector<Field> makeFields();
  std::function<bool(ParallelPlan &, llvm::StringRef)> parse;
};

/// A flag that states the field of another flag.
struct Shorthand {
  const Field *field;
  std::string flag, caseKey, help;
  std::vector<std::string> aliases;
  /// Values of the field for `--flag true` and `--flag false`. Empty
  /// `whenFalse`: the flag can't be false.
  std::string whenTrue, whenFalse;
  /// Values of the field that include `whenTrue`.
  std::vector<std::string> including;

  /// States the field. If it is already stated, fails unless its value is the
  /// same or includes this one.
  llvm::Error set(ParallelPlan &plan, bool value) const;
};

/// Returns all fields, in the order of PlanFields.def.
llvm::ArrayRef<Field> fields();
/// Returns all shorthands, in the order of PlanFields.def.
llvm::ArrayRef<Shorthand> shorthands();

/// Returns the field with this flag or alias, or null.
const Field *findByFlag(llvm::StringRef flag);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANFIELDS_H
