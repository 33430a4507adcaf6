//===- Job.h - description of a training job --------------------*- C++ -*-===//
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

namespace proteus::jobs {

/// A job: everything that determines the figures.
struct Job {
  /// Name of a preset, path or text of a Hugging Face config.json or a model
  /// file, or path of an .mlir file.
  std::string model;
  /// Dimensions that differ from those of the model, as `name=value`.
  std::vector<std::string> overrides;
  std::optional<int64_t> seq;
  /// Mean number of tokens that a sequence holds; absent: sequences are full.
  std::optional<int64_t> meanTokens;
  /// Name of a preset, with or without the number of nodes ("dgx-h100:4"), or
  /// path of a cluster file.
  std::string cluster;
  /// The cluster as an inline dictionary of the IR, instead of `cluster`.
  std::string clusterText;
  std::optional<int64_t> gpus;
  std::optional<int64_t> globalBatch;
  plan::Precision precision = plan::Precision::BF16;
  plan::Optimizer optimizer = plan::Optimizer::Adam;
  /// Types of gradients and of the master copy of parameters; absent: those of
  /// the precision.
  std::optional<std::string> gradientType, masterType;
  /// Decisions that the user states.
  plan::ParallelPlan plan;
  /// Software stack: a name, a path or JSON text. `none` costs no time and no
  /// memory. Empty: the stack that a model in a file states, `generic` for
  /// other models.
  std::string stack;
  /// Microseconds between two steps; absent: the value of the stack.
  std::optional<int64_t> stepGap;
  /// Tokens of the fullest expert and capacity of an expert, both as multiples
  /// of the mean number of tokens; absent: `capacity_factor` of the model.
  std::optional<double> expertBalance, expertCapacity;
  /// True if unused capacity of experts is computed too.
  bool padExperts = false;
  /// True if steps are captured as CUDA graphs, which the host launches at
  /// once.
  bool cudaGraphs = false;
  /// Site: a name or a path; empty: no constants of the cluster are known.
  std::string site;

  // Options of the pass `simulate`.
  plan::Fidelity fidelity = plan::Fidelity::Flow;
  plan::Fold fold = plan::Fold::All;
  plan::Switch share = plan::Switch::On, overlap = plan::Switch::On;
  plan::KernelModel kernels = plan::KernelModel::Fitted;
  std::optional<double> overlapFactor;
  std::vector<std::string> profiles; ///< paths of files
  /// Mean relative error of exposed communication, for the uncertainty of the
  /// time; absent: the value for known networks.
  std::optional<double> collectiveError;

  bool isFile() const { return llvm::StringRef(model).ends_with(".mlir"); }
};

/// Adds the flags that set `job`, except for those of the plan: commands that
/// take several plans parse these separately.
void addModelFlags(Flags &flags, Job &job);
/// Adds the flags that set `plan`.
void addPlanFlags(Flags &flags, plan::ParallelPlan &plan);

/// Adds the decisions of a text like "tp=8 pp=4 zero=1" to `plan`. The words
/// are flags without dashes.
llvm::Error parsePlan(llvm::StringRef text, plan::ParallelPlan &plan);

/// Sets the capacity factor of the model from the expert balance, capacity and
/// padding of the job.
llvm::Error applyExpertBalance(Job &job);

/// Returns the stack that a job names.
llvm::Expected<machine::Stack> stackOf(const Job &job);

/// Applies the decisions of `stack` that the job leaves open: kernels of the
/// model, padding of its vocabulary, fields of the plan, type of gradients.
/// Adds a remark for each decision that the simulator does not model for this
/// job.
llvm::Error applyStack(const machine::Stack &stack, Job &job,
                       std::vector<std::string> &remarks);

/// Shortens sequences to the mean length that `stack` computes, if it batches
/// samples by length.
llvm::Error applyMeanTokens(const machine::Stack &stack, Job &job,
                            std::vector<std::string> &remarks);

/// Reads precision, ZeRO stage, batch sizes, accumulation, offload and bucket
/// sizes from a DeepSpeed configuration.
llvm::Error readDeepSpeed(llvm::StringRef text, llvm::StringRef source,
                          Job &job);

} // namespace proteus::jobs

#endif // PROTEUS_JOBS_JOB_H
