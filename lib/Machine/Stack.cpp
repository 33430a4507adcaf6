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

/// Sorted by name: the build file lists them in that order.
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

static double rateOn(ArrayRef<std::pair<Architecture, double>> rates,
                     Architecture wanted) {
  for (auto [known, rate] : rates)
    if (known == wanted)
      return rate;
  return 1;
}

double Stack::attentionRate(Architecture architecture) const {
  return rateOn(attentionRates, architecture);
}

double Stack::productRate(Architecture architecture) const {
  return rateOn(productRates, architecture);
}

bool Stack::hasChannelsLast(DType type) const {
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

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static void readSeconds(const Reader &reader, StringRef key, double &seconds) {
  if (reader.has(key))
    seconds = readMicroseconds(reader, key);
}

static void readChoice(const Reader &reader, StringRef key,
                       ArrayRef<StringRef> choices, std::string &target) {
  if (!reader.has(key))
    return;
  target = reader[key].string();
  if (reader[key].isString() && !is_contained(choices, target))
    reader[key].fail("expected one of " + join(choices, ", ") + ", got '" +
                     target + "'");
}

/// One of `choices`, which are in the order of the enumeration.
template <typename Enum>
static void readEnum(const Reader &reader, StringRef key,
                     ArrayRef<StringRef> choices, Enum &target) {
  std::string word = choices[static_cast<unsigned>(target)].str();
  readChoice(reader, key, choices, word);
  if (const StringRef *found = llvm::find(choices, word);
      found != choices.end())
    target = static_cast<Enum>(found - choices.begin());
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
    add("attention", attention);
  if (gated != usual.gated)
    add("gated", gated);
  if (logits != usual.logits)
    add("logits", logits);
  if (dropout != usual.dropout)
    add("dropout", json::formatNumber(dropout));
  if (vocabMultiple != usual.vocabMultiple)
    add("vocab_multiple", std::to_string(vocabMultiple));
  if (!gradientType.empty() && gradientType != "f32")
    add("gradient_type", gradientType);
  return decisions;
}

static void readModel(const Reader &reader, Stack &stack) {
  reader.expectKeys({"attention", "gated", "logits", "dropout",
                     "vocab_multiple", "length_bins"});
  readChoice(reader, "gated", {"fused", "unfused"}, stack.gated);
  readChoice(reader, "logits", {"compute", "f32"}, stack.logits);
  readChoice(reader, "attention", {"fused", "unfused"}, stack.attention);
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

/// Reads the field of a plan whose key in a stack is `key`.
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

static void readStep(const Reader &reader, Stack &stack) {
  constexpr StringRef decisions[] = {"bucket_rule",        "tensor_overlap",
                                     "overlap_parameters", "overlap_messages",
                                     "scatter_messages",   "stage_partition",
                                     "zero_all_reduce"};
  SmallVector<StringRef> keys(std::begin(decisions), std::end(decisions));
  keys.append({"overlap_gradients", "zero_one_by_one", "gradient_type",
               "gathers_converted"});
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
  readFlag(reader, "gathers_converted", stack.gathersConverted);
  readChoice(reader, "gradient_type", {"f32", "compute"}, stack.gradientType);
}

/// {"hopper": 0.5}
static void readRates(const Reader &reader,
                      std::vector<std::pair<Architecture, double>> &rates) {
  SmallVector<StringRef> names;
  for (Architecture architecture : allArchitectures())
    names.push_back(stringify(architecture));
  reader.expectKeys(names);
  rates.clear();
  for (Architecture architecture : allArchitectures())
    if (reader.has(stringify(architecture)))
      rates.emplace_back(architecture,
                         reader[stringify(architecture)].positive(10));
}

static void readKernels(const Reader &reader, Stack &stack) {
  reader.expectKeys({"traffic", "fused", "attention_rate", "product_rate",
                     "images", "fused_neighbours", "fused_linears",
                     "keeps_converted_weights", "separate_accumulation"});
  readFlag(reader, "fused_linears", stack.fusedLinears);
  readFlag(reader, "separate_accumulation", stack.separateAccumulation);
  readFlag(reader, "keeps_converted_weights", stack.keepsConvertedWeights);
  readEnum(reader, "images",
           {"channels_last", "channels_first", "half_channels_last"},
           stack.images);
  readEnum(reader, "fused_neighbours", {"none", "elementwise", "norms"},
           stack.fusedNeighbours);
  if (reader.has("attention_rate"))
    readRates(reader["attention_rate"], stack.attentionRates);
  if (reader.has("product_rate"))
    readRates(reader["product_rate"], stack.productRates);
  readFlag(reader, "fused", stack.fusedMemoryKernels);
  if (!reader.has("traffic"))
    return;
  Reader traffic = reader["traffic"];
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < numTrafficClasses; ++i)
    names.push_back(stringify(static_cast<TrafficClass>(i)));
  traffic.expectKeys(names);
  for (auto [i, name] : llvm::enumerate(names))
    if (traffic.has(name))
      stack.traffic[i] = traffic[name].positive(1000);
}

static void readHost(const Reader &reader, Stack &stack) {
  reader.expectKeys({"kernel_us", "collective_us", "message_us",
                     "waits_for_messages", "pause_us", "pause_share"});
  readSeconds(reader, "kernel_us", stack.hostKernel);
  readSeconds(reader, "collective_us", stack.hostCollective);
  readSeconds(reader, "message_us", stack.hostMessage);
  readFlag(reader, "waits_for_messages", stack.hostWaits);
  readSeconds(reader, "pause_us", stack.hostPause);
  if (reader.has("pause_share"))
    stack.hostPauseShare = reader["pause_share"].nonNegative(1);
}

static void readGaps(const Reader &reader, Stack &stack) {
  reader.expectKeys({"kernel_us", "collective_us", "step_us"});
  readSeconds(reader, "kernel_us", stack.kernelGap);
  readSeconds(reader, "collective_us", stack.collectiveGap);
  readSeconds(reader, "step_us", stack.stepGap);
}

static void readMemory(const Reader &reader, Stack &stack) {
  reader.expectKeys({"reserved_gb", "reported", "master_gradients",
                     "dummy_gradients", "keep_gathered"});
  readDecision(reader, "keep_gathered", stack);
  readFlag(reader, "dummy_gradients", stack.dummyGradients);
  readFlag(reader, "master_gradients", stack.masterGradients);
  readChoice(reader, "reported", {"allocated", "reserved", "device"},
             stack.reportedMemory);
  if (reader.has("reserved_gb"))
    stack.reservedBytes = std::llround(
        reader["reserved_gb"].nonNegative(maxMemoryGigabytes) * 1e9);
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
           {"model", readModel},
           {"step", readStep},
           {"kernels", readKernels},
           {"host", readHost},
           {"gaps", readGaps},
           {"memory", readMemory}})
    if (reader.has(key))
      read(reader[key], stack);
  if (reader.has("uncertainty"))
    stack.uncertainty = reader["uncertainty"].nonNegative(10);
  return stack;
}

static Site readSite(const Reader &reader) {
  reader.expectKeys(
      {"name", "source", "fabric_efficiency", "collective_gap_us"});
  Site site;
  site.name = reader["name"].nonEmptyString();
  if (reader.has("source"))
    reader["source"].string();
  if (reader.has("fabric_efficiency"))
    site.fabricEfficiency = reader["fabric_efficiency"].positive(1);
  readSeconds(reader, "collective_gap_us", site.collectiveGap);
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
