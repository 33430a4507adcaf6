//===- SimulateCommand.cpp - proteus simulate, proteus emit ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobSources.h"
#include "Output.h"
#include "Progress.h"

#include "Proteus/Driver/Advice.h"
#include "Proteus/Driver/Commands.h"
#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Sim/Summary.h"
#include "Proteus/Support/File.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;
using namespace proteus::jobs;

namespace {

struct SimulateArguments {
  Job job;
  RunFiles files;
  bool quiet = false, failIfOOM = false;
  AdviceMode advice = AdviceMode::On;

  void declare(Flags &flags) {
    flags.about(
        "Predicts throughput, memory and where the time of a training step "
        "goes.\n\n"
        "  proteus simulate --model llama3-8b --cluster dgx-h100 --gpus 64 "
        "--tp 8 \\\n      --zero 1 --micro-batch 1 --global-batch 128 --seq "
        "8192\n");
    addJobFlags(flags, job);
    flags.section("output");
    flags.text("json", "FILE", "write the report as JSON (-: standard output)",
               files.report);
    flags.text("trace", "FILE",
               "write a timeline for Perfetto (-: standard output)",
               files.trace);
    flags.flag("quiet", "print only the first line: the verdict", quiet);
    addFailIfOOM(flags, failIfOOM);
    flags.choice("advice",
                 "changes that are simulated as advice: none, a few for the "
                 "largest costs, or all (default: on)",
                 {"off", "on", "all"}, [this](StringRef word) {
                   advice = word == "off"  ? AdviceMode::Off
                            : word == "on" ? AdviceMode::On
                                           : AdviceMode::All;
                 });
  }
};

struct EmitArguments {
  Job job;
  std::string file = "-";

  void declare(Flags &flags) {
    flags.about("Prints model, strategy tree and cluster as MLIR, to edit and "
                "to feed to proteus-opt:\n\n"
                "  proteus emit --model gpt2 --cluster dgx-a100 --gpus 8 --tp "
                "2 > job.mlir\n"
                "  proteus-opt --lower-strategy --simulate=summary job.mlir -o "
                "/dev/null\n");
    addJobFlags(flags, job);
    flags.section("output");
    flags.text("output", "FILE",
               "write the module to this file instead of standard output", file,
               {"o"});
  }
};

} // namespace

void proteus::driver::visitSimulateFlags(FlagVisitor visit) {
  visitFlagsOf<SimulateArguments>(visit);
}

void proteus::driver::visitEmitFlags(FlagVisitor visit) {
  visitFlagsOf<EmitArguments>(visit);
}

int proteus::driver::simulateCommand(ArrayRef<std::string> arguments) {
  SimulateArguments given;
  const RunFiles &files = given.files;
  Flags flags;
  given.declare(flags);
  std::vector<std::string> own, remarks;
  if (auto done = parseJob(flags, arguments, given.job, own, remarks))
    return *done;
  if (Error error = checkOutputs({files.report, files.trace}, own))
    return fail(std::move(error));
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  Progress progress;
  Expected<Outcome> outcome = run(*context, given.job, files, &progress);
  progress.end();
  if (!outcome)
    return fail(outcome.takeError());
  append_range(remarks, outcome->remarks);
  for (const std::string &remark : remarks)
    printRemark(remark);
  raw_ostream &os = tableStream({files.report, files.trace});
  if (given.quiet) {
    sim::printVerdictLine(os, outcome->workload, outcome->figures);
  } else {
    sim::printSummary(os, outcome->workload, outcome->result);
    printAdvice(os, *context, given.job, *outcome, given.advice);
  }
  return given.failIfOOM && !outcome->figures.memory.fits() ? doesNotFitCode
                                                            : 0;
}

/// Returns true if a command line and a comment can hold the name of a file as
/// it is.
static bool isPlainName(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) {
    return isAlnum(c) || StringRef("_-./+@:").contains(c);
  });
}

/// Prints a module after a comment with the proteus-opt command that simulates
/// it. The command contains the simulation options of the job, such as
/// `fidelity`, because a module cannot hold them.
static void printModule(raw_ostream &os, mlir::ModuleOp module,
                        const Job &job) {
  std::string options = "summary";
  if (job.precision == plan::Precision::TF32)
    options += " tf32";
  if (job.cudaGraphs)
    options += " cuda-graphs";
  bool canName = llvm::all_of(job.profiles, isPlainName);
  if (!job.profiles.empty() && canName)
    options += " profile=" + llvm::join(job.profiles, ",");
  const Job usual;
  auto add = [&](StringRef name, auto value, auto usualValue) {
    if (value != usualValue)
      options += (" " + name + "=" + stringifyEnum(value)).str();
  };
  add("fidelity", job.fidelity, usual.fidelity);
  add("kernels", job.kernels, usual.kernels);
  add("fold", job.fold, usual.fold);
  add("share", job.share, usual.share);
  add("overlap", job.overlap, usual.overlap);
  os << "// proteus-opt --lower-strategy --simulate=\"" << options
     << "\" FILE -o /dev/null\n";
  if (!canName)
    os << "// The command lacks the profile: its name has characters that "
          "options can't hold.\n";
  module.print(os);
}

int proteus::driver::emitCommand(ArrayRef<std::string> arguments) {
  EmitArguments given;
  const Job &job = given.job;
  Flags flags;
  given.declare(flags);
  std::vector<std::string> own, remarks;
  if (auto done = parseJob(flags, arguments, given.job, own, remarks))
    return *done;
  if (Error error = checkOutputs({given.file}, own))
    return fail(std::move(error));
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  // Simulate the job before writing the module: a module that cannot be
  // simulated must not be written, and the simulation chooses the micro-batch.
  Progress progress;
  Expected<Outcome> outcome = run(*context, job, RunFiles(), &progress);
  progress.end();
  if (!outcome)
    return fail(outcome.takeError());
  append_range(remarks, outcome->remarks);
  for (const std::string &remark : remarks)
    printRemark(remark);
  // The remarks of `prepare` are among those of `run`.
  mlir::ScopedDiagnosticHandler ignored(
      context.get(), [](mlir::Diagnostic &diagnostic) {
        return mlir::success(diagnostic.getSeverity() ==
                             mlir::DiagnosticSeverity::Remark);
      });
  auto module = prepare(*context, outcome->job);
  if (!module)
    return fail(module.takeError());
  if (Error error = writeFileAtomically(given.file, [&](raw_ostream &os) {
        printModule(os, **module, job);
        return Error::success();
      }))
    return fail(std::move(error));
  return 0;
}
