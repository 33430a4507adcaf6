//===- MemoryReport.cpp - the memory of every stage -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/MemoryReport.h"

#include "SummaryText.h"

#include "Proteus/Sim/Summary.h"
#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Printable.h"
#include "Proteus/Support/Table.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

/// Returns a short label of a column of the table of stages.
static StringRef labelOf(MemoryOwner owner) {
  switch (owner) {
  case MemoryOwner::Parameters:
    return "params";
  case MemoryOwner::Gradients:
    return "grads";
  case MemoryOwner::OptimizerState:
    return "states";
  case MemoryOwner::MasterWeights:
    return "master";
  case MemoryOwner::Activations:
    return "activ.";
  case MemoryOwner::Temporaries:
    return "temp.";
  case MemoryOwner::Communication:
    return "gather";
  case MemoryOwner::GradientBuckets:
    return "bucket";
  }
  llvm_unreachable("unknown memory owner");
}

/// Returns the memory that a class needs: reserved by the allocator, taken by
/// the framework and by the communication library.
static int64_t neededBy(const ClassResult &own) {
  return own.budget.frameworkReserve + own.budget.communicationLibrary +
         own.allocator.reserved;
}

static void printStages(raw_ostream &os, const Workload &workload,
                        const SimulationResult &result) {
  std::vector<MemoryOwner> owners;
  for (unsigned o = 0; o < numMemoryOwners; ++o)
    if (any_of(result.classes,
               [&](const ClassResult &own) { return own.memory.byOwner[o]; }))
      owners.push_back(static_cast<MemoryOwner>(o));
  std::vector<StringRef> labels = {"stage", "ranks"};
  for (MemoryOwner owner : owners)
    labels.push_back(labelOf(owner));
  append_range(labels,
               ArrayRef<StringRef>{"alloc.", "other", "needed", "fits"});
  Table table(labels);
  auto rowOf = [&](size_t c) {
    const ClassResult &own = result.classes[c];
    std::vector<std::string> row;
    for (MemoryOwner owner : owners)
      row.push_back(
          gigabytes(own.memory.byOwner[static_cast<unsigned>(owner)]));
    row.push_back(gigabytes(own.allocator.reserved - own.memory.bytes));
    row.push_back(gigabytes(own.budget.frameworkReserve +
                            own.budget.communicationLibrary));
    row.push_back(gigabytes(neededBy(own)));
    row.push_back(neededBy(own) <= own.budget.capacity ? "yes" : "NO");
    return row;
  };
  os << "\nmemory at the peak of each stage (GB)\n";
  addClassRows(workload, rowOf, table);
  table.print(os, summaryWidth);
  os << "  params: parameters; grads: gradients; states: of the optimizer; "
        "master: weights of the\n  optimizer; activ.: activations; temp.: "
        "temporaries; gather: gathered parameters; bucket:\n  of gradients; "
        "alloc.: reserved, not allocated; other: framework, communication "
        "library\n";
}

void proteus::sim::printMemory(raw_ostream &os, const Workload &workload,
                               const SimulationResult &result) {
  MemoryVerdict verdict = verdictOf(workload, result);
  std::string text;
  raw_string_ostream buffer(text);
  buffer << fitText(verdict) << "\n";
  if (!workload.info.statement.empty()) {
    buffer << "\njob\n";
    workload.info.statement.print(buffer);
  }
  printStages(buffer, workload, result);
  printVerdict(buffer, workload, result, verdict);
  os << printable(text, /*keepNewlines=*/true);
}

void proteus::sim::writeMemory(raw_ostream &os, const Workload &workload,
                               const SimulationResult &result) {
  json::Writer json(os);
  json.beginObject();
  json.attribute("schema", "proteus-memory/1");
  json.key("job");
  workload.info.statement.write(json);
  json.key("memory");
  writeVerdict(json, workload, result, verdictOf(workload, result));
  json.key("stages");
  json.beginArray();
  for (size_t c = 0; c < result.classes.size(); ++c) {
    const ClassResult &own = result.classes[c];
    json.beginObject();
    json.attribute("name", workload.classes[c].name);
    json.attribute("stage", static_cast<int64_t>(workload.classes[c].stage));
    json.attribute("ranks", workload.classes[c].ranks);
    json.attribute("capacity_bytes", own.budget.capacity);
    json.attribute("needed_bytes", neededBy(own));
    json.attribute("fits", neededBy(own) <= own.budget.capacity);
    json.attribute("reserved_bytes", own.allocator.reserved);
    json.attribute("peak_memory_bytes", own.memory.bytes);
    json.attribute("peak_label", own.memory.label);
    json.attribute("peak_host_memory_bytes", own.memory.hostBytes);
    writeOwners(json, own.memory.byOwner);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}
