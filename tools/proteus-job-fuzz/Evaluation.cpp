//===- Evaluation.cpp - simulation of a random job ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "Proteus/Driver/Commands.h"
#include "Proteus/Sim/Report.h"
#include "Proteus/Support/File.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

static Evaluated refused(Error error) {
  Evaluated result;
  result.refusal = toString(std::move(error));
  return result;
}

Evaluated proteus::fuzz::evaluate(const JobCase &input) {
  jobs::Job job;
  Flags flags;
  jobs::addModelFlags(flags, job);
  jobs::addPlanFlags(flags, job.plan);
  if (Expected<std::vector<std::string>> rest =
          flags.parse(input.getArguments());
      !rest)
    return refused(rest.takeError());
  std::unique_ptr<mlir::MLIRContext> context = jobs::createContext();
  Expected<jobs::Outcome> outcome = jobs::run(*context, job);
  if (!outcome)
    return refused(outcome.takeError());
  Evaluated result;
  result.outcome = std::move(*outcome);
  raw_string_ostream os(result.report);
  sim::writeReport(os, result.outcome->workload, result.outcome->result);
  return result;
}

/// Returns the passes of the command in the first line of an emitted module as
/// a textual pipeline, with the options of `simulate` and the file `report`.
static std::string pipelineOf(StringRef module, StringRef report) {
  StringRef options =
      module.split('\n').first.split("--simulate=\"").second.split('"').first;
  options.consume_front("summary");
  return ("lower-strategy,simulate{report=" + report + options + "}").str();
}

Evaluated proteus::fuzz::evaluateEmitted(const JobCase &job,
                                         StringRef directory) {
  SmallString<128> file(directory), report(directory);
  sys::path::append(file, "emitted.mlir");
  sys::path::append(report, "emitted.json");
  std::vector<std::string> arguments = job.getArguments();
  arguments.push_back("--output=" + file.str().str());
  if (driver::emitCommand(arguments) != 0)
    return refused(createStringError("proteus emit fails"));
  Expected<std::string> text = readInput(file);
  if (!text)
    return refused(text.takeError());
  std::unique_ptr<mlir::MLIRContext> context = jobs::createContext();
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      context.get(), [&](mlir::Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(*text, context.get());
  mlir::PassManager manager(context.get(), mlir::ModuleOp::getOperationName());
  if (!module ||
      failed(mlir::parsePassPipeline(pipelineOf(*text, report), manager,
                                     nulls())) ||
      failed(manager.run(*module)))
    return refused(createStringError("the emitted module: " + message));
  Evaluated result;
  Expected<std::string> written = readInput(report);
  if (!written)
    return refused(written.takeError());
  result.report = std::move(*written);
  sys::fs::remove(file);
  sys::fs::remove(report);
  return result;
}

std::string proteus::fuzz::faultOf(StringRef refusal) {
  // Texts that RunJob uses if a pass fails without a diagnostic.
  static constexpr StringRef empty[] = {
      "", "the strategy does not fit the model", "the job can't be simulated",
      "the cluster can't be read"};
  if (is_contained(empty, refusal))
    return "no diagnostic";
  if (refusal.contains('\n'))
    return "a diagnostic of several lines";
  // Messages of MLIR about invalid IR, which only a faulty pass builds.
  for (StringRef part : {"does not dominate this use", "failed to verify",
                         "null operand", "operand #", "expects parent op",
                         "requires a single", "failed to legalize"})
    if (refusal.contains(part))
      return "invalid IR";
  return "";
}

std::string proteus::fuzz::kindOf(StringRef refusal) {
  std::string kind;
  bool quoted = false;
  for (size_t i = 0; i < refusal.size(); ++i) {
    char c = refusal[i];
    if (c == '\'') {
      // An apostrophe within a word, as in "can't".
      bool isApostrophe = !quoted && i > 0 && isAlnum(refusal[i - 1]);
      quoted = quoted != !isApostrophe;
      if (!isApostrophe) {
        kind += quoted ? "'..." : "'";
        continue;
      }
    }
    if (quoted)
      continue;
    if (!isDigit(c))
      kind += c;
    else if (kind.empty() || kind.back() != '#')
      kind += '#';
  }
  return kind;
}

const Evaluated &Evaluator::get(const JobCase &job) {
  // Flags in another order are another job to this table, because the order
  // must have no effect.
  auto [entry, isNew] = results.try_emplace(job.str());
  if (isNew) {
    entry->second = evaluate(job);
    ++simulated;
  }
  return entry->second;
}
