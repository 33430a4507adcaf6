//===- ConfidenceTest.cpp - intervals of predictions ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Confidence.h"

#include "TestWorkloads.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace proteus;
using namespace proteus::sim;
using namespace proteus::sim::test;

namespace {

/// Returns a step of 10 ms: two micro-batches with a product (3 ms) and a norm
/// (1 ms), then an update of 2 ms.
Builder step() {
  Builder b;
  b.workload.info.microBatches = 2;
  DeviceClass &device = b.addClass("stage 0");
  b.kernel(device.micro, "product", 3 * ms);
  b.kernel(device.micro, "norm", 1 * ms);
  Builder::endSection(device.micro);
  b.kernel(device.once, "update", 2 * ms);
  Builder::endSection(device.once);
  device.micro.tasks[0].origin = {cost::Source::Fitted, cost::Family::Product,
                                  0.1};
  device.micro.tasks[1].origin = {cost::Source::Datasheet, cost::Family::Norm,
                                  0.2};
  device.once.tasks[0].origin = {cost::Source::Fitted, cost::Family::Product,
                                 0.3};
  device.order = {{0, 0, false}, {0, 1, false}, {0, 0, true}};
  return b;
}

TEST(Confidence, SharesCountEveryMicroBatch) {
  Builder b = step();
  auto result = llvm::cantFail(simulate(b.workload));
  auto shares = sharesBySource(b.workload, result);
  EXPECT_DOUBLE_EQ(shares[unsigned(cost::Source::Fitted)], 0.8);
  EXPECT_DOUBLE_EQ(shares[unsigned(cost::Source::Datasheet)], 0.2);
  EXPECT_EQ(shares[unsigned(cost::Source::Measured)], 0);
}

TEST(Confidence, FamiliesAreOffAsAWholeAndIndependentOfEachOther) {
  Builder b = step();
  auto result = llvm::cantFail(simulate(b.workload));
  EXPECT_FALSE(intervalOf(b.workload, result).has_value());
  b.workload.errors = ErrorModel{0.15, 0};
  // Products: 6 ms at 10 % and 2 ms at 30 %; norms: 2 ms at 20 %.
  double error = std::hypot(0.6 * 0.1 + 0.2 * 0.3, 0.2 * 0.2);
  auto interval = intervalOf(b.workload, result);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->highSeconds, 10e-3 * (1 + 1.6 * error), 1e-12);
  EXPECT_NEAR(interval->lowSeconds, 10e-3 / (1 + 1.6 * error), 1e-12);
  // The error of effects that are not modelled is combined with it.
  b.workload.errors->stack = 0.1;
  EXPECT_NEAR(intervalOf(b.workload, result)->highSeconds,
              10e-3 * (1 + 1.6 * std::hypot(error, 0.1)), 1e-12);
}

TEST(Confidence, ExposedCommunicationHasItsOwnError) {
  // A kernel of 5 ms, then a reduction of 5 ms.
  Builder b;
  DeviceClass &device = b.addClass("stage 0");
  int32_t reduction = b.collective({0}, 5 * ms);
  b.kernel(device.micro, "product", 5 * ms);
  b.party(device.micro, "reduce", Stream::DataParallel, reduction, {0});
  Builder::endSection(device.micro);
  device.micro.tasks[0].origin = {cost::Source::Fitted, cost::Family::Product,
                                  0.1};
  device.order = {{0, 0, false}};
  b.workload.errors = ErrorModel{0.4, 0};
  auto result = llvm::cantFail(simulate(b.workload));
  EXPECT_NEAR(intervalOf(b.workload, result)->highSeconds,
              10e-3 * (1 + 1.6 * std::hypot(0.5 * 0.1, 0.5 * 0.4)), 1e-12);
}

} // namespace
