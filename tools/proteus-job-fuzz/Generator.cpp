//===- Generator.cpp - generator of random jobs ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Random.h"

#include "Proteus/Models/BuildModel.h"
#include "Proteus/Models/Registry.h"
#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

namespace {

/// Draws the flags of one job.
class Generator {
public:
  Generator(uint64_t seed, uint64_t index) : seed(seed), index(index) {}

  JobCase generate();

private:
  Random stream(StringRef name) const { return Random(seed, index, name); }
  template <typename List> std::string pick(StringRef name, const List &list) {
    return list[stream(name).below(list.size())];
  }
  /// Adds a flag to some percent of the jobs, with one of `values`.
  void sometimes(int64_t percent, StringRef flag, ArrayRef<StringRef> values);
  void addModel();
  void addDimensions(ArrayRef<std::pair<std::string, std::string>> dimensions);
  void addMachine();
  void addDegrees();
  void addField(const plan::Field &field);
  void addShorthand(const plan::Shorthand &shorthand);

  const uint64_t seed, index;
  JobCase job;
  bool hasExperts = false;
};

} // namespace

void Generator::sometimes(int64_t percent, StringRef flag,
                          ArrayRef<StringRef> values) {
  Random random = stream(flag);
  if (random.chance(percent))
    job.add(flag, values[random.below(values.size())]);
}

/// Changes dimensions of most models, so that jobs are small and have sizes
/// that presets do not have.
void Generator::addDimensions(
    ArrayRef<std::pair<std::string, std::string>> dimensions) {
  Random random = stream("set");
  for (const auto &[name, text] : dimensions) {
    hasExperts |= name == "experts" && text != "0";
    int64_t value = 0;
    if (StringRef(text).getAsInteger(10, value))
      continue;
    if (StringRef(name).contains("layers") && value > 4 && random.chance(80))
      job.add("set", formatv("{0}={1}", name, random.between(1, 8)).str());
    else if (name == "seq" && value > 64 && random.chance(60))
      job.add("seq", std::to_string(random.pick({64, 128, 256, 512, 1000})));
    else if (name == "vocab" && random.chance(10))
      job.add("vocab-size", std::to_string(random.between(1000, 200000)));
  }
  if (job.has("seq") && random.chance(5))
    job.add("mean-tokens", std::to_string(job.getInteger("seq", 2) / 2));
}

void Generator::addModel() {
  const auto &presets = models::Registry::get().getPresets();
  models::ModelRequest request;
  request.model = presets[stream("model").below(presets.size())].name;
  job.add("model", request.model);
  Expected<models::ModelDescription> model = models::describe(request);
  if (model)
    addDimensions(model->dimensions);
  else
    consumeError(model.takeError());
  sometimes(35, "precision", {"bf16", "fp16", "fp32", "tf32", "fp8"});
  sometimes(20, "optimizer", {"adam", "sgd", "momentum"});
  if (hasExperts) {
    sometimes(15, "expert-balance", {"1", "1.2", "2"});
    sometimes(15, "expert-capacity", {"1", "1.25", "2"});
    sometimes(5, "pad-experts", {"true"});
  }
}

/// Draws cluster and number of devices: up to one node, or several nodes.
void Generator::addMachine() {
  std::string name = pick("cluster", machine::clusterPresetNames());
  Random random = stream("gpus");
  machine::Cluster one = cantFail(machine::parseClusterPreset(name));
  int64_t perNode = one.devicesPerNode();
  int64_t gpus = random.pick({1, 2, 4, 8, 8, 8, 16, 16, 32, 64});
  if (gpus > perNode)
    gpus = perNode * random.pick({1, 2, 2, 4, 8});
  if (random.chance(4))
    gpus = random.between(1, 24);
  if (random.chance(8))
    name += ":" + std::to_string((gpus + perNode - 1) / perNode);
  job.add("cluster", name);
  job.add("gpus", std::to_string(gpus));
  sometimes(40, "stack", {"none", "generic"});
  Random stack = stream("known stack");
  if (!job.has("stack") && stack.chance(60))
    job.add("stack", pick("stack name", machine::stackPresetNames()));
  if (stream("has site").chance(8))
    job.add("site", pick("site", machine::sitePresetNames()));
  sometimes(8, "cuda-graphs", {"true"});
  sometimes(8, "step-gap-us", {"0", "500"});
  sometimes(8, "fidelity", {"paper", "flow"});
  sometimes(8, "kernels", {"roofline", "fitted"});
  sometimes(10, "share", {"off", "on"});
  sometimes(10, "overlap", {"off", "on"});
}

/// Draws degrees whose product divides the number of devices.
void Generator::addDegrees() {
  int64_t left = job.getInteger("gpus", 1);
  auto draw = [&](StringRef flag, int64_t percent, int64_t most) {
    Random random = stream(flag);
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d <= std::min(left, most); ++d)
      if (left % d == 0)
        divisors.push_back(d);
    if (divisors.empty() || !random.chance(percent))
      return;
    int64_t degree = divisors[random.below(divisors.size())];
    job.add(flag, std::to_string(degree));
    left /= degree;
  };
  draw("tp", 45, 8);
  draw("pp", 45, 8);
  draw("cp", 8, 4);
  if (stream("dp").chance(20))
    job.add("dp", std::to_string(left));
  draw("ep", hasExperts ? 50 : 3, 16);
}

/// Draws the value of a field from its row in the table. Limits of integers in
/// the table are far above usual values.
void Generator::addField(const plan::Field &field) {
  Random random = stream(field.flag);
  if (job.has(field.flag))
    return;
  switch (field.kind) {
  case plan::Field::Kind::Switch:
    if (random.chance(8))
      job.add(field.flag, random.chance(75) ? "true" : "false");
    return;
  case plan::Field::Kind::Choice:
    if (random.chance(18))
      job.add(field.flag, field.words[random.below(field.words.size())]);
    return;
  case plan::Field::Kind::Integer:
    break;
  }
  bool isDegree = field.max == plan::maxDegree;
  bool isBatch = field.max == plan::maxBatch;
  if (!random.chance(isBatch ? 55 : 4) ||
      is_contained({"dp", "tp", "pp", "cp", "ep"}, field.flag))
    return;
  // Sizes in bytes are 2^10 to 2^30, all others small numbers.
  int64_t value = field.max == plan::maxBytes
                      ? int64_t(1) << random.between(10, 30)
                  : isDegree || isBatch ? random.pick({1, 2, 2, 3, 4, 4, 8})
                                        : random.between(0, 8);
  job.add(field.flag, std::to_string(std::clamp(value, field.min, field.max)));
}

void Generator::addShorthand(const plan::Shorthand &shorthand) {
  Random random = stream(shorthand.flag);
  if (random.chance(4) && !job.has(shorthand.field->flag))
    job.add(shorthand.flag, random.chance(80) ? "true" : "false");
}

JobCase Generator::generate() {
  addModel();
  addMachine();
  addDegrees();
  for (const plan::Field &field : plan::fields())
    addField(field);
  for (const plan::Shorthand &shorthand : plan::shorthands())
    addShorthand(shorthand);
  // The global batch instead of the number of micro-batches.
  int64_t micro = job.getInteger("micro-batch", 1);
  int64_t number = job.getInteger("accumulation", 1);
  if (stream("global-batch").chance(10)) {
    job = job.without("accumulation");
    job.add("global-batch", std::to_string(std::max<int64_t>(
                                1, micro * number * job.getReplicas())));
  }
  return std::move(job);
}

JobCase proteus::fuzz::generate(uint64_t seed, uint64_t index) {
  return Generator(seed, index).generate();
}

Task proteus::fuzz::generateTask(uint64_t seed, uint64_t index,
                                 size_t rulesPerJob) {
  Task task;
  task.job = generate(seed, index);
  task.wanted = rulesPerJob;
  for (const Rule &rule : rules())
    task.rules.push_back(&rule);
  Random(seed, index, "rules").shuffle(task.rules);
  return task;
}
