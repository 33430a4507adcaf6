//===- ParityCommand.cpp - proteus parity ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"
#include "Progress.h"
#include "Proteus/Reference/Parity/ParityReport.h"

#include "Proteus/Driver/Commands.h"
#include "Proteus/Reference/Parity/RunParity.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::parity;

/// Reads the runs of the first of `files`, or the runs that are embedded in the
/// tool if `files` is empty.
static Expected<ReferenceRuns> readRuns(ArrayRef<std::string> files) {
  if (files.empty())
    return readReferenceRuns(embeddedReferenceRuns(), "runs.json");
  Expected<std::string> text = readInput(files.front());
  if (!text)
    return text.takeError();
  return readReferenceRuns(*text, files.front());
}

namespace {
struct ParityArguments {
  std::string json, markdown, id;

  void declare(Flags &flags) {
    flags.about(
        "Simulates runs of the published Proteus by its rules and compares.\n"
        "Without a file: the runs that are part of the tool.\n\n"
        "  proteus parity --json parity.json\n"
        "  proteus parity RUNS.json --id gpt2-dp\n");
    flags.section("parity");
    flags.text("json", "FILE",
               "write all figures, deviations and causes as JSON", json);
    flags.text("markdown", "FILE",
               "write the table of docs/reference-parity.md", markdown);
    flags.text("id", "ID", "only the runs of this id", id);
  }
};
} // namespace

void proteus::driver::visitParityFlags(FlagVisitor visit) {
  visitFlagsOf<ParityArguments>(visit);
}

int proteus::driver::parityCommand(ArrayRef<std::string> arguments) {
  ParityArguments given;
  const auto &[json, markdown, id] = given;
  Flags flags;
  given.declare(flags);
  if (printedHelp(flags, arguments))
    return 0;
  Expected<std::vector<std::string>> files = flags.parse(arguments);
  if (!files)
    return fail(files.takeError());
  if (files->size() > 1)
    return fail(createStringError("expected at most one file of runs: proteus "
                                  "parity RUNS.json"));
  Expected<ReferenceRuns> runs = readRuns(*files);
  if (!runs)
    return fail(runs.takeError());
  llvm::erase_if(runs->runs, [&id = id](const ReferenceRun &run) {
    return !id.empty() && run.id != id;
  });
  if (runs->runs.empty())
    return fail(createStringError("no run is left to simulate"));

  if (Error error = checkOutputs({json, markdown}, arguments))
    return fail(std::move(error));
  ParityRunner runner;
  std::vector<ParityResult> results;
  Progress progress;
  progress.begin("simulating runs", runs->runs.size());
  for (const ReferenceRun &run : runs->runs) {
    results.push_back(
        runner.run(run, runs->clusters.find(run.cluster)->second));
    progress.advance(results.size());
  }
  progress.end();
  auto write = [&](StringRef file, auto writer) -> Error {
    if (file.empty())
      return Error::success();
    return writeFileAtomically(file, [&](raw_ostream &os) {
      writer(os, runs->runs, results);
      return Error::success();
    });
  };
  if (Error error = write(json, writeJSON))
    return fail(std::move(error));
  if (Error error = write(markdown, writeMarkdown))
    return fail(std::move(error));
  raw_ostream &os = tableStream({json, markdown});
  printTable(os, runs->runs, results);
  ParitySummary summary = summarize(runs->runs, results);
  printSummary(os, summary);
  printCPU(os, summary);
  for (auto [run, result] : llvm::zip(runs->runs, results))
    if (!result.error.empty())
      fail(createStringError("run '" + run.id + "' on " + run.cluster + ": " +
                             result.error));
  return summary.failed > 0;
}
