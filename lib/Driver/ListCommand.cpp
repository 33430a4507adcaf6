//===- ListCommand.cpp - proteus list -------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Driver/Commands.h"
#include "Proteus/Machine/Cluster.h"
#include "Proteus/Machine/Stack.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Models/Registry.h"
#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Support/Nearest.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// Formats a number of parameters: 175181291520 is "175.18 B".
static std::string inWords(int64_t parameters) {
  double value = static_cast<double>(parameters);
  if (value >= 1e9)
    return fixed(value / 1e9, 2) + " B";
  return fixed(value / 1e6, 2) + " M";
}

static int listModels() {
  Table table({"model", "family", "description", "parameters"}, 3);
  for (const models::Preset &preset : models::Registry::get().getPresets()) {
    models::ModelRequest request;
    request.model = preset.name;
    Expected<models::ModelDescription> model = models::describe(request);
    if (!model)
      return fail(model.takeError());
    table.add({preset.name, preset.family, preset.description,
               inWords(model->parameters)});
  }
  table.print(outs());
  return 0;
}

static int listClusters() {
  Table table({"cluster", "device", "devices per node", "NVLink or PCIe (GB/s)",
               "network per device (GB/s)"},
              2);
  for (const std::string &name : machine::clusterPresetNames()) {
    Expected<machine::Cluster> cluster = machine::parseClusterPreset(name);
    if (!cluster)
      return fail(cluster.takeError());
    auto rate = [](const machine::Link &link) {
      return link.bandwidth > 0 ? fixed(link.bandwidth / 1e9, 1) : "-";
    };
    table.add({name, cluster->devices.front().name,
               std::to_string(cluster->devicesPerNode()),
               rate(cluster->intraNode), rate(cluster->interNode)});
  }
  table.print(outs());
  outs() << "\n  NAME:N are N nodes; a cluster file works as well "
            "(docs/clusters.md)\n";
  return 0;
}

static int listDevices() {
  Expected<std::vector<machine::Device>> devices = machine::libraryDevices();
  if (!devices)
    return fail(devices.takeError());
  Table table({"device", "bf16 (TFLOP/s)", "fp16 (TFLOP/s)", "fp32 (TFLOP/s)",
               "memory (GB)", "memory (GB/s)"});
  for (const machine::Device &device : *devices) {
    auto peak = [&](machine::DType type) {
      return device.supports(type) ? fixed(device.peak(type) / 1e12, 1)
                                   : std::string("-");
    };
    table.add({device.name, peak(machine::DType::BF16),
               peak(machine::DType::F16), peak(machine::DType::F32),
               fixed(static_cast<double>(device.memoryBytes) / 1e9, 1),
               fixed(device.memoryBandwidth / 1e9, 0)});
  }
  table.print(outs());
  return 0;
}

static int listProfiles(ArrayRef<std::string> names, StringRef flag) {
  for (const std::string &name : names)
    outs() << "  " << name << "\n";
  outs() << "\n  " << flag << " takes a name or a JSON file (docs/stacks.md)\n";
  return 0;
}

static int listSchedules() {
  Table table({"schedule", "what it does"}, 2);
  table.add({"1f1b", "backward passes as early as possible"});
  table.add({"gpipe", "all forward passes, then all backward passes"});
  table.add({"interleaved", "1f1b of several chunks per stage (--vpp)"});
  table.add({"zero-bubble", "gradients of parameters fill the waiting times"});
  table.print(outs());
  outs() << "\n  Others are written item by item into a strategy tree "
            "(docs/strategies.md)\n";
  return 0;
}

/// Returns the stacks that decide `field` other than its default, with their
/// values.
static std::string stacksDeciding(const plan::Field &field) {
  std::string text;
  for (const std::string &name : machine::stackPresetNames()) {
    Expected<machine::Stack> stack = machine::parseStackPreset(name);
    if (!stack) {
      consumeError(stack.takeError());
      continue;
    }
    std::optional<std::string> value = field.get(stack->plan.plan);
    if (value && *value != field.defaultText)
      text += (text.empty() ? "" : ", ") + name + ": " + *value;
  }
  return text;
}

/// Lists the fields of a plan as a table of the terminal or of Markdown.
static int listSwitches(bool asMarkdown) {
  std::vector<StringRef> labels = {
      "flag",          "values",         "meaning", "default",
      "strategy tree", "apply-strategy", "case",    "stacks that differ"};
  Table table({"flag", "default", "meaning"}, 3);
  if (asMarkdown)
    outs() << "| " << join(labels, " | ") << " |\n|"
           << join(std::vector<std::string>(labels.size(), "---|"), "") << "\n";
  auto code = [](StringRef text) {
    return text.empty() ? std::string() : ("`" + text + "`").str();
  };
  for (const plan::Field &field : plan::fields()) {
    if (!asMarkdown) {
      table.add({"--" + field.flag, field.defaultText, field.help});
      continue;
    }
    std::string flags = code("--" + field.flag);
    for (const std::string &alias : field.aliases)
      flags += ", " + code("--" + alias);
    for (const plan::Shorthand &shorthand : plan::shorthands())
      if (shorthand.field == &field)
        flags += ", " + code("--" + shorthand.flag);
    std::string values = field.placeholder();
    std::replace(values.begin(), values.end(), '|', ' ');
    outs() << "| "
           << join(std::vector<std::string>{flags, values, field.help,
                                            field.defaultText, code(field.tree),
                                            code(field.option),
                                            code(field.caseKey),
                                            stacksDeciding(field)},
                   " | ")
           << " |\n";
  }
  if (!asMarkdown)
    table.print(outs());
  return 0;
}

int proteus::driver::listCommand(ArrayRef<std::string> arguments) {
  StringRef what = arguments.empty() ? "" : StringRef(arguments.front());
  if (what == "models")
    return listModels();
  if (what == "clusters")
    return listClusters();
  if (what == "devices")
    return listDevices();
  if (what == "schedules")
    return listSchedules();
  if (what == "stacks")
    return listProfiles(machine::stackPresetNames(), "--stack");
  if (what == "sites")
    return listProfiles(machine::sitePresetNames(), "--site");
  if (what == "switches")
    return listSwitches(arguments.size() > 1 && arguments[1] == "--markdown");
  if (what == "--help" || what == "-h") {
    outs() << "Lists what can be named: proteus list "
              "models|clusters|devices|schedules|stacks|sites|switches\n";
    return 0;
  }
  std::string near =
      nearest(what, {"models", "clusters", "devices", "schedules", "stacks",
                     "sites", "switches"});
  return fail(createStringError(
      "expected 'models', 'clusters', 'devices', 'schedules', 'stacks', "
      "'sites' or 'switches'" +
      (what.empty() ? Twine("") : ", got '" + what + "'") +
      (near.empty() ? Twine("") : "; did you mean '" + Twine(near) + "'?")));
}
