//===- PlanFields.h - fields of a plan by name ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of PlanFields.def as objects. Code that reads or writes flags, pass
// options, JSON or documentation iterates over these objects.
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

/// A field of a plan and its name in every format.
struct Field {
  enum class Kind { Integer, Switch, Choice };

  Kind kind;
  std::string section, member;
  std::string flag, option, caseKey, stackKey, tree, help;
  std::vector<std::string> aliases;
  /// The default as text; empty for fields without a default.
  std::string defaultText;
  int64_t min = 0, max = 0;       ///< inclusive bounds of an integer
  std::vector<std::string> words; ///< words of a choice
  /// True if the word "auto" leaves the field open, so that the job chooses it.
  bool isAutomatic = false;

  /// Returns the stated value as text, or nullopt if the field is open.
  std::function<std::optional<std::string>(const ParallelPlan &)> get;
  /// Makes the field open.
  std::function<void(ParallelPlan &)> reset;

  /// Sets the field to the value `text`. If the value is not allowed, the error
  /// contains the allowed words or range.
  llvm::Error set(ParallelPlan &plan, llvm::StringRef text) const;
  /// Returns the placeholder of the flag's value in the help text: "N" for an
  /// integer, "N|auto" if the job can choose it, "a|b" for a choice, or an
  /// empty string for a switch.
  std::string placeholder() const;

private:
  friend std::vector<Field> makeFields();
  std::function<bool(ParallelPlan &, llvm::StringRef)> parse;
};

/// A flag that sets the field of another flag to a fixed value. For example,
/// --use-distributed-optimizer sets the field of --zero to 1.
struct Shorthand {
  const Field *field;
  std::string flag, caseKey, help;
  std::vector<std::string> aliases;
  /// Values that `--flag true` and `--flag false` set. If `whenFalse` is empty,
  /// the flag can't be false.
  std::string whenTrue, whenFalse;
  /// Values of the field that agree with `--flag true`, because they include
  /// `whenTrue`. For example, ZeRO 2 includes ZeRO 1.
  std::vector<std::string> including;

  /// Sets the field to `whenTrue` or `whenFalse`. If the field is already
  /// stated, keeps its value. Fails if the stated value contradicts the flag,
  /// or if the flag can't have the value `value`.
  llvm::Error set(ParallelPlan &plan, bool value) const;
};

/// Returns all fields, in the order of PlanFields.def.
llvm::ArrayRef<Field> fields();
/// Returns all shorthands, in the order of PlanFields.def.
llvm::ArrayRef<Shorthand> shorthands();

/// Returns the field with the flag or alias `flag`, or null if there is none.
const Field *findByFlag(llvm::StringRef flag);

} // namespace proteus::plan

#endif // PROTEUS_PLAN_PLANFIELDS_H
