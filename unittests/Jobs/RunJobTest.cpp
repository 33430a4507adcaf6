//===- RunJobTest.cpp - modules and figures of jobs -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/RunJob.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace proteus;
using namespace proteus::jobs;

namespace {

Job smallJob() {
  Job job;
  job.model = "gpt2";
  job.overrides = {"layers=4"};
  job.seq = 256;
  job.cluster = "dgx-a100";
  job.gpus = 8;
  job.globalBatch = 32;
  job.plan.pp = 2;
  job.plan.microBatch = 1;
  return job;
}

TEST(RunJob, FiguresAgreeWithEachOther) {
  auto context = createContext();
  Job job = smallJob();
  Outcome outcome = llvm::cantFail(run(*context, job));
  const sim::Figures &figures = outcome.figures;
  EXPECT_GT(figures.iterationSeconds, 0);
  EXPECT_NEAR(*figures.samplesPerSecond * figures.iterationSeconds, 32, 1e-6);
  EXPECT_EQ(outcome.result.classes.size(), 2u); // one class per stage
}

TEST(RunJob, AContextServesSeveralJobsWithEqualResults) {
  auto context = createContext();
  Job job = smallJob();
  Outcome first = llvm::cantFail(run(*context, job));
  Job other = job;
  other.plan.pp = 1;
  llvm::cantFail(run(*context, other));
  Outcome again = llvm::cantFail(run(*context, job));
  EXPECT_EQ(first.result.run.iterationTime, again.result.run.iterationTime);
  EXPECT_EQ(first.figures.peakMemoryBytes, again.figures.peakMemoryBytes);
}

TEST(RunJob, FoldingChangesNoFigure) {
  auto context = createContext();
  Job job = smallJob();
  Outcome all = llvm::cantFail(run(*context, job));
  job.fold = plan::Fold::None;
  Outcome none = llvm::cantFail(run(*context, job));
  EXPECT_EQ(all.result.run.iterationTime, none.result.run.iterationTime);
  EXPECT_EQ(all.figures.peakMemoryBytes, none.figures.peakMemoryBytes);
}

TEST(RunJob, AMistakeIsAnErrorWithoutFigures) {
  auto context = createContext();
  Job job = smallJob();
  job.plan.tp = 3;
  auto outcome = run(*context, job);
  ASSERT_FALSE(outcome);
  EXPECT_NE(llvm::toString(outcome.takeError()).find("8"), std::string::npos);
}

} // namespace
