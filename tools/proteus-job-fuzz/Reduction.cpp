//===- Reduction.cpp - smaller jobs that still fail -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

/// Returns jobs that are simpler than `job` by one step: without a flag, or
/// with half of a number.
static std::vector<JobCase> simplify(const JobCase &job) {
  std::vector<JobCase> list;
  for (size_t i = 0; i < job.flags.size(); ++i) {
    const auto &[flag, value] = job.flags[i];
    if (flag == "model" || flag == "cluster")
      continue;
    JobCase fewer = job;
    fewer.flags.erase(fewer.flags.begin() + i);
    list.push_back(std::move(fewer));
  }
  for (size_t i = 0; i < job.flags.size(); ++i) {
    // A dimension is the number after the equals sign: "layers=8".
    auto [head, tail] = StringRef(job.flags[i].second).rsplit('=');
    StringRef text = tail.empty() ? head : tail;
    int64_t number = 0;
    if (text.getAsInteger(10, number) || number < 2)
      continue;
    JobCase smaller = job;
    smaller.flags[i].second =
        (tail.empty() ? "" : head.str() + "=") + std::to_string(number / 2);
    list.push_back(std::move(smaller));
  }
  return list;
}

/// Returns the failure of `job` that is of the same kind as `failure`, if there
/// is one.
static std::optional<Failure> sameFailure(const JobCase &job,
                                          const Failure &failure,
                                          const CheckOptions &options) {
  Task task;
  task.job = job;
  if (failure.rule) {
    task.rules = {failure.rule};
    task.wanted = 1;
  }
  for (const Failure &other : checkOne(task, options))
    if (other.kind == failure.kind && other.rule == failure.rule)
      return other;
  return std::nullopt;
}

JobCase proteus::fuzz::reduce(JobCase job, Failure &failure,
                              const CheckOptions &options) {
  // Jobs that do not end take too long to be repeated.
  if (failure.kind == Failure::Hang)
    return job;
  unsigned left = 300;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (JobCase &candidate : simplify(job)) {
      if (left-- == 0)
        return job;
      std::optional<Failure> other = sameFailure(candidate, failure, options);
      if (!other)
        continue;
      job = std::move(candidate);
      failure = *other;
      smaller = true;
      break;
    }
  }
  return job;
}

std::string proteus::fuzz::explain(const JobCase &job, const Failure &failure,
                                   const CheckOptions &options) {
  std::string text;
  raw_string_ostream os(text);
  os << "# " << describe(failure.kind);
  if (failure.rule)
    os << " of the rule " << failure.rule->name;
  os << (failure.text.empty() ? "" : ": ") << failure.text << "\n";
  std::optional<Pair> pair;
  if (failure.rule)
    pair = failure.rule->derive(job, options.directory);
  if (!pair) {
    os << "proteus simulate " << job.str() << "\n";
    return text;
  }
  os << "# job:  " << job.str() << "\n"
     << "# base and variant:\n"
     << "proteus simulate " << pair->base.str() << "\n"
     << "proteus " << (failure.rule->name == "emitted" ? "emit " : "simulate ")
     << pair->variant.str() << "\n";
  return text;
}
