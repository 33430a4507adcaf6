//===- RunJobTest.cpp - modules and figures of jobs -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Plan/PlanFields.h"

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

TEST(RunJob, RestatesTheJobWithTheOriginsOfItsValues) {
  auto context = createContext();
  Job job = smallJob();
  job.plan.tp = 2;
  job.stack = "megatron-deepspeed";
  job.cudaGraphs = true;
  Outcome outcome = llvm::cantFail(run(*context, job));
  const sim::JobStatement &statement = outcome.workload.info.statement;
  auto check = [&](llvm::StringRef key, llvm::StringRef text,
                   plan::Origin origin) {
    const sim::JobValue *value = statement.find(key);
    ASSERT_TRUE(value) << key.str();
    EXPECT_EQ(value->text(), text) << key.str();
    EXPECT_EQ(value->origin, origin) << key.str();
  };
  check("model", "gpt2", plan::Origin::Given);
  check("dimensions", "layers=4", plan::Origin::Given);
  check("sequence", "256", plan::Origin::Given);
  check("global_batch", "32", plan::Origin::Given);
  check("accumulation", "16", plan::Origin::Derived);
  check("tp", "2", plan::Origin::Given);
  check("dp", "2", plan::Origin::Derived);
  check("cp", "1", plan::Origin::Default);
  check("p2p_scatter", "on", plan::Origin::Stack);
  check("precision", "bf16", plan::Origin::Default);
  check("stack", "megatron-deepspeed", plan::Origin::Given);
  check("cluster", "dgx-a100", plan::Origin::Given);
  check("devices", "8", plan::Origin::Given);
  check("cluster_devices", "8", plan::Origin::Derived);
  check("cuda_graphs", "on", plan::Origin::Given);
  EXPECT_FALSE(statement.find("fidelity"));
  // Every decision of the plan is restated.
  EXPECT_GE(statement.getValues().size(), plan::fields().size());
}

TEST(RunJob, TheMemoryAloneIsThatOfTheWholeSimulation) {
  auto context = createContext();
  Job job = smallJob();
  Outcome all = llvm::cantFail(run(*context, job));
  Outcome memory = llvm::cantFail(runMemory(*context, job));
  EXPECT_EQ(all.figures.memory.needed, memory.figures.memory.needed);
  EXPECT_EQ(all.figures.memory.owners, memory.figures.memory.owners);
  EXPECT_EQ(all.figures.peakMemoryBytes, memory.figures.peakMemoryBytes);
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
