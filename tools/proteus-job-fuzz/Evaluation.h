//===- Evaluation.h - simulation of a random job ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_EVALUATION_H
#define PROTEUS_TOOLS_JOBFUZZ_EVALUATION_H

#include "JobCase.h"

#include "Proteus/Jobs/RunJob.h"

#include <map>
#include <optional>
#include <string>

namespace proteus {
namespace fuzz {

/// The result of a job: the figures, or the diagnostic that refuses the job.
struct Evaluated {
  std::optional<jobs::Outcome> outcome;
  std::string report; ///< JSON report; empty if the job is refused
  std::string refusal;

  bool hasRun() const { return outcome.has_value(); }
  /// Returns the time of the step in picoseconds.
  int64_t getTime() const { return outcome->result.run.iterationTime; }
  /// Returns the bytes of tensors on the device with the largest peak.
  int64_t getMemory() const { return outcome->figures.peakMemoryBytes; }
};

/// Simulates a job as `proteus simulate` does.
Evaluated evaluate(const JobCase &job);
/// Writes a job with `proteus emit` and simulates the file with the passes and
/// options of the proteus-opt command in its first line. `directory` is for
/// temporary files.
Evaluated evaluateEmitted(const JobCase &job, llvm::StringRef directory);

/// Returns the reason if a refusal is a failure of the tool: a diagnostic that
/// states no reason, or a fault of the tool itself. Otherwise returns an empty
/// text.
std::string faultOf(llvm::StringRef refusal);

/// Returns a diagnostic with `#` for numbers and `'...'` for names, by which
/// refusals are counted.
std::string kindOf(llvm::StringRef refusal);

/// Results of jobs by their command lines, so that rules share them.
class Evaluator {
public:
  const Evaluated &get(const JobCase &job);
  /// Forgets all results if they are many. Must not be called while a result of
  /// `get` is in use.
  void trim() {
    if (results.size() > 40)
      results.clear();
  }
  /// Number of simulated jobs.
  int64_t simulated = 0;

private:
  std::map<std::string, Evaluated> results;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_EVALUATION_H
