//===- Job.h - a training job, as a user states it --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_JOBS_JOB_H
#define PROTEUS_JOBS_JOB_H

#include "Proteus/Machine/Stack.h"
#include "Proteus/Plan/ParallelPlan.h"
#include "Proteus/Support/Flags.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::driver {

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
  /// Decisions that the user states.
  plan::ParallelPlan plan;
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
void addPlanFlags(Flags &flags, plan::ParallelPlan &plan);

/// Adds the decisions of "tp=8 pp=4 zero=1" to `plan`: flags without dashes.
llvm::Error parsePlan(llvm::StringRef text, plan::ParallelPlan &plan);

/// Sets the slots of experts from how tokens are spread over them.
llvm::Error applyExpertBalance(Job &job);

/// The stack that a job names.
llvm::Expected<machine::Stack> stackOf(const Job &job);

/// Applies the decisions of `stack` that the job leaves open: kernels of the
/// model, padding of its vocabulary, fields of the plan, type of gradients.
/// Decisions that do not apply are added to `remarks`.
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

} // namespace proteus::driver

#endif // PROTEUS_JOBS_JOB_H
