//===- Stack.cpp - software stacks and sites as data ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Stack.h"

#include "Readers.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

namespace {
struct Preset {
  StringRef name;
  StringRef text;
};
} // namespace

/// The embedded stacks and sites. They are sorted by name, because the build
/// file lists them in this order.
static constexpr Preset stacks[] = {
#include "StackFiles.inc"
};
static constexpr Preset sites[] = {
#include "SiteFiles.inc"
};

StringRef proteus::machine::stringify(TrafficClass traffic) {
  switch (traffic) {
  case TrafficClass::Elementwise:
    return "elementwise";
  case TrafficClass::Norm:
    return "norm";
  case TrafficClass::Activation:
    return "activation";
  case TrafficClass::Rope:
    return "rope";
  case TrafficClass::Softmax:
    return "softmax";
  case TrafficClass::Loss:
    return "loss";
  case TrafficClass::Embedding:
    return "embedding";
  case TrafficClass::Permute:
    return "permute";
  case TrafficClass::Update:
    return "update";
  }
  llvm_unreachable("unknown traffic class");
}

double ArchitectureRates::on(Architecture wanted) const {
  for (auto [known, rate] : rates)
    if (known == wanted)
      return rate;
  return 1;
}

bool StackParameters::hasChannelsLast(DType type) const {
  switch (images) {
  case ImageLayout::ChannelsLast:
    return true;
  case ImageLayout::ChannelsFirst:
    return false;
  case ImageLayout::HalfChannelsLast:
    return byteWidth(type) == 2;
  }
  llvm_unreachable("unknown layout of images");
}

void StackParameters::captureGraphs() {
#define STACK_SECONDS(MEMBER, SECTION, ...)                                    \
  if (StringRef(SECTION) == "host")                                            \
    MEMBER = 0;
#include "Proteus/Machine/StackParameters.def"
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Sets `target` to the value of the enumeration that the word at `key` names.
/// Does nothing if the key is absent.
template <typename Enum>
static void readEnum(const Reader &reader, StringRef key, Enum &target) {
  if (!reader.has(key))
    return;
  std::string word = reader[key].string();
  if (std::optional<Enum> value = plan::symbolizeEnum<Enum>(word))
    target = *value;
  else if (reader[key].isString())
    reader[key].fail("expected one of " + join(plan::wordsOf<Enum>(), ", ") +
                     ", got '" + word + "'");
}

static void readFlag(const Reader &reader, StringRef key, bool &target) {
  if (reader.has(key))
    target = reader[key].boolean();
}

std::vector<std::string> Stack::modelDecisions() const {
  const Stack usual;
  std::vector<std::string> decisions;
  auto add = [&](StringRef key, const std::string &value) {
    decisions.push_back((key + "=" + value).str());
  };
  if (attention != usual.attention)
    add("attention", stringifyEnum(attention).str());
  if (gated != usual.gated)
    add("gated", stringifyEnum(gated).str());
  if (logits != usual.logits)
    add("logits", stringifyEnum(logits).str());
  if (dropout != usual.dropout)
    add("dropout", json::formatNumber(dropout));
  if (vocabMultiple != usual.vocabMultiple)
    add("vocab_multiple", std::to_string(vocabMultiple));
  if (gradientType != usual.gradientType)
    add("gradient_type", stringifyEnum(gradientType).str());
  return decisions;
}

static void readModel(const Reader &reader, Stack &stack) {
  reader.expectKeys({"attention", "gated", "logits", "dropout",
                     "vocab_multiple", "length_bins"});
  readEnum(reader, "gated", stack.gated);
  readEnum(reader, "logits", stack.logits);
  readEnum(reader, "attention", stack.attention);
  if (reader.has("dropout"))
    stack.dropout = reader["dropout"].nonNegative(0.99);
  if (reader.has("vocab_multiple"))
    stack.vocabMultiple = reader["vocab_multiple"].integer(1, 1 << 20);
  if (reader.has("length_bins")) {
    Reader bins = reader["length_bins"];
    bins.expectKeys({"tokens", "from"});
    stack.lengthBin = bins["tokens"].integer(1, 1 << 20);
    stack.lengthBinsFrom =
        bins.has("from") ? bins["from"].integer(1, 1 << 30) : 1;
  }
}

/// Reads the plan field with the stack key `key` into the plan of `stack`. Does
/// nothing if the key is absent.
static void readDecision(const Reader &reader, StringRef key, Stack &stack) {
  const plan::Field *field = find_if(
      plan::fields(), [&](const auto &field) { return field.stackKey == key; });
  assert(field != plan::fields().end() && "not a key of a stack");
  if (!reader.has(key))
    return;
  Reader value = reader[key];
  std::string text = field->kind == plan::Field::Kind::Switch
                         ? (value.boolean() ? "true" : "false")
                         : value.string();
  Error error = field->set(stack.plan.plan, text);
  if (!error)
    return;
  std::string reason = toString(std::move(error));
  if (field->kind == plan::Field::Kind::Switch || value.isString())
    value.fail(reason);
}

/// Returns the keys of the mechanism parameters in one section of a stack file.
static SmallVector<StringRef> parameterKeys(StringRef section) {
  SmallVector<StringRef> keys;
  for (const StackParameterRow &row : stackParameterRows())
    if (row.section == section)
      keys.push_back(row.key);
  return keys;
}

static void readStep(const Reader &reader, Stack &stack) {
  constexpr StringRef decisions[] = {"bucket_rule",        "tensor_overlap",
                                     "overlap_parameters", "overlap_messages",
                                     "scatter_messages",   "stage_partition",
                                     "zero_all_reduce"};
  SmallVector<StringRef> keys = parameterKeys("step");
  llvm::append_range(keys, decisions);
  keys.append({"overlap_gradients", "zero_one_by_one", "gradient_type"});
  reader.expectKeys(keys);
  for (StringRef key : decisions)
    readDecision(reader, key, stack);
  if (reader.has("overlap_gradients")) {
    stack.plan.plan.gradientReduction.reset();
    if (!reader["overlap_gradients"].boolean())
      stack.plan.plan.gradientReduction =
          plan::GradientReduction::AfterBackward;
  }
  readFlag(reader, "zero_one_by_one", stack.plan.zeroPerParameter);
  readEnum(reader, "gradient_type", stack.gradientType);
}

/// Reads the rate of each generation, for example {"hopper": 0.5}.
static void readRates(const Reader &reader, ArchitectureRates &rates) {
  SmallVector<StringRef> names;
  for (Architecture architecture : allArchitectures())
    names.push_back(stringify(architecture));
  reader.expectKeys(names);
  rates.clear();
  for (Architecture architecture : allArchitectures())
    if (reader.has(stringify(architecture)))
      rates.set(architecture, reader[stringify(architecture)].positive(10));
}

/// Reads the factor of each traffic class, for example {"norm": 2}.
static void readTraffic(const Reader &reader, TrafficFactors &factors) {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < numTrafficClasses; ++i)
    names.push_back(stringify(static_cast<TrafficClass>(i)));
  reader.expectKeys(names);
  for (auto [i, name] : llvm::enumerate(names))
    if (reader.has(name))
      factors[i] = reader[name].positive(1000);
}

/// Reads the mechanism parameters in one section of a stack file.
static void readParameters(const Reader &reader, StringRef section,
                           StackParameters &parameters) {
#define IF_GIVEN(SECTION, KEY) if (section == SECTION && reader.has(KEY))
#define STACK_SECONDS(MEMBER, SECTION, KEY, ...)                               \
  IF_GIVEN(SECTION, KEY) parameters.MEMBER = readMicroseconds(reader, KEY);
#define STACK_BYTES(MEMBER, SECTION, KEY, ...)                                 \
  IF_GIVEN(SECTION, KEY)                                                       \
  parameters.MEMBER =                                                          \
      std::llround(reader[KEY].nonNegative(maxMemoryGigabytes) * 1e9);
#define STACK_FLAG(MEMBER, SECTION, KEY, ...)                                  \
  IF_GIVEN(SECTION, KEY) parameters.MEMBER = reader[KEY].boolean();
#define STACK_NUMBER(MEMBER, MAX, SECTION, KEY, ...)                           \
  IF_GIVEN(SECTION, KEY) parameters.MEMBER = reader[KEY].nonNegative(MAX);
#define STACK_CHOICE(TYPE, MEMBER, SECTION, KEY, ...)                          \
  IF_GIVEN(SECTION, KEY) readEnum(reader, KEY, parameters.MEMBER);
#define STACK_TRAFFIC(MEMBER, SECTION, KEY, ...)                               \
  IF_GIVEN(SECTION, KEY) readTraffic(reader[KEY], parameters.MEMBER);
#define STACK_RATES(MEMBER, SECTION, KEY, ...)                                 \
  IF_GIVEN(SECTION, KEY) readRates(reader[KEY], parameters.MEMBER);
#include "Proteus/Machine/StackParameters.def"
#undef IF_GIVEN
}

std::vector<StackParameterRow> proteus::machine::stackParameterRows() {
  std::vector<StackParameterRow> rows;
  StringRef mechanism, mechanismHelp;
  auto add = [&](StringRef section, StringRef key, StringRef help,
                 std::vector<std::string> words = {}) {
    rows.push_back(
        {mechanism, mechanismHelp, section, key, help, std::move(words)});
  };
#define STACK_MECHANISM(NAME, HELP) mechanism = NAME, mechanismHelp = HELP;
#define STACK_SECONDS(MEMBER, ...) add(__VA_ARGS__);
#define STACK_BYTES(MEMBER, ...) add(__VA_ARGS__);
#define STACK_FLAG(MEMBER, ...) add(__VA_ARGS__);
#define STACK_NUMBER(MEMBER, MAX, ...) add(__VA_ARGS__);
#define STACK_CHOICE(TYPE, MEMBER, SECTION, KEY, HELP)                         \
  add(SECTION, KEY, HELP, plan::wordsOf<TYPE>());
#define STACK_TRAFFIC(MEMBER, ...) add(__VA_ARGS__);
#define STACK_RATES(MEMBER, ...) add(__VA_ARGS__);
#include "Proteus/Machine/StackParameters.def"
  return rows;
}

static void readMemory(const Reader &reader, Stack &stack) {
  SmallVector<StringRef> keys = parameterKeys("memory");
  keys.append({"reported", "keep_gathered"});
  reader.expectKeys(keys);
  readDecision(reader, "keep_gathered", stack);
  readEnum(reader, "reported", stack.reportedMemory);
}

static Stack readStack(const Reader &reader) {
  reader.expectKeys({"name", "source", "base", "model", "step", "kernels",
                     "host", "gaps", "memory", "uncertainty"});
  Stack stack;
  if (reader.has("base")) {
    Expected<Stack> base = parseStackPreset(reader["base"].string());
    if (base)
      stack = *base;
    else
      reader["base"].fail(toString(base.takeError()));
  }
  stack.name = reader["name"].nonEmptyString();
  if (reader.has("source"))
    reader["source"].string();
  using Section = void (*)(const Reader &, Stack &);
  for (auto [key, read] : std::initializer_list<std::pair<StringRef, Section>>{
           {"model", readModel}, {"step", readStep}, {"memory", readMemory}})
    if (reader.has(key))
      read(reader[key], stack);
  for (StringRef section : {"kernels", "host", "gaps"})
    if (reader.has(section))
      reader[section].expectKeys(parameterKeys(section));
  for (StringRef section : {"step", "kernels", "host", "gaps", "memory"})
    if (reader.has(section))
      readParameters(reader[section], section, stack.parameters);
  if (reader.has("uncertainty"))
    stack.uncertainty = reader["uncertainty"].nonNegative(10);
  return stack;
}

static Site readSite(const Reader &reader) {
  reader.expectKeys({"name", "source", "devices", "nics", "fabric_efficiency",
                     "collective_gap_us"});
  Site site;
  site.name = reader["name"].nonEmptyString();
  if (reader.has("source"))
    reader["source"].string();
  if (reader.has("devices"))
    for (const Reader &device : reader["devices"].elements())
      site.devices.push_back(device.nonEmptyString());
  if (reader.has("nics")) {
    Reader nics = reader["nics"];
    nics.expectKeys({"count", "speed_gbit"});
    site.cards = {static_cast<uint32_t>(nics["count"].integer(1, 1024)),
                  readGigabits(nics, "speed_gbit")};
  }
  if (reader.has("fabric_efficiency"))
    site.fabricEfficiency = reader["fabric_efficiency"].positive(1);
  if (reader.has("collective_gap_us"))
    site.collectiveGap = readMicroseconds(reader, "collective_gap_us");
  return site;
}

template <typename T>
static Expected<T> parse(StringRef text, StringRef source,
                         T (*read)(const Reader &)) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  T result = read(document->root());
  if (Error error = document->takeError())
    return std::move(error);
  return result;
}

Expected<Stack> proteus::machine::parseStackJSON(StringRef text,
                                                 StringRef source) {
  return parse(text, source, readStack);
}

Expected<Site> proteus::machine::parseSiteJSON(StringRef text,
                                               StringRef source) {
  return parse(text, source, readSite);
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

static std::vector<std::string> namesOf(ArrayRef<Preset> presets) {
  std::vector<std::string> names;
  for (const Preset &preset : presets)
    names.push_back(preset.name.str());
  return names;
}

static Expected<StringRef> textOf(ArrayRef<Preset> presets, StringRef kind,
                                  StringRef name) {
  for (const Preset &preset : presets)
    if (preset.name == name)
      return preset.text;
  return createStringError("unknown " + kind + " '" + name + "'; known ones: " +
                           join(namesOf(presets), ", ") + ", or a JSON file");
}

std::vector<std::string> proteus::machine::stackPresetNames() {
  return namesOf(stacks);
}

std::vector<std::string> proteus::machine::sitePresetNames() {
  return namesOf(sites);
}

Expected<Stack> proteus::machine::parseStackPreset(StringRef name) {
  Expected<StringRef> text = textOf(stacks, "stack", name);
  if (!text)
    return text.takeError();
  return parseStackJSON(*text, ("stack " + name).str());
}

Expected<Site> proteus::machine::parseSitePreset(StringRef name) {
  Expected<StringRef> text = textOf(sites, "site", name);
  if (!text)
    return text.takeError();
  return parseSiteJSON(*text, ("site " + name).str());
}
