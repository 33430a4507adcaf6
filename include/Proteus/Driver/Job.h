//===- Job.h - a training job, as a user states it --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DRIVER_JOB_H
#define PROTEUS_DRIVER_JOB_H

#include "Proteus/Driver/Flags.h"
#include "Proteus/Machine/Stack.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::driver {

/// How a model is split over devices, in the words of Megatron-LM.
struct Strategy {
  /// Data-parallel degree, experts' included; absent: what is left of the GPUs.
  std::optional<int64_t> dp;
  int64_t tp = 1, pp = 1, cp = 1, ep = 1;
  /// Into how many parts an expert is cut: `tp`, or 1 to place whole experts on
  /// the devices of tp too, which `ep` then counts; absent: `tp`.
  std::optional<int64_t> etp;
  int64_t virtualStages = 1;
  int64_t microBatch = 1;
  /// Micro-batches per step and pipeline; absent: from the global batch.
  std::optional<int64_t> accumulation;
  std::string schedule = "1f1b";
  std::string recompute = "none";
  std::string contextKind = "all-gather";
  bool sequenceParallel = false;
  int64_t zero = 0;
  /// Data-parallel neighbours over which ZeRO splits; absent: all.
  std::optional<int64_t> zeroGroup;
  std::optional<int64_t> prefetch;
  bool reshardAfterForward = true;
  bool offloadWeight = false, offloadState = false, offloadActivation = false;
  /// Whole embedding tables on single data-parallel devices.
  bool placeTables = false;
  /// Whether gradients are reduced during the backward pass; absent: as the
  /// stack does it.
  std::optional<bool> overlapGradients;
  /// How gradients fill buckets; empty: as the stack does it.
  std::string bucketRule;
  /// How layers are dealt out to stages; empty: as the stack does it.
  std::string stagePartition;
  /// Whether what is gathered for the forward pass is kept for the backward
  /// pass; absent: as the stack does it.
  std::optional<bool> keepGathered;
  /// Bytes of a gradient bucket, and of the first one; absent: by the rule.
  std::optional<int64_t> bucketSize, firstBucketSize;
  /// Bytes of a bucket of updated parameters; absent: as of gradients.
  std::optional<int64_t> gatherBucketSize;
  /// Whether ZeRO 1 sums whole gradients behind the backward pass and takes a
  /// part, in place of scattering them; absent: as the stack does it.
  std::optional<bool> allReduceGradients;
  /// What runs beside collectives between kernels; empty: as the stack does it.
  std::string tensorOverlap;
  std::optional<int64_t> overlapChunks;
  /// Whether updated parameters are gathered during the next forward pass,
  /// kernels run beside messages, and messages are sliced; absent: as the stack
  /// does it.
  std::optional<bool> overlapParameters, overlapMessages, scatterMessages;

  /// Whether tp places experts and does not cut them.
  bool hasWholeExperts() const { return tp > 1 && etp == 1; }
  /// Which part of the data-parallel degree places experts.
  int64_t expertReplicas() const { return hasWholeExperts() ? ep / tp : ep; }

  /// "tp=8 pp=4 zero=1": what differs from the defaults.
  std::string text() const;
};

/// Everything that decides a figure.
struct Job {
  /// A preset, a Hugging Face config.json or model file or the text of one, or
  /// an .mlir file.
  std::string model;
  /// Dimensions that differ, as `name=value`.
  std::vector<std::string> overrides;
  std::optional<int64_t> seq;
  /// Tokens that a sequence holds on average; absent: it is full.
  std::optional<int64_t> meanTokens;
  /// A preset without number of nodes, a preset with it, or a cluster file.
  std::string cluster;
  /// The cluster as an inline dictionary of the IR, instead of `cluster`.
  std::string clusterText;
  std::optional<int64_t> gpus;
  std::optional<int64_t> globalBatch;
  std::string precision = "bf16";
  std::string optimizer = "adam";
  /// Types of gradients and of the optimizer's copy; absent: by precision.
  std::optional<std::string> gradientType, masterType;
  Strategy strategy;
  /// The software: a name, a file or JSON text; `none` costs nothing. Empty:
  /// what a model in a file says, `generic` for others.
  std::string stack;
  /// Microseconds between two steps; absent: as the stack says.
  std::optional<int64_t> stepGap;
  /// How many times the mean number of tokens the fullest expert gets, and how
  /// many times it has room for; absent: `capacity_factor` of the model.
  std::optional<double> expertBalance, expertCapacity;
  /// Whether the room that is left is computed too.
  bool padExperts = false;
  /// Whether steps are captured as CUDA graphs, which the host launches at
  /// once.
  bool cudaGraphs = false;
  /// The place; empty: nothing is known.
  std::string site;

  // What is modelled; see the options of the pass `simulate`.
  std::string fidelity = "flow", fold = "all", share = "on", overlap = "on",
              kernels = "fitted";
  std::optional<double> overlapFactor;
  std::vector<std::string> profiles; ///< files
  /// Mean relative error of exposed communication, for the interval; absent: as
  /// of networks that are known.
  std::optional<double> collectiveError;

  bool isFile() const { return llvm::StringRef(model).ends_with(".mlir"); }
};

/// Adds the flags that set `job`; those of a strategy alone are apart, for
/// commands that take several.
void addModelFlags(Flags &flags, Job &job);
void addStrategyFlags(Flags &flags, Strategy &strategy);

/// Sets `strategy` from "tp=8 pp=4 zero=1": names of flags without dashes.
llvm::Error parseStrategy(llvm::StringRef text, Strategy &strategy);

/// Sets the slots of experts from how tokens are spread over them.
llvm::Error applyExpertBalance(Job &job);

/// The stack that a job names.
llvm::Expected<machine::Stack> stackOf(const Job &job);

/// Sets what `stack` decides and the job leaves open: kernels of the model,
/// padding of its vocabulary, when gradients are reduced and in which type.
/// What it would decide and can't is added to `remarks`.
llvm::Error applyStack(const machine::Stack &stack, Job &job,
                       std::vector<std::string> &remarks);

/// Shortens sequences to what a stack that batches samples by length computes
/// of them on average.
llvm::Error applyMeanTokens(const machine::Stack &stack, Job &job,
                            std::vector<std::string> &remarks);

/// Reads ZeRO stage, batch sizes, accumulation, offload and bucket sizes from a
/// DeepSpeed configuration.
llvm::Error readDeepSpeed(llvm::StringRef text, llvm::StringRef source,
                          Job &job);

/// What a job comes to on its GPUs.
struct Sizes {
  int64_t gpus = 1;
  int64_t dp = 1; ///< experts' included
  int64_t microBatches = 1;
  int64_t globalBatch = 1;
};

/// Works out the sizes; `clusterGPUs` are those of a cluster that states its
/// size. An error says which flags contradict each other and what would fit.
llvm::Expected<Sizes> sizesOf(const Job &job,
                              std::optional<int64_t> clusterGPUs);

} // namespace proteus::driver

#endif // PROTEUS_DRIVER_JOB_H
