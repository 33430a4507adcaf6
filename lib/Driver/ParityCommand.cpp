//===- ParityCommand.cpp - proteus parity --------------------------------- ===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "RunParity.h"

#include "Proteus/Driver/Commands.h"
#include "Proteus/Support/File.h"
#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

static std::string textOf(const std::map<std::string, CollectiveSum> &sums) {
  std::string text;
  for (auto &[name, sum] : sums)
    text += (text.empty() ? "" : ", ") + std::to_string(sum.count) + " " +
            name + " " + fixed(sum.megabytes, 3);
  return text;
}

int proteus::driver::parityCommand(ArrayRef<std::string> arguments) {
  std::string file;
  Flags flags;
  flags.section("parity");
  flags.text("json", "FILE", "write all runs as JSON", file);
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  Expected<std::string> text = readText(rest->front());
  if (!text)
    return fail(text.takeError());
  Expected<ReferenceRuns> runs = readReferenceRuns(*text, rest->front());
  if (!runs)
    return fail(runs.takeError());
  ParityRunner runner;
  for (const ReferenceRun &run : runs->runs) {
    if (rest->size() > 1 && !StringRef(run.id).contains((*rest)[1]))
      continue;
    if (getenv("TREE")) {
      Expected<ReferenceJob> job = jobOf(run);
      if (job)
        outs() << job->model << " " << join(job->overrides, " ") << "\n"
               << job->tree;
    }
    Expected<ParityFigures> ours =
        runner.run(run, runs->clusters.find(run.cluster)->second);
    if (!ours) {
      outs() << run.id << "\t" << run.cluster << "\tERROR "
             << toString(ours.takeError()) << "\n";
      continue;
    }
    outs() << run.id << "\t" << run.cluster << "\t";
    auto percent = [](double a, double b) {
      return b ? fixed((a / b - 1) * 100, 2) : "-";
    };
    if (run.original) {
      outs() << "t " << fixed(ours->iterationMilliseconds, 3) << " "
             << fixed(run.original->iterationMilliseconds, 3) << " "
             << percent(*ours->iterationMilliseconds,
                        run.original->iterationMilliseconds.value_or(0))
             << "%\top "
             << fixed(ours->computeMilliseconds, 4) << " "
             << fixed(run.original->computeMilliseconds, 4) << " "
             << percent(ours->computeMilliseconds,
                        run.original->computeMilliseconds)
             << "%\tmem " << fixed(ours->memoryMiB, 1) << " "
             << fixed(run.original->memoryMiB, 1) << "\tcpu "
             << fixed(ours->cpuSeconds * 1e3, 1) << " "
             << fixed(run.original->cpuSeconds * 1e3, 1) << "\t"
             << textOf(ours->collectives) << "\t|| "
             << textOf(run.original->collectives);
    }
    outs() << "\n";
  }
  return 0;
}
