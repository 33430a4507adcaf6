//===- Parity.h - comparison with runs of the reference ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference (the published Proteus) comes with examples. This file declares
// their recorded runs, the same runs as jobs of this simulator, and the
// comparison of the two. `proteus parity` uses it; see docs/reference.md.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_REFERENCE_PARITY_PARITY_H
#define PROTEUS_REFERENCE_PARITY_PARITY_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Sim/Simulation.h"
#include "Proteus/Sim/Workload.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace proteus::parity {

/// Communication of one kind in all groups, for one micro-batch.
struct CollectiveSum {
  int64_t count = 0;
  double megabytes = 0; ///< 1e6 bytes; the reference counts volumes the same
                        ///< way
};

/// Figures of one run, from the reference or from this simulator.
struct ParityFigures {
  /// Sums by the names of the reference: "all_reduce", "all_reduce/grad",
  /// "p2p".
  std::map<std::string, CollectiveSum> collectives;
  /// Time of the kernels of the busiest device, for one micro-batch and the
  /// update.
  double computeMilliseconds = 0;
  /// Absent if the reference stopped before it had simulated the step.
  std::optional<double> iterationMilliseconds;
  std::optional<double> memoryMiB; ///< of the fullest device
  double cpuSeconds = 0;           ///< time to compile and simulate
};

/// Features of a simulated step that determine which defects of the reference
/// change its time.
struct Timeline {
  /// True if groups of one collective have unequal bandwidths.
  bool unequalGroups = false;
  /// Shares of the step. `contended`: flows wait for a full link; the link with
  /// the largest share. `exposedReduction`: gradients are reduced after the
  /// last backward kernel; the device with the largest share.
  double contended = 0, exposedReduction = 0;
};

/// Strategy of an example of the reference.
struct ReferenceStrategy {
  std::string kind; ///< "dp", "manual", "megatron", "pp", "mp"
  int64_t dp = 1, tp = 1, pp = 1, zero = 0, microBatches = 1;
  bool recompute = false, seqFirst = false;
  bool collectives = true; ///< false: messages replace collectives
  bool smallFirstBucket = false;
  double bucketMegabytes = 25;
};

/// Recorded run of the reference: its inputs and its figures.
struct ReferenceRun {
  std::string id, set, cluster, model;
  int64_t devices = 1;
  std::map<std::string, std::string> dims; ///< numbers and texts as in the file
  ReferenceStrategy strategy;
  int64_t batch = 0; ///< samples of one micro-batch, on all devices
  std::string optimizer;
  double overlapFactor = 0;
  bool shareBandwidth = true;
  bool megatron = false; ///< true: the volume of reduce-scatters is doubled
  /// Absent if the reference returned no figures.
  std::optional<ParityFigures> original;

  bool isTransformer() const {
    return llvm::StringRef(model).starts_with("gpt");
  }
};

/// Recorded runs of the reference and their clusters.
struct ReferenceRuns {
  std::vector<ReferenceRun> runs;
  /// Clusters by the names that the runs use: "titanxp/n1_g8".
  std::map<std::string, machine::Cluster> clusters;
};

/// Reads a file of runs; `source` is its name in errors.
llvm::Expected<ReferenceRuns> readReferenceRuns(llvm::StringRef text,
                                                llvm::StringRef source);

/// Returns the text of validation/reference/runs.json, which is embedded in the
/// tool.
llvm::StringRef embeddedReferenceRuns();

/// A run of the reference as a model of this simulator and a strategy tree. The
/// tree is for a model called @model.
struct ReferenceJob {
  std::string model;
  std::vector<std::string> overrides;
  int64_t batch = 0;
  std::string optimizer;
  std::string tree;
};
/// Translates a run; fails if the reference has no such strategy.
llvm::Expected<ReferenceJob> jobOf(const ReferenceRun &run);

/// Returns the collectives and the kernel time of a workload as the reference
/// counts them. Kernels of the workload include `launchGap`, which is
/// subtracted.
ParityFigures figuresOf(const sim::Workload &workload, cost::Time launchGap);
/// Returns the features of a simulated step that `explain` needs.
Timeline timelineOf(const sim::Workload &workload,
                    const sim::SimulationResult &result);

/// Figures of this simulator for a run, and the causes of deviations from the
/// reference.
struct ParityResult {
  ParityFigures ours;
  /// `ours.collectives`, corrected for the known differences; equal to the
  /// collectives of the reference if these explain all deviations.
  std::map<std::string, CollectiveSum> expected;
  /// Causes of deviations per figure: numbers of defects or names of sections
  /// in docs/reference.md.
  std::vector<std::string> collectiveCauses, timeCauses, memoryCauses;
  /// True if `expected` covers all collectives of the reference.
  bool comparesCollectives = true;
  /// Reason why the run could not be simulated; empty if it could.
  std::string error;
};

/// Sets the corrected collectives and the causes of `result` from the features
/// of a run.
void explain(const ReferenceRun &run, const Timeline &timeline,
             ParityResult &result);

/// Returns ours / reference - 1, or nullopt if either is absent.
std::optional<double> deviation(std::optional<double> ours,
                                std::optional<double> original);

/// Agreement of a result with the reference.
struct ParityVerdict {
  bool sameKindsAndCounts = false;   ///< without corrections
  bool explainedCounts = false;      ///< after correction for known differences
  std::optional<double> worstVolume; ///< largest relative deviation of a volume
                                     ///< in `expected`
  std::optional<double> compute, time, memory;
  /// True if a defect of the reference (B1 to B13) changes its time.
  bool touched = false;
};
/// Compares a result with the recorded figures of the run.
ParityVerdict judge(const ReferenceRun &run, const ParityResult &result);

} // namespace proteus::parity

#endif // PROTEUS_REFERENCE_PARITY_PARITY_H
