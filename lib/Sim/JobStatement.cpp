//===- JobStatement.cpp - the job of a report, restated -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/JobStatement.h"

#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

using plan::Origin;

std::string JobValue::text() const {
  if (const bool *flag = std::get_if<bool>(&value))
    return *flag ? "on" : "off";
  if (const int64_t *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (const std::string *text = std::get_if<std::string>(&value))
    return *text;
  return "-";
}

void JobStatement::set(StringRef key, JobValue::Value value, Origin origin) {
  JobValue entry{key.str(), std::move(value), origin};
  auto found =
      find_if(values, [&](const JobValue &known) { return known.key == key; });
  if (found == values.end())
    values.push_back(std::move(entry));
  else
    *found = std::move(entry);
}

const JobValue *JobStatement::find(StringRef key) const {
  auto found =
      find_if(values, [&](const JobValue &known) { return known.key == key; });
  return found == values.end() ? nullptr : &*found;
}

void JobStatement::write(json::Writer &writer) const {
  writer.beginObject();
  for (const JobValue &entry : values) {
    writer.key(entry.key);
    writer.beginObject();
    writer.key("value");
    if (const bool *flag = std::get_if<bool>(&entry.value))
      writer.value(*flag);
    else if (const int64_t *number = std::get_if<int64_t>(&entry.value))
      writer.value(*number);
    else if (const std::string *text = std::get_if<std::string>(&entry.value))
      writer.value(*text);
    else
      writer.null();
    writer.attribute("origin", plan::stringify(entry.origin));
    writer.endObject();
  }
  writer.endObject();
}

namespace {

/// Prints the table of a statement.
class StatementTable {
public:
  explicit StatementTable(const JobStatement &statement)
      : statement(statement), table({"setting", "value", "from"}, 3) {}

  void addModel();
  void addSizes();
  void addDegrees();
  void addDecisions();
  void addMachine();
  /// Adds the values that are not yet in the table and are no defaults.
  void addOthers();
  void print(raw_ostream &os) const { table.print(os); }

private:
  /// Widest line of the column of values. With the other columns, a line has at
  /// most 100 characters.
  static constexpr size_t width = 70;

  /// Adds `text`, in several rows if it is too wide for one.
  void add(StringRef label, StringRef text, Origin origin);
  /// Adds the value of `key` if the statement has it. It is followed by its
  /// unit: by `one` after the number 1, otherwise by `many`.
  void addValue(StringRef label, StringRef key, StringRef one = "",
                StringRef many = "");
  /// Adds one row per origin with the values of `keys`, which are pairs of a
  /// key and its name in the table.
  void addByOrigin(StringRef label,
                   ArrayRef<std::pair<StringRef, StringRef>> keys);
  /// Returns the value of `key`, or null if there is none or it is empty. The
  /// value then counts as shown.
  const JobValue *take(StringRef key);

  const JobStatement &statement;
  StringSet<> shown; ///< keys of values in the table
  Table table;
};

} // namespace

void StatementTable::add(StringRef label, StringRef text, Origin origin) {
  SmallVector<StringRef> lines;
  std::string whole = wrapped(text, width, "", "");
  StringRef(whole).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (auto [i, line] : enumerate(lines))
    table.add({i == 0 ? label.str() : "", line.str(),
               i == 0 ? plan::stringify(origin).str() : ""});
}

const JobValue *StatementTable::take(StringRef key) {
  const JobValue *found = statement.find(key);
  if (!found || std::holds_alternative<std::monostate>(found->value))
    return nullptr;
  shown.insert(key);
  return found;
}

void StatementTable::addValue(StringRef label, StringRef key, StringRef one,
                              StringRef many) {
  const JobValue *found = take(key);
  if (!found)
    return;
  std::string text = found->text();
  StringRef unit = text == "1" ? one : many;
  add(label, text + unit.str(), found->origin);
}

void StatementTable::addByOrigin(
    StringRef label, ArrayRef<std::pair<StringRef, StringRef>> keys) {
  std::map<Origin, std::string> texts;
  for (auto [key, name] : keys) {
    const JobValue *found = take(key);
    if (!found)
      continue;
    std::string &text = texts[found->origin];
    text += (text.empty() ? "" : ", ") + name.str() + " " + found->text();
  }
  bool isFirst = true;
  for (const auto &[origin, text] : texts) {
    add(isFirst ? label : "", text, origin);
    isFirst = false;
  }
}

void StatementTable::addModel() {
  const JobValue *model = take("model");
  if (!model)
    return;
  std::string text = model->text();
  auto number = [&](StringRef key) {
    const JobValue *found = take(key);
    return found ? std::get_if<int64_t>(&found->value) : nullptr;
  };
  const int64_t *all = number("parameters");
  const int64_t *active = number("active_parameters");
  if (all)
    text += ": " + countInWords(*all) + " parameters";
  if (all && active && *active != *all)
    text += ", " + countInWords(*active) + " active";
  add("model", text, model->origin);
  addValue("dimensions", "dimensions");
}

void StatementTable::addSizes() {
  addValue("sequence", "sequence", " token", " tokens");
  addValue("global batch", "global_batch", " sample", " samples");
  addValue("micro-batch", "micro_batch", " sample", " samples");
  addValue("accumulation", "accumulation", " micro-batch", " micro-batches");
  addValue("precision", "precision");
  addValue("optimizer", "optimizer");
}

void StatementTable::addDegrees() {
  addValue("mesh", "mesh");
  addByOrigin("degrees", {{"dp", "dp"},
                          {"tp", "tp"},
                          {"pp", "pp"},
                          {"vpp", "vpp"},
                          {"cp", "cp"},
                          {"ep", "ep"},
                          {"etp", "etp"},
                          {"sequence_parallel", "sp"}});
}

void StatementTable::addDecisions() {
  addValue("ZeRO", "zero");
  addValue("recompute", "recompute");
  addValue("schedule", "schedule");
}

void StatementTable::addOthers() {
  std::vector<std::pair<StringRef, StringRef>> keys;
  for (const JobValue &value : statement.getValues())
    if (value.origin != Origin::Default && !shown.contains(value.key))
      keys.push_back({value.key, value.key});
  addByOrigin("other", keys);
}

void StatementTable::addMachine() {
  addValue("stack", "stack");
  addValue("site", "site");
  addValue("cluster", "cluster");
  const JobValue *used = take("devices");
  const JobValue *all = take("cluster_devices");
  if (used)
    add("devices", used->text() + (all ? " of " + all->text() : std::string()),
        used->origin);
}

void JobStatement::print(raw_ostream &os) const {
  StatementTable table(*this);
  table.addModel();
  table.addSizes();
  table.addDegrees();
  table.addDecisions();
  table.addMachine();
  table.addOthers();
  table.print(os);
}
