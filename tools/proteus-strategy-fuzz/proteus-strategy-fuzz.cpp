//===- proteus-strategy-fuzz.cpp - random strategies, executed --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generates random small models with random strategies and runs check-lowering
// on each. Cases run in child processes: one that crashes or does not end is
// counted like one that computes something else, and the rest goes on.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/InitAll.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/wait.h>
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
static cl::opt<unsigned> limit("limit", cl::desc("Seconds for one case"),
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
static cl::opt<bool> print("print",
                           cl::desc("Print the cases instead of running them"),
                           cl::cat(category));

/// Cases that one process runs; bounds the memory of a context.
static constexpr uint64_t batchSize = 50;
/// Executions that are spent on making one failing case smaller.
static constexpr unsigned maxReductions = 400;

/// The passes that may find that a strategy is not possible.
static constexpr llvm::StringLiteral rejectingPasses[] = {
    "match-strategy", "build-training-step", "propagate-strategy"};

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

namespace {

/// From `Stuck` on a case has failed. It is stuck if a pass after
/// propagate-strategy, which has to see what can't be lowered, gives up.
enum class Outcome : uint8_t { Right, Rejected, Stuck, Mismatch, Crash, Hang };

struct Verdict {
  Outcome outcome = Outcome::Crash;
  /// Bit i: feature i of the table is in the accepted program.
  uint64_t features = 0;
  /// The first diagnostic.
  std::string message;
};

/// Lowered programs that differ in no byte have one hash.
struct Lowered {
  uint64_t hash;
  OwningOpRef<ModuleOp> module;
};

/// Notes the first pass that fails.
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

/// A feature of a lowered program.
struct ProgramFeature {
  StringRef name;
  bool (*holds)(ModuleOp module);
};

} // namespace

/// Whether some operation has a result, or some program an argument, of which
/// `holds` is true.
static bool anyTensor(ModuleOp module,
                      llvm::function_ref<bool(RankedTensorType)> holds) {
  return module
      .walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto tensor = dyn_cast<RankedTensorType>(type))
            if (dist::getLayout(tensor) && holds(tensor))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

template <typename Op> static bool hasOp(ModuleOp module) {
  return module.walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static bool usesAxis(ModuleOp module) {
  return anyTensor(module, [](RankedTensorType type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      for (dist::Axis axis : layout.getDimAxes(dim))
        if (axis != dist::microAxis &&
            layout.getMesh().getValue().getSize(axis) >= 2)
          return true;
    return false;
  });
}

static bool hasUnevenPart(ModuleOp module) {
  return anyTensor(module,
                   [](RankedTensorType type) { return !dist::isEven(type); });
}

static bool hasStages(ModuleOp module) {
  return llvm::range_size(module.getOps<dist::ProgramOp>()) >= 2;
}

static const ProgramFeature programFeatures[] = {
    {"axis of two or more splits a tensor", usesAxis},
    {"uneven part", hasUnevenPart},
    {"two or more programs", hasStages},
    {"nn.repeat", hasOp<nn::RepeatOp>},
    {"nn.recompute", hasOp<nn::RecomputeOp>},
    {"dist.all_reduce", hasOp<dist::AllReduceOp>},
    {"dist.all_gather", hasOp<dist::AllGatherOp>},
    {"dist.reduce_scatter", hasOp<dist::ReduceScatterOp>},
    {"dist.all_to_all", hasOp<dist::AllToAllOp>},
    {"dist.slice", hasOp<dist::SliceOp>},
    {"dist.accumulate", hasOp<dist::AccumulateOp>},
    {"dist.fused_reduce", hasOp<dist::FusedReduceOp>},
    {"dist.send", hasOp<dist::SendOp>},
};

/// Parses and lowers; nothing if a diagnostic forbids it, which `failedPass`
/// then has emitted.
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

/// Runs a case. A program that is lowered and then can't be executed, or
/// computes something else, is a mismatch.
static Verdict evaluate(MLIRContext &context, const Case &input,
                        bool findFeatures) {
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
  verdict.outcome = Outcome::Right;
  if (!findFeatures)
    return verdict;
  // What a tree says matters if the program is another one, or none, without.
  uint64_t bit = 1;
  for (const TreeFeature &feature : getTreeFeatures()) {
    Case without = input;
    if (feature.remove(without.tree)) {
      std::optional<Lowered> other = lower(context, write(without), failedPass);
      if (!other || other->hash != lowered->hash)
        verdict.features |= bit;
    }
    bit <<= 1;
  }
  for (const ProgramFeature &feature : programFeatures) {
    if (feature.holds(*lowered->module))
      verdict.features |= bit;
    bit <<= 1;
  }
  verdict.message.clear();
  return verdict;
}

//===----------------------------------------------------------------------===//
// Child processes
//===----------------------------------------------------------------------===//

namespace {
/// A process that runs cases in order and writes one line per verdict.
class Child {
public:
  using Clock = std::chrono::steady_clock;

  Child(const DialectRegistry &registry, std::deque<Case> cases, uint64_t begin,
        bool findFeatures);
  Child(const Child &) = delete;
  ~Child();

  int getPipe() const { return pipe; }
  /// The case that is running.
  uint64_t getCurrent() const { return current; }
  bool isLate() const {
    return Clock::now() - started > std::chrono::seconds(limit);
  }
  /// Takes what the process has written; false once it has ended.
  bool read(llvm::function_ref<void(uint64_t, Verdict)> done);

private:
  pid_t pid;
  int pipe;
  uint64_t current;
  std::string buffer;
  Clock::time_point started = Clock::now();
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
  // What a crash prints is found again with proteus-opt.
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::raw_fd_ostream stream(ends[1], /*shouldClose=*/false);
  for (const Case &input : cases) {
    Verdict verdict = evaluate(context, input, findFeatures);
    llvm::replace(verdict.message, '\n', ' ');
    stream << static_cast<int>(verdict.outcome) << ' ' << verdict.features
           << ' ' << verdict.message << '\n';
    stream.flush();
  }
  _exit(0);
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
    auto [number, rest] = StringRef(buffer).take_front(end).split(' ');
    auto [features, message] = rest.split(' ');
    Verdict verdict;
    int outcome = 0;
    number.getAsInteger(10, outcome);
    features.getAsInteger(10, verdict.features);
    verdict.outcome = static_cast<Outcome>(outcome);
    verdict.message = message.str();
    done(current++, std::move(verdict));
    started = Clock::now();
  }
  return true;
}

/// The verdict on one case, from a process of its own.
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

/// Runs all cases, some processes at a time.
static std::vector<Verdict> runAll(const DialectRegistry &registry) {
  std::vector<Verdict> verdicts(count);
  /// Ranges of cases that no process has yet.
  std::deque<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t begin = 0; begin < count; begin += batchSize)
    ranges.push_back({begin, std::min<uint64_t>(begin + batchSize, count)});

  struct Running {
    std::unique_ptr<Child> child;
    uint64_t end;
  };
  std::vector<Running> running;
  while (!ranges.empty() || !running.empty()) {
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
      bool alive = !waits[i].revents || child.read([&](uint64_t n, Verdict v) {
        verdicts[n] = std::move(v);
      });
      bool late = alive && child.isLate();
      if (alive && !late)
        continue;
      // The case that was running is the last one of this process.
      uint64_t next = child.getCurrent();
      if (next < running[i].end) {
        verdicts[next].outcome = late ? Outcome::Hang : Outcome::Crash;
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

static StringRef describe(Outcome outcome) {
  switch (outcome) {
  case Outcome::Right:
    return "right";
  case Outcome::Rejected:
    return "rejected";
  case Outcome::Stuck:
    return "stuck";
  case Outcome::Mismatch:
    return "mismatch";
  case Outcome::Crash:
    return "crash";
  case Outcome::Hang:
    return "hang";
  }
  llvm_unreachable("an outcome");
}

/// A smaller case that fails in the same way.
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

/// Writes a failing case, made smaller, into the directory.
static void save(const DialectRegistry &registry, uint64_t index,
                 Verdict verdict) {
  Case input = generate(seed, index);
  // Executions that do not end are too slow to be repeated.
  if (verdict.outcome != Outcome::Hang)
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
         << "//   proteus-opt --check-lowering=tolerance=" << tolerance << " "
         << name << " -o /dev/null\n"
         << "// Made smaller from\n"
         << "//   proteus-strategy-fuzz --seed " << seed << " --first " << index
         << " --count 1 --tolerance " << tolerance << "\n\n"
         << write(input);
  llvm::outs() << "  " << describe(verdict.outcome) << ": " << path << "\n";
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

/// How many accepted cases have each feature.
static void printFeatures(ArrayRef<Verdict> verdicts) {
  auto row = [&](StringRef name, unsigned bit) {
    int64_t number = llvm::count_if(verdicts, [&](const Verdict &verdict) {
      return verdict.features >> bit & 1;
    });
    llvm::outs() << llvm::formatv("  {0,-38}{1,7}\n", name, number);
  };
  unsigned bit = 0;
  llvm::outs() << "\nwithout which an accepted strategy gives another program "
                  "or none\n";
  for (const TreeFeature &feature : getTreeFeatures())
    row(feature.name, bit++);
  llvm::outs() << "\nin the program of an accepted strategy\n";
  for (const ProgramFeature &feature : programFeatures)
    row(feature.name, bit++);
}

/// The diagnostics of rejected cases, numbers left out, by frequency.
static void printDiagnostics(ArrayRef<Verdict> verdicts) {
  std::map<std::string, int64_t> byMessage;
  for (const Verdict &verdict : verdicts)
    if (verdict.outcome == Outcome::Rejected) {
      std::string message;
      for (char c : verdict.message)
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
      "the lowering and compares, like check-lowering. Fails if one differs,\n"
      "crashes or does not end, and writes it to a file, made smaller.\n");
  if (print) {
    for (uint64_t i = 0; i < count; ++i)
      llvm::outs() << (i ? "// -----\n" : "")
                   << write(generate(seed, first + i));
    return 0;
  }

  DialectRegistry registry;
  registerAllDialects(registry);
  std::vector<Verdict> verdicts = runAll(registry);
  auto number = [&](Outcome outcome) {
    return llvm::count_if(verdicts, [&](const Verdict &verdict) {
      return verdict.outcome == outcome;
    });
  };
  int64_t mismatches = number(Outcome::Mismatch);
  int64_t stuck = number(Outcome::Stuck);
  int64_t crashes = number(Outcome::Crash), hangs = number(Outcome::Hang);
  llvm::outs() << count << " strategies, " << mismatches << " mismatches, "
               << number(Outcome::Rejected) << " rejected with a diagnostic\n";
  if (stuck || crashes || hangs)
    llvm::outs() << stuck << " stuck in the lowering, " << crashes
                 << " crashes, " << hangs << " hangs\n";
  for (auto [index, verdict] : llvm::enumerate(verdicts))
    if (verdict.outcome >= Outcome::Stuck)
      save(registry, first + index, verdict);
  printFeatures(verdicts);
  if (diagnostics)
    printDiagnostics(verdicts);
  return mismatches || stuck || crashes || hangs ? 1 : 0;
}
