//===- Parity.h - comparison with runs of the reference ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comparison with the reference, the published Proteus. Runs of the reference's
// examples were recorded. This file declares the recorded runs, their
// translation to jobs of this simulator, and the comparison of the figures, for
// `proteus parity`. See docs/reference.md.
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

/// Sum over all collectives of one kind, in all groups, for one micro-batch and
/// the update.
struct CollectiveSum {
  int64_t count = 0;
  /// Volume in units of 1e6 bytes, counted as in the reference.
  double megabytes = 0;
};

/// Figures of one run, from the reference or from this simulator.
struct ParityFigures {
  /// Sums per kind of collective, under the names of the reference:
  /// "all_reduce", "all_reduce/grad", "p2p".
  std::map<std::string, CollectiveSum> collectives;
  /// Time of the kernels of the busiest device, for one micro-batch and the
  /// update.
  double computeMilliseconds = 0;
  /// Absent if the reference stopped before it had simulated the step.
  std::optional<double> iterationMilliseconds;
  std::optional<double> memoryMiB; ///< of the fullest device
  double cpuSeconds = 0;           ///< time to compile and simulate
};

/// Features of a simulated step. They determine which defects of the reference
/// change the time of the step.
struct Timeline {
  /// True if groups of one collective have unequal bandwidths.
  bool unequalGroups = false;
  /// Times as fractions of the step. `contended`: time in which a full link
  /// limits flows; the maximum over all links. `exposedReduction`: time of
  /// gradient reductions after the last backward kernel; the maximum over all
  /// devices.
  double contended = 0, exposedReduction = 0;
};

/// Strategy of an example of the reference.
struct ReferenceStrategy {
  /// "dp": data parallel. "manual": the linears of a convolutional network are
  /// split over all devices. "megatron": tensor parallel. "pp": pipeline
  /// parallel. "mp": each embedding table of DLRM is on one device.
  std::string kind;
  int64_t dp = 1, tp = 1, pp = 1, zero = 0, microBatches = 1;
  bool recompute = false, seqFirst = false;
  bool collectives = true; ///< false: messages replace collectives
  bool smallFirstBucket = false;
  double bucketMegabytes = 25;
};

/// A recorded run of the reference: its inputs and its figures.
struct ReferenceRun {
  std::string id, set, cluster, model;
  int64_t devices = 1;
  std::map<std::string, std::string> dims; ///< dimensions of the model
  ReferenceStrategy strategy;
  int64_t batch = 0; ///< samples of one micro-batch, on all devices
  std::string optimizer;
  double overlapFactor = 0;
  bool shareBandwidth = true;
  /// True if the reference counts the volume of each reduce-scatter twice.
  bool megatron = false;
  /// Recorded figures; absent if the reference returned none.
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

/// Reads a file of runs from its text. `source` is its name in errors.
llvm::Expected<ReferenceRuns> readReferenceRuns(llvm::StringRef text,
                                                llvm::StringRef source);

/// Returns the text of validation/reference/runs.json, which is embedded in the
/// tool.
llvm::StringRef embeddedReferenceRuns();

/// A run of the reference, translated to a model of this simulator and to the
/// body of a strategy tree.
struct ReferenceJob {
  std::string model;
  std::vector<std::string> overrides;
  int64_t batch = 0;
  std::string optimizer;
  std::string tree;
};
/// Translates a run. Fails if the reference has no such strategy for the model,
/// or if the degrees do not fit the number of devices.
llvm::Expected<ReferenceJob> jobOf(const ReferenceRun &run);

/// Returns the collectives and the kernel time of a workload as the reference
/// counts them. Subtracts `launchGap` from each kernel, because the reference
/// does not count it as kernel time.
ParityFigures figuresOf(const sim::Workload &workload, cost::Time launchGap);
/// Returns the features of a simulated step that `explain` needs.
Timeline timelineOf(const sim::Workload &workload,
                    const sim::SimulationResult &result);

/// Figures of this simulator for a run, and the causes of deviations from the
/// reference.
struct ParityResult {
  ParityFigures ours;
  /// `ours.collectives`, corrected for the known differences between the two
  /// simulators. If these differences explain all deviations, `expected` equals
  /// the collectives of the reference.
  std::map<std::string, CollectiveSum> expected;
  /// Causes of the deviations of each figure, by their names in
  /// docs/reference.md: a defect of the reference ("B5") or another known
  /// difference ("loss").
  std::vector<std::string> collectiveCauses, timeCauses, memoryCauses;
  /// False if `expected` can't be computed for the run, so that collectives are
  /// not compared.
  bool comparesCollectives = true;
  /// Reason why the run could not be simulated; empty if it could.
  std::string error;
};

/// Sets `expected`, `comparesCollectives` and the causes of deviations in
/// `result`. These follow from `result.ours`, the inputs of the run and
/// `timeline`.
void explain(const ReferenceRun &run, const Timeline &timeline,
             ParityResult &result);

/// Returns ours / original - 1, or nullopt if one of them is absent or
/// `original` is not positive.
std::optional<double> deviation(std::optional<double> ours,
                                std::optional<double> original);

/// Agreement of a result with the reference.
struct ParityVerdict {
  /// True if the collectives are equal in kind and count, without corrections.
  bool sameKindsAndCounts = false;
  /// True if the collectives are equal in kind and count after the correction
  /// for known differences, or if they are not compared.
  bool explainedCounts = false;
  /// Largest relative deviation of a volume in `expected` from that of the same
  /// kind of collective in the reference, after the rounding error of the
  /// reference is subtracted. Absent if collectives are not compared.
  std::optional<double> worstVolume;
  /// Relative deviations of the kernel time, the step time and the memory.
  std::optional<double> compute, time, memory;
  /// True if a defect (B1 to B13) changes the step time of the reference.
  bool touched = false;
};
/// Compares a result with the recorded figures of the run. If there are no such
/// figures, or if the run could not be simulated, sets only `touched`.
ParityVerdict judge(const ReferenceRun &run, const ParityResult &result);

} // namespace proteus::parity

#endif // PROTEUS_REFERENCE_PARITY_PARITY_H
