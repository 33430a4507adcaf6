//===- CaseScores.cpp - errors of predictions -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Validation/Cases.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::validation;

std::optional<double>
proteus::validation::errorOf(std::optional<double> predicted,
                             std::optional<double> measured) {
  if (!predicted || !measured || *measured <= 0)
    return std::nullopt;
  return *predicted / *measured - 1;
}

/// Returns the ranks of the values, from 1; equal values share their mean rank.
static std::vector<double> ranksOf(ArrayRef<double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]])
      ++j;
    for (size_t k = i; k < j; ++k)
      ranks[order[k]] = (i + 1 + j) / 2.0;
    i = j;
  }
  return ranks;
}

static std::optional<double> spearmanOf(ArrayRef<double> a,
                                        ArrayRef<double> b) {
  if (a.size() < 3)
    return std::nullopt;
  std::vector<double> x = ranksOf(a), y = ranksOf(b);
  double mean = (a.size() + 1) / 2.0, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0)
    return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

GroupScore proteus::validation::scoreOf(StringRef group,
                                        ArrayRef<const Case *> cases,
                                        ArrayRef<const CaseResult *> results) {
  GroupScore score;
  score.group = group.str();
  std::vector<double> errors, memory, predicted, measured;
  for (auto [one, result] : llvm::zip(cases, results)) {
    ++score.count;
    score.supported += result->supported;
    if (auto error = errorOf(result->seconds, one->iterationSeconds)) {
      errors.push_back(*error);
      predicted.push_back(*result->seconds);
      measured.push_back(*one->iterationSeconds);
    }
    if (auto error = errorOf(result->peakMemoryBytes, one->peakMemoryBytes))
      memory.push_back(std::abs(*error));
  }
  score.scored = errors.size();
  auto mean = [](ArrayRef<double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
  };
  if (!errors.empty()) {
    score.bias = mean(errors);
    score.worst =
        *std::max_element(errors.begin(), errors.end(), [](double a, double b) {
          return std::abs(a) < std::abs(b);
        });
    for (double &error : errors)
      error = std::abs(error);
    score.mae = mean(errors);
    score.spearman = spearmanOf(predicted, measured);
  }
  if (!memory.empty())
    score.memoryMae = mean(memory);
  return score;
}
