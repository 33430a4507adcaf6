//===- CaseScoresTest.cpp - errors of predictions -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Validation/Cases.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace proteus::validation;

namespace {

/// Scores runs with these measured and predicted times.
GroupScore score(std::vector<std::optional<double>> measured,
                 std::vector<std::optional<double>> predicted) {
  std::vector<Case> cases(measured.size());
  std::vector<CaseResult> results(measured.size());
  std::vector<const Case *> casePointers;
  std::vector<const CaseResult *> resultPointers;
  for (size_t i = 0; i < measured.size(); ++i) {
    cases[i].iterationSeconds = measured[i];
    results[i].seconds = predicted[i];
    results[i].supported = predicted[i].has_value();
    casePointers.push_back(&cases[i]);
    resultPointers.push_back(&results[i]);
  }
  return scoreOf("g", casePointers, resultPointers);
}

TEST(CaseScores, AnErrorIsRelativeToTheMeasurement) {
  EXPECT_DOUBLE_EQ(*errorOf(1.1, 1.0), 0.1 + 1.1 - 1.1);
  EXPECT_DOUBLE_EQ(*errorOf(1.0, 2.0), -0.5);
  EXPECT_EQ(errorOf(std::nullopt, 1.0), std::nullopt);
  EXPECT_EQ(errorOf(1.0, std::nullopt), std::nullopt);
  EXPECT_EQ(errorOf(1.0, 0.0), std::nullopt);
}

TEST(CaseScores, MeanBiasAndWorst) {
  GroupScore result =
      score({1.0, 1.0, 1.0, std::nullopt}, {1.5, 0.75, 1.0, 1.0});
  EXPECT_EQ(result.count, 4);
  EXPECT_EQ(result.supported, 4);
  EXPECT_EQ(result.scored, 3);
  EXPECT_DOUBLE_EQ(*result.mae, 0.25);
  EXPECT_DOUBLE_EQ(*result.bias, 0.25 / 3);
  EXPECT_DOUBLE_EQ(*result.worst, 0.5);
}

TEST(CaseScores, RankCorrelationIgnoresTheScale) {
  EXPECT_DOUBLE_EQ(*score({1.0, 2.0, 3.0}, {10.0, 11.0, 90.0}).spearman, 1);
  EXPECT_DOUBLE_EQ(*score({1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}).spearman, -1);
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(*score({1.0, 2.0, 3.0, 4.0}, {1.0, 2.0, 2.0, 4.0}).spearman,
              4.5 / std::sqrt(4.5 * 5), 1e-12);
  // Two runs have no meaningful order, and equal values none at all.
  EXPECT_EQ(score({1.0, 2.0}, {1.0, 2.0}).spearman, std::nullopt);
  EXPECT_EQ(score({1.0, 2.0, 3.0}, {1.0, 1.0, 1.0}).spearman, std::nullopt);
}

TEST(CaseScores, WithoutTimesThereIsNoError) {
  GroupScore result = score({std::nullopt}, {std::nullopt});
  EXPECT_EQ(result.supported, 0);
  EXPECT_EQ(result.mae, std::nullopt);
  EXPECT_EQ(result.memoryMae, std::nullopt);
}

} // namespace
