//===- proteus-fold-fuzz.cpp - fuzzer of folding ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates random programs on random clusters with and without folding and
// compares all figures.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Generator.h"
#include "LargeCase.h"

#include "Proteus/InitAll.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<uint64_t> seed("seed", cl::desc("Stream of cases"), cl::init(1),
                              cl::cat(category));
static cl::opt<uint64_t> first("first", cl::desc("Number of the first case"),
                               cl::init(0), cl::cat(category));
static cl::opt<uint64_t> count("count",
                               cl::desc("How many programs to simulate"),
                               cl::init(100), cl::cat(category));
static cl::opt<std::string> out("out",
                                cl::desc("Directory for cases that fail"),
                                cl::init("."), cl::cat(category));
static cl::opt<bool> verbose("verbose", cl::desc("Print one line per case"),
                             cl::cat(category));
static cl::opt<bool> print("print",
                           cl::desc("Print the cases instead of running them"),
                           cl::cat(category));

namespace {

/// Sums over all cases.
struct Totals {
  uint64_t programs = 0, differ = 0, rejected = 0;
  uint64_t tasks = 0, skippedTasks = 0, programsThatSkip = 0;
  uint64_t ranks = 0, classes = 0, programsThatFold = 0;
};

/// Result of one case.
struct CaseResult {
  std::string rejection;  ///< reason if the case can't be simulated
  std::string difference; ///< first difference between two runs
  std::string summary;    ///< numbers of folded ranks and skipped tasks
};

} // namespace

/// Lowers a case and simulates it with each kind of folding.
static CaseResult run(MLIRContext &context, const std::string &text,
                      Totals &totals) {
  CaseResult result;
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        message.empty())
      message = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  buildLowerStrategyPipeline(manager, LowerStrategyOptions());
  if (!module || failed(manager.run(*module))) {
    result.rejection = message;
    return result;
  }
  FailureOr<machine::Cluster> cluster = resolveCluster(*module);
  if (failed(cluster)) {
    result.rejection = message;
    return result;
  }
  MachineModel machine =
      llvm::cantFail(createMachineModel(std::move(*cluster), Fidelity::Flow));
  FailureOr<FoldedRun> whole = fuzz::simulate(*module, machine, Fold::None);
  if (failed(whole)) {
    // A schedule that deadlocks must do so with folded ranks too.
    result.rejection = message;
    for (Fold fold : {Fold::Ranks, Fold::All})
      if (succeeded(fuzz::simulate(*module, machine, fold)))
        result.difference = "only fold=none fails: " + message;
    totals.differ += !result.difference.empty();
    return result;
  }
  ++totals.programs;
  for (Fold fold : {Fold::Ranks, Fold::All}) {
    StringRef name = fold == Fold::All ? "fold=all: " : "fold=ranks: ";
    FailureOr<FoldedRun> folded = fuzz::simulate(*module, machine, fold);
    result.difference =
        failed(folded) ? "error: " + message : compare(*whole, *folded);
    if (!result.difference.empty()) {
      result.difference = (name + result.difference).str();
      ++totals.differ;
      return result;
    }
    if (fold != Fold::All)
      continue;
    const sim::RunResult &run = folded->result.run;
    totals.tasks += run.tasks;
    totals.skippedTasks += run.skippedTasks;
    totals.programsThatSkip += run.skippedTasks > 0;
    totals.ranks += whole->workload.classes.size();
    totals.classes += folded->workload.classes.size();
    totals.programsThatFold +=
        folded->workload.classes.size() < whole->workload.classes.size();
    result.summary = llvm::formatv(
        "equal; {0} of {1} ranks and {2} of {3} tasks simulated, {4} "
        "micro-batches",
        folded->workload.classes.size(), whole->workload.classes.size(),
        run.tasks - run.skippedTasks, run.tasks,
        whole->workload.info.microBatches);
  }
  return result;
}

/// Writes a failing case to the output directory.
static void save(uint64_t index, const std::string &text,
                 StringRef difference) {
  SmallString<128> path(out);
  llvm::sys::path::append(path, "fold-" + std::to_string(seed) + "-" +
                                    std::to_string(index) + ".mlir");
  std::error_code error = llvm::sys::fs::create_directories(out);
  if (!error) {
    llvm::raw_fd_ostream os(path, error);
    if (!error)
      os << "// proteus-fold-fuzz --seed " << seed << " --first " << index
         << " --count 1\n// " << difference << "\n"
         << text;
  }
  if (error)
    llvm::errs() << "can't write '" << path << "': " << error.message() << "\n";
  llvm::outs() << "case " << index << ": " << difference << "\n  see " << path
               << "\n";
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Simulates random programs on random clusters with fold=none,\n"
      "fold=ranks and fold=all and compares every figure. Fails if one\n"
      "differs, and writes the program to a file.\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  Totals totals;
  for (uint64_t index = first;
       print ? index < first + count : totals.programs < count; ++index) {
    llvm::PrettyStackTraceFormat trace("case %llu of seed %llu",
                                       (unsigned long long)index,
                                       (unsigned long long)seed);
    std::string text = write(generateLarge(seed, index));
    if (print) {
      llvm::outs() << (index > first ? "// -----\n" : "") << text;
      continue;
    }
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    CaseResult result = run(context, text, totals);
    totals.rejected += !result.rejection.empty();
    if (!result.difference.empty())
      save(index, text, result.difference);
    else if (verbose)
      llvm::outs() << "case " << index << ": "
                   << (result.rejection.empty() ? result.summary
                                                : result.rejection)
                   << "\n";
  }
  if (print)
    return 0;
  llvm::outs() << llvm::formatv(
      "{0} programs, {1} differ, {2} rejected, skipped {3:f1} % of the tasks "
      "(in {4} programs), {5} ranks folded to {6} classes (in {7} programs)\n",
      totals.programs, totals.differ, totals.rejected,
      totals.tasks ? 100.0 * totals.skippedTasks / totals.tasks : 0,
      totals.programsThatSkip, totals.ranks, totals.classes,
      totals.programsThatFold);
  return totals.differ ? 1 : 0;
}
