//===- JobStatement.h - the job of a report, restated -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A report restates the job that was simulated, so that a reader need not know
// the command, the stack or the defaults. The driver states the whole job. The
// pass `simulate` states those values that it finds in its module.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_JOBSTATEMENT_H
#define PROTEUS_SIM_JOBSTATEMENT_H

#include "Proteus/Plan/Origin.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus::json {
class Writer;
} // namespace proteus::json

namespace proteus::sim {

/// A value of a job, with its origin. `value` is empty (std::monostate) if the
/// job has no such value, for example no sequence length.
struct JobValue {
  using Value = std::variant<std::monostate, bool, int64_t, std::string>;
  std::string key; ///< name in the JSON report, for example "global_batch"
  Value value;
  plan::Origin origin = plan::Origin::Default;

  /// Returns the value as text: "on" or "off" for a switch, "-" if it is empty.
  std::string text() const;
};

/// The values of a job in the order of the report.
class JobStatement {
public:
  /// Adds a value, or replaces the value of `key`.
  void set(llvm::StringRef key, JobValue::Value value, plan::Origin origin);
  /// Returns the value of `key`, or null if the statement lacks it.
  const JobValue *find(llvm::StringRef key) const;
  bool empty() const { return values.empty(); }
  llvm::ArrayRef<JobValue> getValues() const { return values; }

  /// Writes an object with one member per value: {"value", "origin"}.
  void write(json::Writer &writer) const;
  /// Prints a table with the values that a reader needs, and their origins. The
  /// JSON report has all values.
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<JobValue> values;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_JOBSTATEMENT_H
