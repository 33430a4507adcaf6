//===- Evaluation.cpp - evaluation of a random case -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "Generator.h"
#include "Registry.h"
#include "WrittenOut.h"

#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <optional>

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;

/// Passes that may reject a strategy.
static constexpr llvm::StringLiteral rejectingPasses[] = {
    "match-strategy", "settle-repeats", "build-training-step",
    "propagate-strategy"};

namespace {
/// A lowered program and the hash of its text.
struct Lowered {
  uint64_t hash;
  OwningOpRef<ModuleOp> module;
};

/// Instrumentation that records the first pass that fails.
class FailedPass : public PassInstrumentation {
public:
  explicit FailedPass(std::string &name) : name(name) {}

  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty())
      name = pass->getArgument().str();
  }

private:
  std::string &name;
};

} // namespace

StringRef proteus::fuzz::describe(Outcome outcome) {
  switch (outcome) {
  case Outcome::Right:
    return "right";
  case Outcome::Rejected:
    return "rejected";
  case Outcome::Stuck:
    return "stuck";
  case Outcome::Mismatch:
    return "mismatch";
  case Outcome::OtherTime:
    return "another time with layers written out";
  case Outcome::Crash:
    return "crash";
  case Outcome::Hang:
    return "hang";
  }
  llvm_unreachable("an outcome");
}

/// Parses and lowers a case. Returns nullopt if that fails, with the name of
/// the pass in `failedPass`.
static std::optional<Lowered>
lower(MLIRContext &context, const std::string &text, std::string &failedPass) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return std::nullopt;
  PassManager manager(&context, ModuleOp::getOperationName());
  manager.addInstrumentation(std::make_unique<FailedPass>(failedPass));
  buildLowerStrategyPipeline(manager, LowerStrategyOptions());
  if (failed(manager.run(*module)))
    return std::nullopt;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return Lowered{llvm::xxh3_64bits(printed), std::move(module)};
}

Verdict proteus::fuzz::evaluate(MLIRContext &context, const Case &input,
                                double tolerance, bool findFeatures) {
  Verdict verdict;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        verdict.message.empty())
      verdict.message = diagnostic.str();
    return success();
  });
  std::string text = write(input);
  std::string failedPass;
  std::optional<Lowered> lowered = lower(context, text, failedPass);
  if (!lowered) {
    bool early =
        failedPass.empty() || llvm::is_contained(rejectingPasses, failedPass);
    verdict.outcome = early ? Outcome::Rejected : Outcome::Stuck;
    if (verdict.message.empty()) {
      verdict.outcome = Outcome::Crash;
      verdict.message = "no diagnostic";
    }
    verdict.message = failedPass + ": " + verdict.message;
    return verdict;
  }
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context, ModuleOp::getOperationName());
  CheckLoweringOptions options;
  options.tolerance = tolerance;
  manager.addPass(createCheckLowering(options));
  if (failed(manager.run(*module))) {
    verdict.outcome = Outcome::Mismatch;
    return verdict;
  }
  if (std::optional<Forms> forms = simulateForms(context, text)) {
    bool sameTime = forms->repeated == forms->writtenOut;
    verdict.forms = forms->sameWork ? FormComparison::SameWork
                    : sameTime      ? FormComparison::OtherWorkSameTime
                                    : FormComparison::OtherWork;
    if (forms->sameWork && !sameTime) {
      verdict.outcome = Outcome::OtherTime;
      verdict.message =
          llvm::formatv("{0} ps with repeated layers, {1} ps with layers "
                        "written out",
                        forms->repeated, forms->writtenOut)
              .str();
      return verdict;
    }
  }
  verdict.outcome = Outcome::Right;
  if (!findFeatures)
    return verdict;
  // A feature has an effect if the program without it is another one or does
  // not exist.
  for (const Feature &feature : Registry::get().getFeatures()) {
    bool found = false;
    if (feature.inProgram) {
      found = feature.inProgram(*lowered->module);
    } else if (feature.remove) {
      Case without = input;
      if (feature.remove(without)) {
        std::optional<Lowered> other =
            lower(context, write(without), failedPass);
        found = !other || other->hash != lowered->hash;
      }
    }
    verdict.features += found ? '1' : '0';
  }
  verdict.message.clear();
  return verdict;
}
