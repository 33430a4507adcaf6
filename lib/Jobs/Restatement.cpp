//===- Restatement.cpp - the job of a report, restated --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Restatement.h"

#include "Proteus/Models/CountParameters.h"
#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Support/JSON.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::jobs;
using llvm::StringRef;
using plan::Origin;
using sim::JobStatement;
using sim::JobValue;

/// Returns the key of a field in the report: the name of its flag, with
/// underscores.
static std::string keyOf(const plan::Field &field) {
  std::string key = field.flag;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

/// Returns a value of a field with the type that it has in JSON.
static JobValue::Value typed(const plan::Field &field, StringRef text) {
  if (field.kind == plan::Field::Kind::Switch)
    return text == "true";
  int64_t number;
  if (!text.getAsInteger(10, number))
    return number;
  if (text.empty())
    return std::monostate();
  return text.str();
}

/// Adds the value of every field of the plan.
static void stateFields(const Job &given, const Job &job,
                        const plan::Sizes &sizes, JobStatement &statement) {
  for (const plan::Field &field : plan::fields()) {
    std::optional<std::string> value = field.get(job.plan);
    Origin origin = llvm::is_contained(given.assumed, &field) ? Origin::Assumed
                    : llvm::is_contained(job.fromStack, &field) ? Origin::Stack
                    : value ? Origin::Given
                            : Origin::Default;
    statement.set(keyOf(field), typed(field, value.value_or(field.defaultText)),
                  origin);
  }
  // The sizes of the job determine these fields.
  auto derive = [&](StringRef key, int64_t value, bool isGiven) {
    statement.set(key, value, isGiven ? Origin::Given : Origin::Derived);
  };
  derive("dp", sizes.dp, given.plan.dp.has_value());
  derive("accumulation", sizes.microBatches,
         given.plan.accumulation.has_value());
  // Values that the plan replaces by others.
  plan::ResolvedPlan plan = plan::resolve(job.plan);
  if (plan.scheduleOrder() != plan.schedule)
    statement.set("schedule", plan::stringifyEnum(plan.scheduleOrder()).str(),
                  Origin::Derived);
  if (plan.tp == 1 && plan.sequenceParallel)
    statement.set("sequence_parallel", false, Origin::Derived);
  if (!plan.etp)
    statement.set("etp", plan.tp, Origin::Default);
}

/// Adds the types and the optimizer of the training step.
static void stateTraining(const Job &given, const Job &job,
                          JobStatement &statement) {
  plan::Precision precision = job.precision.value_or(Job::defaultPrecision);
  statement.set("precision", plan::stringifyEnum(precision).str(),
                given.precision                      ? Origin::Given
                : precision != Job::defaultPrecision ? Origin::Assumed
                                                     : Origin::Default);
  statement.set(
      "optimizer",
      plan::stringifyEnum(job.optimizer.value_or(Job::defaultOptimizer)).str(),
      given.optimizer ? Origin::Given : Origin::Default);
}

/// Adds the options that change figures and that the user has set.
static void stateOptions(const Job &given, JobStatement &statement) {
  auto state = [&](StringRef key, JobValue::Value value) {
    statement.set(key, std::move(value), Origin::Given);
  };
  auto stateWord = [&](StringRef key, auto value, auto usual) {
    if (value != usual)
      state(key, plan::stringifyEnum(value).str());
  };
  if (given.meanTokens)
    state("mean_tokens", *given.meanTokens);
  if (given.expertBalance)
    state("expert_balance", json::formatNumber(*given.expertBalance));
  if (given.expertCapacity)
    state("expert_capacity", json::formatNumber(*given.expertCapacity));
  if (given.padExperts)
    state("pad_experts", true);
  if (given.stepGap)
    state("step_gap_us", *given.stepGap);
  if (given.cudaGraphs)
    state("cuda_graphs", true);
  if (!given.profiles.empty())
    state("profile", llvm::join(given.profiles, " "));
  const Job usual;
  stateWord("fidelity", given.fidelity, usual.fidelity);
  stateWord("kernels", given.kernels, usual.kernels);
  stateWord("share", given.share, usual.share);
  stateWord("overlap", given.overlap, usual.overlap);
}

JobStatement proteus::jobs::restate(const Job &given, const Job &job,
                                    const plan::Sizes &sizes,
                                    StringRef stackName, ModuleOp module) {
  JobStatement statement;
  auto givenOr = [](bool isGiven, Origin otherwise) {
    return isGiven ? Origin::Given : otherwise;
  };
  // A model as JSON text has the name of its function.
  bool isText = StringRef(given.model).trim().starts_with("{");
  auto functions = module.getOps<func::FuncOp>();
  statement.set("model",
                isText && !functions.empty()
                    ? (*functions.begin()).getSymName().str()
                    : given.model,
                Origin::Given);
  models::ParameterCount parameters = models::countParameters(module);
  statement.set("parameters", parameters.all, Origin::Derived);
  statement.set("active_parameters", parameters.active, Origin::Derived);
  if (!given.overrides.empty())
    statement.set("dimensions", llvm::join(given.overrides, " "),
                  Origin::Given);
  statement.set("sequence", std::monostate(),
                givenOr(given.seq.has_value(), Origin::Default));
  statement.set("global_batch", sizes.globalBatch,
                givenOr(given.globalBatch.has_value(), Origin::Derived));
  // A model in a file states its types, and may state a stack and a site.
  if (!job.isFile())
    stateTraining(given, job, statement);
  stateFields(given, job, sizes, statement);
  if (!job.isFile() || !given.stack.empty())
    statement.set("stack", stackName.empty() ? "none" : stackName.str(),
                  givenOr(!given.stack.empty(), Origin::Default));
  if (!job.isFile() || !given.site.empty())
    statement.set("site", given.site.empty() ? "none" : given.site,
                  givenOr(!given.site.empty(), Origin::Default));
  statement.set("cluster", std::monostate(), Origin::Given);
  statement.set("devices", sizes.gpus,
                givenOr(given.gpus.has_value(), Origin::Derived));
  statement.set("cluster_devices", std::monostate(), Origin::Derived);
  stateOptions(given, statement);
  return statement;
}

JobStatement proteus::jobs::restateFlags(const Job &given) {
  JobStatement statement;
  for (const plan::Field &field : plan::fields())
    if (std::optional<std::string> value = field.get(given.plan))
      statement.set(keyOf(field), typed(field, *value), Origin::Given);
  stateOptions(given, statement);
  return statement;
}
