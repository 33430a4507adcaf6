//===- proteus-strategy-fuzz.cpp - random strategies, executed --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generates random small models with random strategies and runs check-lowering
// on each. If layers that are written out do the same work as repeated ones, a
// step of both must take the same time. Cases run in child processes, so that a
// case that crashes or does not end counts as a failure and the others still
// run.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"
#include "Generator.h"
#include "Registry.h"

#include "Proteus/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<uint64_t> seed("seed", cl::desc("Stream of cases"), cl::init(1),
                              cl::cat(category));
static cl::opt<uint64_t> first("first", cl::desc("Number of the first case"),
                               cl::init(0), cl::cat(category));
static cl::opt<uint64_t> count("count", cl::desc("How many cases to run"),
                               cl::init(200), cl::cat(category));
static cl::opt<unsigned> jobs("jobs", cl::desc("Processes at a time"),
                              cl::init(1), cl::cat(category));
static cl::opt<unsigned>
    limit("limit", cl::desc("Seconds of processor time for one case"),
          cl::init(20), cl::cat(category));
static cl::opt<double> tolerance("tolerance",
                                 cl::desc("That of check-lowering"),
                                 cl::init(1e-9), cl::cat(category));
static cl::opt<std::string> out("out",
                                cl::desc("Directory for cases that fail"),
                                cl::init("."), cl::cat(category));
static cl::opt<bool> diagnostics("diagnostics",
                                 cl::desc("Print why cases are rejected"),
                                 cl::cat(category));
static cl::opt<bool> failFast("fail-fast",
                              cl::desc("Stop at the first case that fails, as "
                                       "it is"),
                              cl::cat(category));
static cl::opt<bool> print("print",
                           cl::desc("Print the cases instead of running them"),
                           cl::cat(category));

/// Number of cases that one process runs; bounds the memory of a context.
static constexpr uint64_t batchSize = 50;
/// Largest number of executions for the reduction of one failing case.
static constexpr unsigned maxReductions = 400;

//===----------------------------------------------------------------------===//
// Child processes
//===----------------------------------------------------------------------===//

namespace {
/// A child process that runs cases in order and writes one line per verdict.
class Child {
public:
  using Clock = std::chrono::steady_clock;

  Child(const DialectRegistry &registry, std::deque<Case> cases, uint64_t begin,
        bool findFeatures);
  Child(const Child &) = delete;
  ~Child();

  int getPipe() const { return pipe; }
  /// Returns the number of the case that is running.
  uint64_t getCurrent() const { return current; }
  /// Returns true if the current case has used more processor time than the
  /// limit, or waits for 30 times the limit. Other processes of a busy machine
  /// thus make no case late.
  bool isLate() const {
    std::chrono::seconds most(limit);
    Clock::duration elapsed = Clock::now() - started;
    return elapsed > most &&
           (processorTime() - startedAt > most || elapsed > 30 * most);
  }
  /// Reads the verdicts that the process has written. Returns false if the
  /// process has ended.
  bool read(llvm::function_ref<void(uint64_t, Verdict)> done);

private:
  /// Returns the processor time of the process so far.
  Clock::duration processorTime() const;

  pid_t pid;
  int pipe;
  uint64_t current;
  std::string buffer;
  /// The time and the processor time at which the current case began.
  Clock::time_point started = Clock::now();
  Clock::duration startedAt{};
};
} // namespace

Child::Child(const DialectRegistry &registry, std::deque<Case> cases,
             uint64_t begin, bool findFeatures)
    : current(begin) {
  int ends[2];
  if (::pipe(ends) != 0)
    llvm::report_fatal_error("no pipe for a child process");
  llvm::outs().flush();
  pid = fork();
  if (pid < 0)
    llvm::report_fatal_error("no child process");
  if (pid > 0) {
    close(ends[1]);
    pipe = ends[0];
    return;
  }
  // proteus-opt can reproduce the output of a crash.
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::raw_fd_ostream stream(ends[1], /*shouldClose=*/false);
  for (const Case &input : cases) {
    Verdict verdict = evaluate(context, input, tolerance, findFeatures);
    llvm::replace(verdict.message, '\n', ' ');
    stream << static_cast<int>(verdict.outcome) << ' '
           << static_cast<int>(verdict.forms) << ' '
           << (verdict.features.empty() ? "-" : verdict.features) << ' '
           << verdict.message << '\n';
    stream.flush();
  }
  _exit(0);
}

Child::Clock::duration Child::processorTime() const {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return {};
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

Child::~Child() {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(pipe);
}

bool Child::read(llvm::function_ref<void(uint64_t, Verdict)> done) {
  char chunk[4096];
  ssize_t size = ::read(pipe, chunk, sizeof(chunk));
  if (size <= 0)
    return false;
  buffer.append(chunk, size);
  for (size_t end; (end = buffer.find('\n')) != std::string::npos;
       buffer.erase(0, end + 1)) {
    auto [number, afterNumber] = StringRef(buffer).take_front(end).split(' ');
    auto [form, rest] = afterNumber.split(' ');
    auto [features, message] = rest.split(' ');
    Verdict verdict;
    int outcome = 0, forms = 0;
    number.getAsInteger(10, outcome);
    form.getAsInteger(10, forms);
    verdict.forms = static_cast<FormComparison>(forms);
    if (features != "-")
      verdict.features = features.str();
    verdict.outcome = static_cast<Outcome>(outcome);
    verdict.message = message.str();
    done(current++, std::move(verdict));
    started = Clock::now();
    startedAt = processorTime();
  }
  return true;
}

/// Returns the verdict on one case, from a separate process.
static Verdict evaluateAlone(const DialectRegistry &registry,
                             const Case &input) {
  Child child(registry, {input}, 0, /*findFeatures=*/false);
  Verdict verdict;
  auto done = [&](uint64_t, Verdict result) { verdict = std::move(result); };
  while (true) {
    pollfd wait{child.getPipe(), POLLIN, 0};
    if (poll(&wait, 1, /*timeout=*/500) > 0 && !child.read(done))
      return verdict;
    if (child.isLate()) {
      verdict.outcome = Outcome::Hang;
      return verdict;
    }
  }
}

/// Runs the cases, several processes at a time. With `failFast`, cases after a
/// failure may have no verdict.
static std::vector<std::optional<Verdict>>
runAll(const DialectRegistry &registry) {
  std::vector<std::optional<Verdict>> verdicts(count);
  bool failed = false;
  auto note = [&](uint64_t index, Verdict verdict) {
    failed |= verdict.outcome >= Outcome::Stuck;
    verdicts[index] = std::move(verdict);
  };
  /// Ranges of cases that are not yet assigned to a process.
  std::deque<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t begin = 0; begin < count; begin += batchSize)
    ranges.push_back({begin, std::min<uint64_t>(begin + batchSize, count)});

  struct Running {
    std::unique_ptr<Child> child;
    uint64_t end;
  };
  std::vector<Running> running;
  while ((!ranges.empty() || !running.empty()) && !(failed && failFast)) {
    while (!ranges.empty() && running.size() < std::max<unsigned>(jobs, 1)) {
      auto [begin, end] = ranges.front();
      ranges.pop_front();
      std::deque<Case> cases;
      for (uint64_t i = begin; i < end; ++i)
        cases.push_back(generate(seed, first + i));
      running.push_back({std::make_unique<Child>(registry, std::move(cases),
                                                 begin, /*findFeatures=*/true),
                         end});
    }
    std::vector<pollfd> waits;
    for (Running &entry : running)
      waits.push_back({entry.child->getPipe(), POLLIN, 0});
    poll(waits.data(), waits.size(), /*timeout=*/500);
    for (size_t i = running.size(); i-- > 0;) {
      Child &child = *running[i].child;
      bool alive = !waits[i].revents || child.read(note);
      bool late = alive && child.isLate();
      if (alive && !late)
        continue;
      // The process ended while this case was running.
      uint64_t next = child.getCurrent();
      if (next < running[i].end) {
        Verdict verdict;
        verdict.outcome = late ? Outcome::Hang : Outcome::Crash;
        note(next, verdict);
        if (next + 1 < running[i].end)
          ranges.push_front({next + 1, running[i].end});
      }
      running.erase(running.begin() + i);
    }
  }
  return verdicts;
}

//===----------------------------------------------------------------------===//
// Failing cases
//===----------------------------------------------------------------------===//

/// Returns a smaller case with the same outcome.
static Case reduce(const DialectRegistry &registry, Case input,
                   Verdict &verdict) {
  unsigned left = maxReductions;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Case &candidate : simplify(input)) {
      if (left-- == 0)
        return input;
      Verdict other = evaluateAlone(registry, candidate);
      if (other.outcome != verdict.outcome)
        continue;
      input = std::move(candidate);
      verdict.message = other.message;
      smaller = true;
      break;
    }
  }
  return input;
}

/// Reduces a failing case and writes it to the output directory.
static void save(const DialectRegistry &registry, uint64_t index,
                 Verdict verdict) {
  Case input = generate(seed, index);
  // Executions that do not end take too long to be repeated.
  if (verdict.outcome != Outcome::Hang && !failFast)
    input = reduce(registry, std::move(input), verdict);
  std::string name = llvm::formatv("fuzz-{0}-{1}.mlir", seed, index).str();
  SmallString<128> path(out);
  llvm::sys::path::append(path, name);
  std::error_code error = llvm::sys::fs::create_directories(out);
  llvm::raw_fd_ostream stream(path, error);
  if (error) {
    llvm::errs() << "proteus-strategy-fuzz: " << path << ": " << error.message()
                 << "\n";
    return;
  }
  stream << "// " << describe(verdict.outcome)
         << (verdict.message.empty() ? "" : ": ") << verdict.message << "\n"
         << "//   proteus-opt "
         << (verdict.outcome == Outcome::OtherTime
                 ? "[--unroll-repeats] --lower-strategy --simulate=summary "
                 : llvm::formatv("--check-lowering=tolerance={0} ",
                                 double(tolerance))
                       .str())
         << name << " -o /dev/null\n"
         << (failFast ? "// From\n" : "// Made smaller from\n")
         << "//   proteus-strategy-fuzz --seed " << seed << " --first " << index
         << " --count 1 --tolerance " << tolerance << "\n\n"
         << write(input);
  llvm::outs() << "  " << describe(verdict.outcome) << ": " << path << "\n";
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

/// Prints in how many accepted cases each feature had an effect and each block
/// occurred.
static void printTables(ArrayRef<std::optional<Verdict>> verdicts) {
  std::vector<int64_t> byFeature(Registry::get().getFeatures().size());
  std::map<StringRef, int64_t> byBlock;
  int64_t accepted = 0;
  for (auto [index, verdict] : llvm::enumerate(verdicts)) {
    if (!verdict || verdict->outcome != Outcome::Right)
      continue;
    ++accepted;
    for (auto [i, c] : llvm::enumerate(verdict->features))
      byFeature[i] += c == '1';
    Case input = generate(seed, first + index);
    for (const std::vector<BlockUse> &uses : input.model.blocks)
      for (const BlockUse &use : uses)
        ++byBlock[use.block->name];
  }
  auto row = [&](StringRef name, int64_t number) {
    llvm::outs() << llvm::formatv("  {0,-38}{1,7}{2,8:f1} %\n", name, number,
                                  accepted ? 100.0 * number / accepted : 0);
  };
  auto table = [&](StringRef title,
                   llvm::function_ref<bool(const Feature &)> in) {
    llvm::outs() << "\n" << title << "\n";
    for (auto [i, feature] : llvm::enumerate(Registry::get().getFeatures()))
      if (in(feature))
        row(feature.name, byFeature[i]);
  };
  table("without which an accepted strategy gives another program or none",
        [](const Feature &feature) {
          return feature.remove && !feature.inProgram;
        });
  table("in the program of an accepted strategy",
        [](const Feature &feature) { return bool(feature.inProgram); });
  llvm::outs() << "\nin the model of an accepted strategy\n";
  for (const Block &block : Registry::get().getBlocks())
    row(block.name, byBlock[block.name]);
}

/// Prints the diagnostics of rejected cases by frequency, with `#` for numbers.
static void printDiagnostics(ArrayRef<std::optional<Verdict>> verdicts) {
  std::map<std::string, int64_t> byMessage;
  for (const std::optional<Verdict> &verdict : verdicts)
    if (verdict && verdict->outcome == Outcome::Rejected) {
      std::string message;
      for (char c : verdict->message)
        if (!llvm::isDigit(c))
          message += c;
        else if (message.empty() || message.back() != '#')
          message += '#';
      ++byMessage[message];
    }
  std::vector<std::pair<int64_t, StringRef>> list;
  for (auto &[message, number] : byMessage)
    list.push_back({-number, message});
  llvm::sort(list);
  llvm::outs() << "\nrejected with\n";
  for (auto &[number, message] : list)
    llvm::outs() << llvm::formatv("{0,7}  {1}\n", -number, message);
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Executes random small models under random strategies before and after\n"
      "the lowering and compares, like check-lowering, and simulates repeated\n"
      "layers and layers written out. Fails if one differs, crashes or does\n"
      "not end, and writes it to a file, made smaller.\n");
  if (print) {
    for (uint64_t i = 0; i < count; ++i)
      llvm::outs() << (i ? "// -----\n" : "")
                   << write(generate(seed, first + i));
    return 0;
  }

  DialectRegistry registry;
  registerAllDialects(registry);
  std::vector<std::optional<Verdict>> verdicts = runAll(registry);
  auto number = [&](Outcome outcome) {
    return llvm::count_if(verdicts, [&](const std::optional<Verdict> &verdict) {
      return verdict && verdict->outcome == outcome;
    });
  };
  int64_t mismatches = number(Outcome::Mismatch);
  int64_t stuck = number(Outcome::Stuck);
  int64_t otherTimes = number(Outcome::OtherTime);
  int64_t crashes = number(Outcome::Crash), hangs = number(Outcome::Hang);
  int64_t executed = llvm::count_if(
      verdicts, [](auto &verdict) { return verdict.has_value(); });
  llvm::outs() << executed << " strategies, " << mismatches << " mismatches, "
               << number(Outcome::Rejected) << " rejected with a diagnostic\n";
  auto compared = [&](FormComparison forms) {
    return llvm::count_if(verdicts, [&](auto &verdict) {
      return verdict && verdict->forms == forms;
    });
  };
  llvm::outs() << compared(FormComparison::SameWork)
               << " simulated with their layers written out as well, "
               << otherTimes << " other times; "
               << compared(FormComparison::OtherWork) +
                      compared(FormComparison::OtherWorkSameTime)
               << " more do other work, "
               << compared(FormComparison::OtherWorkSameTime)
               << " of them in the same time\n";
  if (stuck || crashes || hangs)
    llvm::outs() << stuck << " stuck in the lowering, " << crashes
                 << " crashes, " << hangs << " hangs\n";
  for (auto [index, verdict] : llvm::enumerate(verdicts))
    if (verdict && verdict->outcome >= Outcome::Stuck)
      save(registry, first + index, *verdict);
  printTables(verdicts);
  if (diagnostics)
    printDiagnostics(verdicts);
  return mismatches || otherTimes || stuck || crashes || hangs ? 1 : 0;
}
