//===- Checks.cpp - checks of jobs in child processes ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Isolation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

namespace {

/// Checks tasks and writes lines: a word and its text, separated by a space.
class Checker {
public:
  Checker(const CheckOptions &options, raw_ostream &os)
      : options(options), os(os) {}

  void check(size_t index, const Task &task);

private:
  void write(StringRef word, const Twine &text) {
    std::string line = text.str();
    llvm::replace(line, '\n', ' ');
    os << word << ' ' << line << '\n';
    os.flush();
  }
  /// Checks a rule. Returns false if it does not apply.
  bool check(const Rule &rule, const JobCase &job);

  const CheckOptions &options;
  raw_ostream &os;
  Evaluator evaluator;
};

} // namespace

bool Checker::check(const Rule &rule, const JobCase &job) {
  std::optional<Pair> pair = rule.derive(job, options.directory);
  if (!pair)
    return false;
  write("rule", rule.name);
  const Evaluated &base = evaluator.get(pair->base);
  if (!base.hasRun())
    return false;
  Evaluated own;
  if (rule.run)
    own = rule.run(pair->variant, options.directory);
  const Evaluated &variant = rule.run ? own : evaluator.get(pair->variant);
  std::optional<Finding> finding;
  if (!variant.refusal.empty()) {
    std::string fault = faultOf(variant.refusal);
    if (!fault.empty())
      write("fault", fault + ": " + variant.refusal);
    if (!rule.mustRun)
      return false;
    finding = Finding{1, "the variant is refused: " + variant.refusal};
  } else {
    finding = rule.compare(base, variant);
  }
  write("applied", rule.name);
  if (!finding)
    return true;
  auto exception = find_if(options.exceptions, [&](const Exception &e) {
    return e.explains(rule, *pair, *finding);
  });
  if (exception != options.exceptions.end())
    write("excused", exception->name);
  else
    write("violation", finding->text);
  return true;
}

void Checker::check(size_t index, const Task &task) {
  write("task", Twine(index));
  evaluator.trim();
  const Evaluated &base = evaluator.get(task.job);
  if (base.hasRun()) {
    write("ran", "");
    size_t checked = 0;
    for (const Rule *rule : task.rules)
      if (checked < task.wanted)
        checked += check(*rule, task.job);
  } else {
    write("refused", kindOf(base.refusal));
    std::string fault = faultOf(base.refusal);
    if (!fault.empty())
      write("fault", fault + ": " + base.refusal);
  }
  write("simulated", Twine(evaluator.simulated));
  evaluator.simulated = 0;
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

namespace {

/// Counts the lines of a child.
class Counter {
public:
  Counter(Totals &totals, function_ref<void(size_t, const Failure &)> onFailure)
      : totals(totals), onFailure(onFailure) {}

  void count(StringRef line);
  void fail(Failure::Kind kind, StringRef text) {
    onFailure(task, Failure{kind, rule, text.str()});
  }
  /// Returns the index of the task after the present one.
  size_t next() const { return task + 1; }

private:
  Totals &totals;
  function_ref<void(size_t, const Failure &)> onFailure;
  size_t task = 0;
  const Rule *rule = nullptr;
};

} // namespace

void Counter::count(StringRef line) {
  auto [word, text] = line.split(' ');
  if (word == "task") {
    text.getAsInteger(10, task);
    rule = nullptr;
    ++totals.jobs;
  } else if (word == "rule") {
    rule = findRule(text);
  } else if (word == "ran") {
    ++totals.ran;
  } else if (word == "refused") {
    ++totals.refused;
    ++totals.refusals[text.str()];
  } else if (word == "applied") {
    ++totals.applied[text.str()];
  } else if (word == "excused") {
    ++totals.excused[text.str()];
  } else if (word == "fault") {
    fail(Failure::Fault, text);
  } else if (word == "violation") {
    ++totals.violations[rule->name];
    fail(Failure::Violation, text);
  } else if (word == "simulated") {
    int64_t number = 0;
    text.getAsInteger(10, number);
    totals.simulated += number;
  }
}

void proteus::fuzz::checkAll(
    ArrayRef<Task> tasks, const CheckOptions &options, Totals &totals,
    function_ref<void(size_t, const Failure &)> onFailure) {
  Counter counter(totals, onFailure);
  for (size_t first = 0; first < tasks.size(); first = counter.next()) {
    End end = runIsolated(
        [&](raw_ostream &os) {
          Checker checker(options, os);
          for (size_t i = first; i < tasks.size(); ++i)
            checker.check(i, tasks[i]);
        },
        [&](StringRef line) { counter.count(line); }, options.secondsPerJob);
    if (end == End::Finished)
      return;
    // The child ended in this task; another child checks the tasks after it.
    counter.fail(end == End::Late ? Failure::Hang : Failure::Crash, "");
  }
}

std::vector<Failure> proteus::fuzz::checkOne(const Task &task,
                                             const CheckOptions &options) {
  std::vector<Failure> failures;
  Totals totals;
  checkAll(task, options, totals, [&](size_t, const Failure &failure) {
    failures.push_back(failure);
  });
  return failures;
}

StringRef proteus::fuzz::describe(Failure::Kind kind) {
  switch (kind) {
  case Failure::Crash:
    return "crash";
  case Failure::Hang:
    return "hang";
  case Failure::Fault:
    return "fault";
  case Failure::Violation:
    return "violation";
  }
  llvm_unreachable("unknown kind");
}
