//===- proteus-opt.cpp - driver of passes -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiagnosticLimit.h"

#include "Proteus/InitAll.h"
#include "Proteus/Support/ModuleFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <vector>

static const char *const overview =
    "Proteus: predicts throughput and memory of distributed training\n"
    "\n"
    "  proteus-opt --lower-strategy --simulate=summary model.mlir -o "
    "/dev/null\n"
    "\n"
    "The file holds a model (func.func with nn operations), a strategy.tree "
    "that\n"
    "splits it over devices, and the cluster (proteus.cluster).\n"
    "--lower-strategy runs all passes up to scheduled programs; each is also "
    "a\n"
    "flag of its own. --simulate takes report=FILE.json, trace=FILE.json, "
    "cluster=\n"
    "and summary. --mlir-print-ir-after-all shows every phase.\n";

/// Returns the identity of the file at `path`, or nullopt if it has none, such
/// as standard output.
static std::optional<llvm::sys::fs::UniqueID> identityOf(llvm::StringRef path) {
  llvm::sys::fs::UniqueID id;
  if (path == "-" || llvm::sys::fs::getUniqueID(path, id))
    return std::nullopt;
  return id;
}

/// Processes `input` as mlir-opt does, but refuses files that MLIR's parser
/// can't handle.
static llvm::LogicalResult process(llvm::StringRef input,
                                   llvm::StringRef output,
                                   mlir::DialectRegistry &registry) {
  auto fail = [](const llvm::Twine &message) {
    llvm::WithColor::error(llvm::errs(), "proteus-opt") << message << "\n";
    return llvm::failure();
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      proteus::readModuleFile(input);
  if (!text)
    return fail(llvm::toString(text.takeError()));
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file =
      mlir::openOutputFile(output, &message);
  if (!file)
    return fail(message);
  std::optional<llvm::sys::fs::UniqueID> opened = identityOf(output);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  proteus::opt::DiagnosticLimit limit((*text)->getBuffer());
  // Expected diagnostics are compared, not printed.
  if (!config.shouldVerifyDiagnostics())
    limit.install(registry);
  llvm::LogicalResult result =
      mlir::MlirOptMain(file->os(), std::move(*text), registry, config);
  if (limit.numHidden() > 0)
    llvm::WithColor::note(llvm::errs(), "proteus-opt")
        << limit.numHidden() << " more errors are not shown\n";
  if (llvm::failed(result))
    return llvm::failure();
  // A pass has replaced the file by its own output.
  if (identityOf(output) != opened)
    return fail("'" + output +
                "' is an output and is named twice; an output replaces its "
                "file, so choose another one");
  file->keep();
  return llvm::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  proteus::registerAllDialects(registry);
  proteus::registerAllPasses();
  mlir::registerTransformsPasses();
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &os) { os << "proteus-opt " PROTEUS_VERSION "\n"; });

  // Diagnostics point into the user's file. Printing the operation too would
  // bury the message, in the worst case under a whole module. The flag turns it
  // on.
  llvm::StringRef quiet = "--mlir-print-op-on-diagnostic";
  std::vector<char *> arguments(argv, argv + argc);
  std::string off = (quiet + "=false").str();
  if (llvm::none_of(arguments, [&](llvm::StringRef argument) {
        return argument.ltrim('-').starts_with(quiet.ltrim('-'));
      }))
    arguments.insert(arguments.begin() + 1, off.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(arguments.size()) - 1;
  auto [input, output] = mlir::registerAndParseCLIOptions(
      count, arguments.data(), overview, registry);
  // Lists need no input.
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(count, arguments.data(), input, output, registry));
  return mlir::asMainReturnCode(process(input, output, registry));
}
