//===- proteus-job-fuzz.cpp - fuzzer of jobs ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates random jobs of all models on all clusters with all settings, and
// compares jobs whose figures are related.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Generator.h"
#include "Grid.h"
#include "Reduction.h"

#include "Proteus/InitAll.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <cstdlib>

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

static cl::OptionCategory category("Options");
static cl::opt<uint64_t> seed("seed", cl::desc("Stream of jobs"), cl::init(1),
                              cl::cat(category));
static cl::opt<uint64_t> first("first", cl::desc("Number of the first job"),
                               cl::init(0), cl::cat(category));
static cl::opt<uint64_t> howMany("count", cl::desc("How many jobs to check"),
                                 cl::init(100), cl::cat(category));
static cl::opt<unsigned> seconds("seconds",
                                 cl::desc("Stop after this time; 0: never"),
                                 cl::init(0), cl::cat(category));
static cl::opt<unsigned> limit("limit", cl::desc("Seconds for one job"),
                               cl::init(20), cl::cat(category));
static cl::opt<size_t> rulesPerJob("rules",
                                   cl::desc("How many rules to check per job"),
                                   cl::init(6), cl::cat(category));
static cl::list<std::string> only("only",
                                  cl::desc("Check only the rules that start "
                                           "with one of these words"),
                                  cl::CommaSeparated, cl::cat(category));
static cl::opt<std::string> jobText("job",
                                    cl::desc("Check all rules for this job: "
                                             "flags of proteus simulate"),
                                    cl::cat(category));
static cl::opt<bool> grid("grid",
                          cl::desc("Check all presets with a grid of settings "
                                   "instead of random jobs"),
                          cl::cat(category));
static cl::opt<size_t> stride("stride",
                              cl::desc("Take every N-th job of the grid"),
                              cl::init(1), cl::cat(category));
static cl::opt<bool> known("known",
                           cl::desc("Check that the reproducer of every "
                                    "exception violates its rule within its "
                                    "bound"),
                           cl::cat(category));
static cl::opt<std::string> exceptionFile("exceptions",
                                          cl::desc("File of known exceptions"),
                                          cl::init(PROTEUS_JOB_EXCEPTIONS),
                                          cl::cat(category));
static cl::opt<std::string> out("out", cl::desc("Directory for jobs that fail"),
                                cl::init("."), cl::cat(category));
static cl::opt<bool> diagnostics("diagnostics",
                                 cl::desc("Print why jobs are refused"),
                                 cl::cat(category));
static cl::opt<bool> print("print",
                           cl::desc("Print the jobs instead of running them"),
                           cl::cat(category));

/// Number of tasks between two checks of the time.
static constexpr size_t batchSize = 25;

/// Keeps only the rules that --only selects.
static void select(Task &task) {
  if (only.empty())
    return;
  llvm::erase_if(task.rules, [](const Rule *rule) {
    return llvm::none_of(only, [&](StringRef word) {
      return StringRef(rule->name).starts_with(word);
    });
  });
}

static std::vector<Task> makeTasks() {
  std::vector<Task> tasks;
  if (grid) {
    tasks = makeGrid(stride);
  } else if (!jobText.empty()) {
    Task task;
    task.job = parseCase(jobText);
    for (const Rule &rule : rules())
      task.rules.push_back(&rule);
    task.wanted = task.rules.size();
    tasks.push_back(std::move(task));
  } else {
    for (uint64_t i = 0; i < howMany; ++i)
      tasks.push_back(generateTask(seed, first + i, rulesPerJob));
  }
  for (Task &task : tasks)
    select(task);
  return tasks;
}

/// Reduces a failing job and writes it to the output directory.
static void save(size_t index, const Task &task, Failure failure,
                 const CheckOptions &options) {
  JobCase job = reduce(task.job, failure, options);
  std::string name =
      grid || !jobText.empty()
          ? formatv("job-{0}.txt", index).str()
          : formatv("job-{0}-{1}.txt", uint64_t(seed), first + index).str();
  SmallString<128> path(out);
  sys::path::append(path, name);
  std::error_code error;
  raw_fd_ostream stream(path, error, sys::fs::OF_Append);
  std::string text = explain(job, failure, options);
  outs() << "\n" << text;
  if (error) {
    WithColor::error(errs(), "proteus-job-fuzz")
        << path << ": " << error.message() << "\n";
    return;
  }
  stream << text << "# from: proteus simulate " << task.job.str() << "\n\n";
}

static void printTable(StringRef title,
                       const std::map<std::string, int64_t> &numbers) {
  if (numbers.empty())
    return;
  outs() << "\n" << title << "\n";
  std::vector<std::pair<int64_t, StringRef>> rows;
  for (const auto &[name, number] : numbers)
    rows.push_back({-number, name});
  llvm::sort(rows);
  for (const auto &[number, name] : rows)
    outs() << formatv("{0,7}  {1}\n", -number, name);
}

/// Checks that each exception still explains its reproducer: an exception
/// without a violation is removed from the file.
static int checkExceptions(const CheckOptions &options) {
  bool wrong = false;
  for (const Exception &exception : options.exceptions) {
    Task task;
    task.job = exception.reproducer;
    task.rules = {exception.rules.front()};
    task.wanted = 1;
    Totals totals;
    bool failed = false;
    checkAll(task, options, totals, [&](size_t, const Failure &failure) {
      failed = true;
      outs() << exception.name << ": " << failure.text << "\n";
    });
    if (!failed && totals.excused[exception.name] != 1) {
      failed = true;
      outs() << exception.name << ": the reproducer violates no rule\n";
    }
    wrong |= failed;
  }
  outs() << options.exceptions.size() << " exceptions\n";
  return wrong;
}

/// Checks all tasks. Returns the number of failures.
static int64_t checkTasks(ArrayRef<Task> tasks, const CheckOptions &options,
                          Totals &totals) {
  auto begin = std::chrono::steady_clock::now();
  bool isTerminal = sys::Process::StandardErrIsDisplayed();
  int64_t failures = 0;
  for (size_t i = 0; i < tasks.size(); i += batchSize) {
    ArrayRef<Task> batch = tasks.slice(i).take_front(batchSize);
    checkAll(batch, options, totals, [&](size_t index, const Failure &failure) {
      ++failures;
      save(i + index, batch[index], failure, options);
    });
    if (isTerminal)
      errs() << formatv("\rjob-fuzz: {0} of {1} jobs, {2} failures",
                        i + batch.size(), tasks.size(), failures);
    auto spent = std::chrono::steady_clock::now() - begin;
    if (seconds && spent > std::chrono::seconds(seconds))
      break;
  }
  if (isTerminal)
    errs() << "\n";
  return failures;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Simulates random jobs and compares jobs whose figures are related by a\n"
      "rule. Fails if a job crashes, does not end or is refused without a\n"
      "reason, or if a rule does not hold, and writes a smaller job that "
      "fails\n"
      "to a file.\n");
  // Jobs verify the IR after each pass.
  setenv("PROTEUS_VERIFY_EACH", "1", /*overwrite=*/1);
  registerAllPasses();
  Expected<std::vector<Exception>> exceptions = readExceptions(exceptionFile);
  if (!exceptions) {
    WithColor::error(errs(), "proteus-job-fuzz")
        << toString(exceptions.takeError()) << "\n";
    return 1;
  }
  CheckOptions options{std::move(*exceptions), out, limit};
  if (std::error_code error = sys::fs::create_directories(out)) {
    WithColor::error(errs(), "proteus-job-fuzz")
        << "can't create '" << out << "': " << error.message() << "\n";
    return 1;
  }
  if (known)
    return checkExceptions(options);
  std::vector<Task> tasks = makeTasks();
  if (print) {
    for (const Task &task : tasks)
      outs() << "proteus simulate " << task.job.str() << "\n";
    return 0;
  }
  Totals totals;
  int64_t failures = checkTasks(tasks, options, totals);
  printTable("rules checked", totals.applied);
  printTable("known exceptions", totals.excused);
  if (diagnostics)
    printTable("refused with", totals.refusals);
  printTable("violations", totals.violations);
  int64_t checks = 0, excused = 0;
  for (const auto &[name, number] : totals.applied)
    checks += number;
  for (const auto &[name, number] : totals.excused)
    excused += number;
  outs() << formatv("\n{0} jobs: {1} ran, {2} refused with a diagnostic; {3} "
                    "simulations; {4} rules checked, {5} known exceptions, {6} "
                    "failures\n",
                    totals.jobs, totals.ran, totals.refused, totals.simulated,
                    checks, excused, failures);
  return failures ? 1 : 0;
}
