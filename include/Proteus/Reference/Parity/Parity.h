//===- Parity.h - runs of the original Proteus, and ours --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The examples of the original release as jobs of ours, and what both say about
// them. See docs/reference.md.
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

namespace proteus::driver {

/// Communication of one kind in all groups, for one micro-batch.
struct CollectiveSum {
  int64_t count = 0;
  double megabytes = 0; ///< 1e6 bytes, as the original counts a volume
};

/// What a simulator says about a run.
struct ParityFigures {
  /// By the names of the original: "all_reduce", "all_reduce/grad", "p2p".
  std::map<std::string, CollectiveSum> collectives;
  /// Kernels of the busiest device: one micro-batch and the update.
  double computeMilliseconds = 0;
  /// Absent if the original did not get there.
  std::optional<double> iterationMilliseconds;
  std::optional<double> memoryMiB; ///< of the fullest device
  double cpuSeconds = 0;           ///< compiling and simulating
};

/// What decides whether the original's defects change the time of a run.
struct Timeline {
  /// Whether groups of one collective have unequal bandwidths.
  bool unequalGroups = false;
  /// Shares of the step in which flows are held back by a full link, and in
  /// which gradients are reduced after the last backward kernel; those of the
  /// link and of the device with most.
  double contended = 0, exposedReduction = 0;
};

/// How an example of the original splits a model.
struct ReferenceStrategy {
  std::string kind; ///< "dp", "manual", "megatron", "pp", "mp"
  int64_t dp = 1, tp = 1, pp = 1, zero = 0, microBatches = 1;
  bool recompute = false, seqFirst = false;
  bool collectives = true; ///< false: messages in place of them
  bool smallFirstBucket = false;
  double bucketMegabytes = 25;
};

/// A run of the original: what it was given and what it said.
struct ReferenceRun {
  std::string id, set, cluster, model;
  int64_t devices = 1;
  std::map<std::string, std::string> dims; ///< numbers and texts, as written
  ReferenceStrategy strategy;
  int64_t batch = 0; ///< of one micro-batch, on all devices
  std::string optimizer;
  double overlapFactor = 0;
  bool shareBandwidth = true;
  bool megatron = false; ///< reduce-scatters are doubled
  /// Whether it said anything at all.
  std::optional<ParityFigures> original;

  bool isTransformer() const {
    return llvm::StringRef(model).starts_with("gpt");
  }
};

/// Runs of the original and the clusters they ran on.
struct ReferenceRuns {
  std::vector<ReferenceRun> runs;
  /// By the names that the runs use: "titanxp/n1_g8".
  std::map<std::string, machine::Cluster> clusters;
};

/// Reads a file of runs; `source` names it in errors.
llvm::Expected<ReferenceRuns> readReferenceRuns(llvm::StringRef text,
                                                llvm::StringRef source);

/// The text of validation/reference/runs.json, which is part of the tool.
llvm::StringRef embeddedReferenceRuns();

/// A run as a model of ours and a tree. The tree is for a model called @model.
struct ReferenceJob {
  std::string model;
  std::vector<std::string> overrides;
  int64_t batch = 0;
  std::string optimizer;
  std::string tree;
};
llvm::Expected<ReferenceJob> jobOf(const ReferenceRun &run);

/// Collectives and kernels of a workload as the original counts them;
/// `launchGap` is part of every kernel there and not counted here.
ParityFigures figuresOf(const sim::Workload &workload, cost::Time launchGap);
Timeline timelineOf(const sim::Workload &workload,
                    const sim::SimulationResult &result);

/// What we say about a run, and why the original says something else.
struct ParityResult {
  ParityFigures ours;
  /// Our collectives with the stated differences undone.
  std::map<std::string, CollectiveSum> expected;
  /// Numbers of defects and of sections in docs/reference.md, per figure.
  std::vector<std::string> collectiveCauses, timeCauses, memoryCauses;
  /// Whether `expected` says all of the collectives of the original.
  bool comparesCollectives = true;
  /// Why we say nothing; empty if we do.
  std::string error;
};

/// Finds the causes of what differs from the features of the run.
void explain(const ReferenceRun &run, const Timeline &timeline,
             ParityResult &result);

/// ours / original - 1; none without either.
std::optional<double> deviation(std::optional<double> ours,
                                std::optional<double> original);

/// How a result compares with the original.
struct ParityVerdict {
  bool sameKindsAndCounts = false;   ///< as they are
  bool explainedCounts = false;      ///< with the stated differences undone
  std::optional<double> worstVolume; ///< of the expected collectives
  std::optional<double> compute, time, memory;
  /// Whether a defect of the original (B1..B13) changes its time.
  bool touched = false;
};
ParityVerdict judge(const ReferenceRun &run, const ParityResult &result);

} // namespace proteus::driver

#endif // PROTEUS_REFERENCE_PARITY_PARITY_H
