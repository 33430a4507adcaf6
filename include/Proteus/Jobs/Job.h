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
#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Support/Flags.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::jobs {

/// A training job and the options of its simulation: everything that determines
/// the simulated figures.
struct Job {
  /// One of: the name of a preset; the path of an .mlir file; the path or the
  /// text of a model file or of a Hugging Face config.json.
  std::string model;
  /// Dimensions of the model that get another value, as `name=value`:
  /// "layers=4".
  std::vector<std::string> overrides;
  std::optional<int64_t> seq;
  /// Mean number of tokens in a sequence, not counting padding. If absent, all
  /// sequences are full.
  std::optional<int64_t> meanTokens;
  /// Name of a preset or path of a cluster file, with or without the number of
  /// nodes: "dgx-h100:4", "dgx-h100", "cluster.json:4" or "cluster.json".
  std::string cluster;
  /// The cluster as an inline dictionary of the IR, instead of `cluster`.
  std::string clusterText;
  std::optional<int64_t> gpus;
  std::optional<int64_t> globalBatch;
  static constexpr plan::Precision defaultPrecision = plan::Precision::BF16;
  static constexpr plan::Optimizer defaultOptimizer = plan::Optimizer::Adam;
  /// If absent, the default above or, on devices without units for bf16, fp16
  /// or fp32.
  std::optional<plan::Precision> precision;
  std::optional<plan::Optimizer> optimizer; ///< if absent, the default above
  /// Element types of gradients and of the master copy of parameters, such as
  /// "f32". If a type is absent (nullopt), `precision` determines it. An empty
  /// text in `gradientType` means the type of the parameters. An empty text in
  /// `masterType` means that there is no master copy.
  std::optional<std::string> gradientType, masterType;
  /// The vocabulary is padded to a multiple of this number times `plan.tp`. If
  /// absent, the stack decides.
  std::optional<int64_t> vocabMultiple;
  /// Parallel decisions. Fields that the user does not state are open.
  /// `applyStack` fills those that the stack decides and lists them in
  /// `fromStack`.
  plan::ParallelPlan plan;
  std::vector<const plan::Field *> fromStack;
  /// Fields of `plan` that nothing states and that `run` chose for this job.
  std::vector<const plan::Field *> assumed;
  /// Software stack: a name, a path or JSON text. With `none`, no stack adds
  /// time or memory. If `stack` is empty, an .mlir file keeps the stack that it
  /// states itself, and other models have the stack `generic`.
  std::string stack;
  /// Microseconds between two steps. If absent, the value of the stack applies.
  std::optional<int64_t> stepGap;
  /// Both are multiples of the mean number of tokens per expert.
  /// `expertBalance`: tokens that the router sends to the fullest expert.
  /// `expertCapacity`: tokens that an expert can hold; it drops all further
  /// tokens. If both are absent, `capacity_factor` of the model applies.
  std::optional<double> expertBalance, expertCapacity;
  /// True if experts also compute the unused part of their capacity.
  bool padExperts = false;
  /// True if the host launches a step as one CUDA graph, so that single kernels
  /// cost no host time.
  bool cudaGraphs = false;
  /// Name or path of the site, which holds measured constants of the cluster's
  /// network and hosts. If `site` is empty, no such constants apply.
  std::string site;

  // Options of the pass `simulate`.
  plan::Fidelity fidelity = plan::Fidelity::Flow;
  plan::Fold fold = plan::Fold::All;
  plan::Switch share = plan::Switch::On, overlap = plan::Switch::On;
  plan::KernelModel kernels = plan::KernelModel::Fitted;
  std::vector<std::string> profiles; ///< paths of files with measured kernels
  /// Mean relative error of exposed communication. It widens the 80 % interval
  /// of the time. If absent, the default of the pass `simulate` applies, which
  /// holds for known networks.
  std::optional<double> collectiveError;

  bool isFile() const { return llvm::StringRef(model).ends_with(".mlir"); }
  bool statesCluster() const {
    return !cluster.empty() || !clusterText.empty();
  }
};

/// Adds the flags that set fields of `job`, except those of the plan.
/// `addPlanFlags` adds these separately, because `parsePlan` accepts only them.
/// `clusterText`, `gradientType`, `masterType`, `vocabMultiple` and
/// `collectiveError` have no flags.
void addModelFlags(Flags &flags, Job &job);
/// Adds the flags that set `plan`.
void addPlanFlags(Flags &flags, plan::ParallelPlan &plan);

/// Sets fields of `plan` from flags without dashes: "tp=8 pp=4 zero=1".
llvm::Error parsePlan(llvm::StringRef text, plan::ParallelPlan &plan);

/// Computes `capacity_factor` from the balance, the capacity and the padding of
/// experts, and adds it to the overrides of the model. Does nothing if the job
/// states none of them.
llvm::Error applyExpertBalance(Job &job);

/// Returns the stack that `job.stack` names; `none` is an empty stack. If the
/// job names no stack, returns `generic`, or an empty stack if the model is an
/// .mlir file.
llvm::Expected<machine::Stack> stackOf(const Job &job);

/// Completes a job with the decisions of `stack`: open fields of the plan and
/// the type of gradients. If the model is not an .mlir file, also sets the
/// kernels, the type of the logits and the dropout of the model, and pads its
/// vocabulary. Adds a remark for each decision that the simulator does not
/// model for this job.
llvm::Error applyStack(const machine::Stack &stack, Job &job,
                       std::vector<std::string> &remarks);

/// Applies `job.meanTokens`, and does nothing if it is absent. If `stack`
/// batches samples by length, replaces `job.seq` by the mean length of padded
/// samples and scales the number of predicted tokens. Otherwise only adds a
/// remark that `meanTokens` has no effect.
llvm::Error applyMeanTokens(const machine::Stack &stack, Job &job,
                            std::vector<std::string> &remarks);

} // namespace proteus::jobs

#endif // PROTEUS_JOBS_JOB_H
