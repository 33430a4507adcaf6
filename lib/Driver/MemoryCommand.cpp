//===- MemoryCommand.cpp - proteus memory ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSources.h"
#include "Output.h"
#include "Progress.h"

#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Sim/MemoryReport.h"
#include "Proteus/Support/File.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

namespace {
struct MemoryArguments {
  Job job;
  std::string file;
  bool failIfOOM = false;

  void declare(Flags &flags) {
    flags.about("Tells whether a job fits, and who owns the memory of each "
                "stage. Computes no other view of\nthe step: it is the memory "
                "that `proteus simulate` finds.\n\n"
                "  proteus memory --model llama3-8b --cluster dgx-h100 --gpus "
                "64 --tp 8 --zero 1 --seq 8192\n");
    addJobFlags(flags, job);
    flags.section("output");
    flags.text("json", "FILE", "write the memory as JSON (-: standard output)",
               file);
    addFailIfOOM(flags, failIfOOM);
  }
};
} // namespace

void proteus::driver::visitMemoryFlags(FlagVisitor visit) {
  visitFlagsOf<MemoryArguments>(visit);
}

int proteus::driver::memoryCommand(ArrayRef<std::string> arguments) {
  MemoryArguments given;
  Flags flags;
  given.declare(flags);
  std::vector<std::string> own, remarks;
  if (auto done = parseJob(flags, arguments, given.job, own, remarks))
    return *done;
  StringRef file = given.file;
  if (Error error = checkOutputs({file}, own))
    return fail(std::move(error));
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  Progress progress;
  Expected<Outcome> outcome = runMemory(*context, given.job, &progress);
  progress.end();
  if (!outcome)
    return fail(outcome.takeError());
  append_range(remarks, outcome->remarks);
  for (const std::string &remark : remarks)
    printRemark(remark);
  if (!file.empty())
    if (Error error = writeFileAtomically(file, [&](raw_ostream &os) {
          sim::writeMemory(os, outcome->workload, outcome->result);
          return Error::success();
        }))
      return fail(std::move(error));
  sim::printMemory(tableStream({file}), outcome->workload, outcome->result);
  return given.failIfOOM && !outcome->figures.memory.fits() ? doesNotFitCode
                                                            : 0;
}
