//===- ListCommand.cpp - proteus list -------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListFrameworks.h"
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

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

static int listModels(bool) {
  Table table({"model", "family", "description", "parameters"}, 3);
  for (const models::Preset &preset : models::Registry::get().getPresets()) {
    models::ModelRequest request;
    request.model = preset.name;
    Expected<models::ModelDescription> model = models::describe(request);
    if (!model)
      return fail(model.takeError());
    table.add({preset.name, preset.family, preset.description,
               countInWords(model->parameters)});
  }
  table.print(outs());
  return 0;
}

static int listClusters(bool) {
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

static int listDevices(bool) {
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

static int printNames(ArrayRef<std::string> names, StringRef flag) {
  for (const std::string &name : names)
    outs() << "  " << name << "\n";
  outs() << "\n  " << flag << " takes a name or a JSON file (docs/stacks.md)\n";
  return 0;
}

static int listSchedules(bool) {
  Table table({"schedule", "order"}, 2);
  table.add({"1f1b", "backward passes as early as possible"});
  table.add({"gpipe", "all forward passes, then all backward passes"});
  table.add({"interleaved", "1f1b of several chunks per stage (--vpp)"});
  table.add({"zero-bubble", "gradients of parameters fill the waiting times"});
  table.print(outs());
  outs() << "\n  Others are written item by item into a strategy tree "
            "(docs/strategies.md)\n";
  return 0;
}

/// Returns the stacks that set `field` to another value than its default, with
/// their values, as text: "NAME: VALUE, NAME: VALUE".
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

/// Prints the header row of a Markdown table.
static void printHead(ArrayRef<StringRef> labels) {
  outs() << "| " << join(labels, " | ") << " |\n|"
         << join(std::vector<std::string>(labels.size(), "---|"), "") << "\n";
}

/// Prints the fields of a plan, as a table for the terminal or in Markdown.
static int listSwitches(bool asMarkdown) {
  std::vector<StringRef> labels = {
      "flag",          "values",         "meaning", "default",
      "strategy tree", "apply-strategy", "case",    "stacks that differ"};
  Table table({"flag", "default", "meaning"}, 3);
  if (asMarkdown)
    printHead(labels);
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

/// Prints the mechanisms of software stacks with their parameters, as a table
/// for the terminal or in Markdown.
static int listMechanisms(bool asMarkdown) {
  Table table({"mechanism", "section", "key", "meaning"}, 4);
  if (asMarkdown)
    printHead({"mechanism", "section", "key", "meaning"});
  StringRef current;
  for (const machine::StackParameterRow &row : machine::stackParameterRows()) {
    bool isFirst = row.mechanism != current;
    current = row.mechanism;
    std::string help = row.help.str();
    if (!row.words.empty())
      help += ": `" + join(row.words, "`, `") + "`";
    if (!asMarkdown) {
      table.add({isFirst ? row.mechanism.str() : "", row.section.str(),
                 row.key.str(), row.help.str()});
      continue;
    }
    outs() << "| "
           << (isFirst ? (row.mechanism + ": " + row.mechanismHelp).str() : "")
           << " | `" << row.section << "` | `" << row.key << "` | " << help
           << " |\n";
  }
  if (!asMarkdown)
    table.print(outs());
  return 0;
}

namespace {
/// A list that `proteus list NAME` prints.
struct Listing {
  StringRef name;
  StringRef contents;
  bool hasMarkdown; ///< true if --markdown prints a table of a docs/ page
  int (*print)(bool asMarkdown);
};
} // namespace

static constexpr Listing listings[] = {
    {"models", "models and their sizes", false, listModels},
    {"clusters", "clusters and their links", false, listClusters},
    {"devices", "devices and their peak rates", false, listDevices},
    {"schedules", "built-in orders of micro-batches", false, listSchedules},
    {"stacks", "software stacks", false,
     [](bool) { return printNames(machine::stackPresetNames(), "--stack"); }},
    {"sites", "sites", false,
     [](bool) { return printNames(machine::sitePresetNames(), "--site"); }},
    {"switches", "decisions of a plan and their flags", true, listSwitches},
    {"mechanisms", "parameters of software stacks", true, listMechanisms},
    {"frameworks", "settings of Megatron-LM, torchtitan and DeepSpeed", true,
     listFrameworks},
};

namespace {
struct ListArguments {
  bool asMarkdown = false;

  void declare(Flags &flags) {
    std::string text =
        "Lists names that other commands take: proteus list NAME\n\n";
    raw_string_ostream os(text);
    for (const Listing &listing : listings)
      os << "  " << left_justify(listing.name, 12) << listing.contents << "\n";
    flags.about(text);
    flags.section("output");
    flags.flag("markdown",
               "the table of a page below docs/, where there is one",
               asMarkdown);
  }
};
} // namespace

void proteus::driver::visitListFlags(FlagVisitor visit) {
  visitFlagsOf<ListArguments>(visit);
}

std::vector<std::string> proteus::driver::listNames() {
  std::vector<std::string> names;
  for (const Listing &listing : listings)
    names.push_back(listing.name.str());
  return names;
}

int proteus::driver::listCommand(ArrayRef<std::string> arguments) {
  ListArguments given;
  Flags flags;
  given.declare(flags);
  if (printedHelp(flags, arguments))
    return 0;
  Expected<std::vector<std::string>> rest = flags.parse(arguments);
  if (!rest)
    return fail(rest.takeError());
  std::string wanted = rest->empty() ? "" : rest->front();
  const Listing *found = find_if(
      listings, [&](const Listing &listing) { return listing.name == wanted; });
  if (found == std::end(listings)) {
    std::string near = nearest(wanted, listNames());
    return fail(createStringError(
        "expected one of " + join(listNames(), ", ") +
        (wanted.empty() ? "" : ", got '" + wanted + "'") +
        (near.empty() ? "" : "; did you mean '" + near + "'?")));
  }
  if (rest->size() > 1)
    return fail(createStringError("proteus list " + wanted +
                                  " takes no argument '" + (*rest)[1] + "'"));
  if (given.asMarkdown && !found->hasMarkdown)
    return fail(createStringError("proteus list " + wanted +
                                  " has no table for docs/; leave --markdown "
                                  "out"));
  return found->print(given.asMarkdown);
}
