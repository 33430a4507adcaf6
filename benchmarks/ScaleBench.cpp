//===- ScaleBench.cpp - time of the examples ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/InitAll.h"
#include "Proteus/Sim/Simulation.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Pipelines.h"
#include "Proteus/Transforms/Simulate/BuildWorkload.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace proteus;

namespace {

const std::string examples = PROTEUS_EXAMPLES_DIR;

/// Returns the peak memory of a command in bytes, or nullopt if it fails. The
/// kernel counts the memory of a parent as that of its child until the child
/// executes its own program, so a small process starts the command.
std::optional<double> peakMemory(const char *const *arguments) {
  std::string command =
      "python3 -c 'import resource, subprocess, sys; "
      "subprocess.run(sys.argv[1:], check=True); "
      "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)'";
  for (; *arguments; ++arguments)
    command += " '" + std::string(*arguments) + "'";
  FILE *output = popen(command.c_str(), "r");
  if (!output)
    return std::nullopt;
  double kibibytes = 0;
  bool read = std::fscanf(output, "%lf", &kibibytes) == 1;
  if (pclose(output) != 0 || !read)
    return std::nullopt;
  return kibibytes * 1024;
}

/// Runs proteus-opt on an example, from text to report, in a separate process.
/// The time is the CPU time of that process including its start.
void processOfExample(benchmark::State &state, const std::string &name) {
  std::string file = examples + "/" + name + ".mlir";
  std::string report = "--simulate=report=/dev/null";
  std::string tool = PROTEUS_OPT;
  const char *arguments[] = {
      tool.c_str(), "--lower-strategy", report.c_str(), file.c_str(),
      "-o",         "/dev/null",        nullptr};
  std::optional<double> memory = peakMemory(arguments);
  if (!memory)
    return state.SkipWithError("proteus-opt failed");
  state.counters["bytes"] = *memory;
  for (auto _ : state) {
    pid_t child;
    int status = 1;
    rusage usage = {};
    if (posix_spawn(&child, tool.c_str(), nullptr, nullptr,
                    const_cast<char *const *>(arguments), environ) != 0 ||
        wait4(child, &status, 0, &usage) != child || status != 0)
      return state.SkipWithError("proteus-opt failed");
    auto seconds = [](const timeval &time) {
      return static_cast<double>(time.tv_sec) +
             static_cast<double>(time.tv_usec) * 1e-6;
    };
    state.SetIterationTime(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }
}

MLIRContext &sharedContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerAllDialects(registry);
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *context;
}

/// Returns the workload of an example. Aborts on errors, which a benchmark must
/// not hide.
sim::Workload workloadOf(const std::string &name, bool foldRanks) {
  MLIRContext &context = sharedContext();
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(examples + "/" + name + ".mlir", &context);
  PassManager manager(&context);
  LowerStrategyOptions options;
  buildLowerStrategyPipeline(manager, options);
  if (!module || failed(manager.run(*module)))
    llvm::report_fatal_error("the example does not lower");
  FailureOr<machine::Cluster> cluster = resolveCluster(*module);
  if (failed(cluster))
    llvm::report_fatal_error("the example has no cluster");
  auto machine = createMachineModel(std::move(*cluster), Fidelity::Flow);
  if (!machine)
    llvm::report_fatal_error(machine.takeError());
  WorkloadOptions workloadOptions;
  workloadOptions.foldRanks = foldRanks;
  auto workload = buildWorkload(*module, *machine, workloadOptions);
  if (failed(workload))
    llvm::report_fatal_error("the example makes no workload");
  return std::move(*workload);
}

/// Runs the engine with all listeners of a report on a workload that is already
/// built. `fold` selects replay and recurrence, the part of `fold=all` that
/// concerns time.
void engineOfExample(benchmark::State &state, const std::string &name,
                     bool fold) {
  sim::Workload workload = workloadOf(name, /*foldRanks=*/true);
  sim::EngineOptions options;
  options.skipRecurrence = options.replaySections = fold;
  uint64_t tasks = 0, events = 0;
  for (auto _ : state) {
    sim::MemoryTracker memory;
    sim::BreakdownTracker breakdown;
    sim::CollectiveTable collectives;
    sim::BucketTable buckets;
    sim::LinkTable links;
    auto result =
        sim::run(workload, options,
                 {&memory, &breakdown, &collectives, &buckets, &links});
    if (!result)
      return state.SkipWithError(toString(result.takeError()).c_str());
    tasks += result->tasks;
    events += result->events;
  }
  using benchmark::Counter;
  state.counters["tasks/s"] = Counter(double(tasks), Counter::kIsRate);
  state.counters["events/s"] = Counter(double(events), Counter::kIsRate);
}

/// Computes the memory that the allocator would reserve. It follows from the
/// order of issue and needs no simulation.
void allocatorOfExample(benchmark::State &state, const std::string &name) {
  sim::Workload workload = workloadOf(name, /*foldRanks=*/true);
  std::vector<sim::MemoryBudget> budgets = sim::budgetsOf(workload);
  for (auto _ : state)
    for (uint32_t c = 0; c < workload.classes.size(); ++c)
      benchmark::DoNotOptimize(
          sim::reserve(workload, c, budgets[c].forTensors()));
}

const bool registered = [] {
  for (std::string name :
       {"gpt3-175b-1024", "llama3-405b-131072", "gpt-1.5b-dp64"}) {
    benchmark::RegisterBenchmark(("processOfExample/" + name).c_str(),
                                 processOfExample, name)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("allocatorOfExample/" + name).c_str(),
                                 allocatorOfExample, name)
        ->Unit(benchmark::kMillisecond);
    for (bool fold : {true, false})
      benchmark::RegisterBenchmark(
          ("engineOfExample/" + name + (fold ? "" : "/fold:ranks")).c_str(),
          engineOfExample, name, fold)
          ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

} // namespace
