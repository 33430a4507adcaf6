//===- Collectives.cpp - constants of collectives per architecture --------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "CollectiveReport.h"
#include "CollectiveSites.h"
#include "Fit.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <functional>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using cost::CollectiveKind;
using machine::CollectiveConstants;

//===----------------------------------------------------------------------===//
// Sets and their tables
//===----------------------------------------------------------------------===//

namespace {
struct TableSpec {
  std::string name;
  std::string cluster; ///< name of a preset, or JSON text
  std::function<Expected<Samples>(const std::string &directory)> read;
};

/// A set of constants, which becomes one file, and the tables it is fitted to.
struct SetSpec {
  StringRef name;
  std::vector<TableSpec> tables;
  std::vector<TableSpec> checks; ///< tables that are predicted, never fitted
  bool inSwitch = false;
  uint32_t channels = 0;
  /// Bandwidth of a channel for messages in bytes per second, used if no table
  /// has groups of several sizes.
  double messageChannel = 15.7e9;
  /// Start of the fit of the share that is moved in addition to the steps. With
  /// switches, about a third of it is visible; without them, nearly nothing.
  double extra = 0.3;
  /// Start of the fit of the bandwidth of a channel for short messages; 0 if no
  /// table has groups of several members, which determine it.
  double lowChannel = 0;
};

/// A set with the samples of its tables.
struct Set {
  SetSpec spec;
  std::vector<std::unique_ptr<Measured>> tables, checks;
  CollectiveConstants constants;
  std::vector<std::string> notes; ///< constants without measurements
  std::vector<SizeErrors> unseen; ///< errors on machines that were not fitted
  bool leftOut = false; ///< true: `unseen` are errors of whole tables, not of
                        ///< octaves of one

  std::vector<Measured *> with(Block block, const Measured *except = nullptr) {
    std::vector<Measured *> chosen;
    for (const auto &table : tables)
      if (table.get() != except && !samplesOf(*table, block).empty())
        chosen.push_back(table.get());
    return chosen;
  }
};
} // namespace

static TableSpec vtrain(StringRef name, StringRef cluster, std::string file) {
  return {name.str(), cluster.str(),
          [=](const std::string &dir) { return readVTrain(dir + file); }};
}

static TableSpec vidur(StringRef name, StringRef cluster, std::string system,
                       int64_t fewest = 2) {
  return {name.str(), cluster.str(), [=](const std::string &dir) {
            return readVidur(dir + "vidur_network_times.csv", system, fewest);
          }};
}

static TableSpec openxla(StringRef name, StringRef cluster, std::string gpu) {
  return {name.str(), cluster.str(), [=](const std::string &dir) {
            return readOpenXLA(dir + "openxla_collective_perf_table.csv", gpu);
          }};
}

static TableSpec book(StringRef name, StringRef cluster, std::string gpu) {
  return {name.str(), cluster.str(), [=](const std::string &dir) {
            return readBook(dir + "ml_engineering_collective_busbw.csv", gpu,
                            /*nodes=*/1);
          }};
}

/// Returns a cluster of four devices whose ring passes through PCIe.
static std::string pcieMachine(StringRef device, int generation) {
  return formatv(R"({{"name": "pcie", "device": "{0}", "nodes": 1, "node": {{
      "devices": 4, "pcie": {{"generation": {1},
        "cpus": [{{"vendor": "amd", "devices": [0, 1, 2, 3]}]}}})",
                 device, generation);
}

/// Returns a cluster of eight devices, each linked to every other.
static std::string meshMachine() {
  std::string pairs;
  for (int a = 0; a < 8; ++a)
    for (int b = a + 1; b < 8; ++b)
      pairs += formatv("{0}[{1}, {2}, 1]", pairs.empty() ? "" : ", ", a, b);
  return formatv(R"({{"name": "mesh", "device": {{"name": "MI350",
      "architecture": "cdna", "peak_tflops": {{"f32": 157},
      "memory_gb": 288, "memory_bandwidth_gbps": 8000}, "nodes": 1, "node": {{
      "devices": 8, "nvlink": {{"link_gbps": 64, "pairs": [{0}]}}})",
                 pairs);
}

static std::vector<SetSpec> allSets() {
  return {
      {"volta-nvlink",
       {vtrain("vTrain V100", "dgx1-v100", "vtrain_allreduce_v100.csv")},
       {},
       false,
       24,
       15.7e9,
       0.05},
      {"ampere-nvlink",
       {vtrain("vTrain A100", "dgx-a100", "vtrain_allreduce_a100.csv"),
        vidur("Vidur A100", "dgx-a100", "a100_dgx"),
        book("ML Engineering A100", "dgx-a100", "A100")},
       {},
       false,
       24},
      {"hopper-nvlink",
       {openxla("OpenXLA H100", "dgx-h100", "sm_90"),
        vidur("Vidur H100", "dgx-h100", "h100_dgx"),
        book("ML Engineering H200", "dgx-h200", "H200")},
       {},
       true,
       24,
       15.7e9,
       0.3,
       5e9},
      {"blackwell-nvlink",
       {openxla("OpenXLA B200", "dgx-b200", "sm_100_B200"),
        book("ML Engineering B200", "dgx-b200", "B200")},
       {},
       true,
       32,
       15.7e9,
       0.3,
       5e9},
      {"blackwell-nvl72",
       {openxla("OpenXLA GB200", "gb200-nvl72", "sm_100_GB200")},
       {openxla("OpenXLA GB300", "gb200-nvl72", "sm_103")},
       true,
       32,
       15.7e9,
       0.3,
       5e9},
      {"cdna",
       {openxla("OpenXLA MI350", meshMachine(), "gfx950")},
       {},
       false,
       32,
       15.7e9,
       0.05},
      {"pcie",
       {vidur("Vidur A100, PCIe 4", pcieMachine("A100-PCIe-80GB", 4),
              "a100_pairwise_nvlink", 4),
        vidur("Vidur H100, PCIe 5", pcieMachine("H100-PCIe-80GB", 5),
              "h100_pairwise_nvlink", 4)},
       {},
       false,
       2,
       12e9,
       0.05},
      // Not fitted: the constants are those of NCCL's tuner.
      {"other-nvlink",
       {},
       {vtrain("vTrain A100", "dgx-a100", "vtrain_allreduce_a100.csv"),
        vidur("Vidur A100", "dgx-a100", "a100_dgx"),
        openxla("OpenXLA H100", "dgx-h100", "sm_90"),
        openxla("OpenXLA B200", "dgx-b200", "sm_100_B200")},
       false,
       2,
       12e9},
  };
}

/// Returns the constants by which the tuner of NCCL 2.30 ranks rings over
/// NVLink.
static CollectiveConstants tunerConstants() {
  CollectiveConstants c;
  c.allReduce.lowBase = 6.6e-6, c.allReduce.lowHop = 0.6e-6;
  c.allReduce.simpleBase = 8.4e-6, c.allReduce.simpleHop = 3.4e-6;
  c.allGather = c.reduceScatter = c.allReduce;
  c.exchangeBase = c.messageBase = 8.4e-6;
  c.exchangeHop = 0.486e-6; // The hops of an exchange in a group of eight take
                            // as long as those of a ring.
  return c;
}

static Expected<machine::Cluster> clusterOf(StringRef text) {
  if (text.starts_with("{"))
    return machine::parseClusterJSON(text, "machine of a table");
  return machine::parseClusterPreset(text);
}

static Expected<std::unique_ptr<Measured>>
readTable(const TableSpec &spec, const std::string &directory,
          const CollectiveConstants &constants) {
  Expected<machine::Cluster> cluster = clusterOf(spec.cluster);
  if (!cluster)
    return cluster.takeError();
  // A communicator decides only once whether switches reduce, so the constants
  // must be set before it is created.
  cluster->kinds[0].collectives = constants;
  Expected<Samples> samples = spec.read(directory);
  if (!samples)
    return samples.takeError();
  return Measured::create(spec.name, std::move(*cluster), std::move(*samples));
}

static Expected<Set> readSet(const SetSpec &spec,
                             const std::string &directory) {
  Set set;
  set.spec = spec;
  set.constants =
      spec.tables.empty() ? tunerConstants() : typicalConstants(spec.inSwitch);
  if (!spec.tables.empty())
    for (auto *ring : {&set.constants.allReduce, &set.constants.allGather,
                       &set.constants.reduceScatter})
      ring->extra = spec.extra;
  set.constants.channels = spec.channels;
  set.constants.messageChannel = spec.messageChannel;
  set.constants.messageLowChannel = spec.lowChannel;
  if (spec.lowChannel > 0) {
    set.constants.exchangeChannel = spec.messageChannel;
    set.constants.exchangeLowChannel = spec.lowChannel;
  }
  for (auto [specs, tables] : {std::pair(&spec.tables, &set.tables),
                               std::pair(&spec.checks, &set.checks)})
    for (const TableSpec &table : *specs) {
      Expected<std::unique_ptr<Measured>> measured =
          readTable(table, directory, set.constants);
      if (!measured)
        return measured.takeError();
      tables->push_back(std::move(*measured));
    }
  return set;
}

//===----------------------------------------------------------------------===//
// Fits
//===----------------------------------------------------------------------===//

/// Returns true if the tables only have messages of pairs, which do not
/// determine the constants of channels.
static bool isFew(Block block, ArrayRef<Measured *> machines) {
  return block == Block::Message &&
         llvm::none_of(machines, [](const Measured *machine) {
           return llvm::any_of(machine->getSamples(), [](const Sample &s) {
             return s.kind == CollectiveKind::Shift;
           });
         });
}

/// Takes the constants of a block that no table has from a similar block.
static void takeOver(Set &set, Block block) {
  CollectiveConstants &c = set.constants;
  switch (block) {
  case Block::AllReduce:
    return;
  case Block::AllGather:
    c.allGather = c.allReduce;
    return set.notes.push_back("all-gather as all-reduce");
  case Block::ReduceScatter:
    c.reduceScatter = c.allReduce;
    return set.notes.push_back("reduce-scatter as all-reduce");
  case Block::AllToAll:
    c.exchangeBase = c.allGather.simpleBase;
    // Both take equally long in a group of eight, which has (8 - 1)^2 hops
    // here.
    c.exchangeHop = calibrate::rounded(c.allGather.simpleHop / 7 * 1e6) * 1e-6;
    c.exchangeExtra = c.allGather.extra;
    c.exchangeEfficiency = c.allGather.efficiency;
    c.exchangeFill = c.allGather.simpleFill;
    return set.notes.push_back("all-to-all as all-gather");
  case Block::Message:
    return set.notes.push_back("messages, typical figures");
  }
}

static void fitSet(Set &set) {
  if (set.tables.empty())
    return;
  for (Block block : allBlocks) {
    std::vector<Measured *> machines = set.with(block);
    if (machines.empty())
      takeOver(set, block);
    else
      set.constants = fitBlock(
          block, set.constants, machines, [](const Sample &) { return true; },
          isFew(block, machines));
  }
}

static StringRef nameOf(Block block) {
  switch (block) {
  case Block::AllReduce:
    return "all-reduce";
  case Block::AllGather:
    return "all-gather";
  case Block::ReduceScatter:
    return "reduce-scatter";
  case Block::AllToAll:
    return "all-to-all";
  case Block::Message:
    return "messages";
  }
  llvm_unreachable("unknown block");
}

static void printHeader() {
  outs()
      << "Errors in percent below 1 MiB / from 1 MiB / from 16 MiB. Targets on "
         "a fitted machine, octaves unseen: 30/10/5.\n"
      << formatv("{0,-20} {1,-14} {2,5} {3,7}  {4,-14}  {5,-14}  {6,-14}  "
                 "{7,-14}  {8,-14}  {9}\n",
                 "table", "collective", "rows", "scatter", "fitted",
                 "octaves unseen", "groups unseen", "defaults", "table unseen",
                 "missed");
}

static void printRow(StringRef table, Block block, const Samples &samples,
                     const Judgement &own, const SizeErrors &defaults,
                     const SizeErrors &left) {
  double scatter = scatterOf(samples);
  outs() << formatv(
      "{0,-20} {1,-14} {2,5} {3,7}  {4,-14}  {5,-14}  {6,-14}  {7,-14}  "
      "{8,-14}  {9}\n",
      table, nameOf(block), samples.size(),
      scatter < 0 ? "-" : formatv("{0:f1}", 100 * scatter).str(),
      inPercent(own.fit), inPercent(own.octaves), inPercent(own.groups),
      inPercent(defaults), inPercent(left), missed(own.octaves));
  outs().flush();
}

/// Judges a block of constants on a table: fitted to the table alone, the
/// defaults, and defaults fitted to the other tables.
static void judgeTable(Set &set, Measured &table, Block block) {
  std::vector<Measured *> machines = set.with(block);
  bool few = isFew(block, {&table});
  Judgement own = judge(table, block, set.constants, few);
  SizeErrors defaults = errorsWith(table, block, set.constants), left;
  std::vector<Measured *> others = set.with(block, &table);
  if (!others.empty()) {
    left = errorsWith(table, block,
                      fitBlock(
                          block, set.constants, others,
                          [](const Sample &) { return true; },
                          isFew(block, others)));
    set.leftOut = true;
  }
  if (block != Block::AllToAll && block != Block::Message)
    set.unseen.push_back(others.empty() ? own.octaves : left);
  printRow(table.getName(), block, samplesOf(table, block), own, defaults,
           left);
}

static void judgeSet(Set &set) {
  for (const auto &table : set.tables)
    for (Block block : allBlocks)
      if (!samplesOf(*table, block).empty())
        judgeTable(set, *table, block);
  for (const auto &table : set.checks)
    for (Block block : allBlocks) {
      Samples samples = samplesOf(*table, block);
      if (samples.empty())
        continue;
      SizeErrors errors = errorsWith(*table, block, set.constants);
      if (block != Block::AllToAll && block != Block::Message)
        set.unseen.push_back(errors);
      printRow(table->getName(), block, samples, {}, errors, {});
    }
}

/// Returns the mean of a size over tables and collectives; negative if none has
/// such sizes.
static double meanOf(ArrayRef<SizeErrors> errors, double SizeErrors::*size) {
  double sum = 0, count = 0;
  for (const SizeErrors &error : errors)
    if (error.*size >= 0) {
      sum += error.*size;
      ++count;
    }
  return count > 0 ? sum / count : -1;
}

/// Sets the errors of the constants. Sizes that no table of a set has get the
/// error of the worst fitted set.
static void setErrors(MutableArrayRef<Set> sets) {
  double SizeErrors::*sizes[] = {&SizeErrors::small, &SizeErrors::medium,
                                 &SizeErrors::large};
  for (unsigned i = 0; i < 3; ++i) {
    double worst = 0;
    for (Set &set : sets)
      if (!set.tables.empty())
        worst = std::max(worst, meanOf(set.unseen, sizes[i]));
    for (Set &set : sets) {
      double mean = meanOf(set.unseen, sizes[i]);
      set.constants.relativeError[i] =
          calibrate::rounded(mean < 0 ? worst : mean, 2);
    }
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string sourceOf(const Set &set) {
  std::vector<std::string> names;
  for (const auto &table : set.tables)
    names.push_back(table->getName());
  if (names.empty())
    return "NCCL 2.30, tuning.cc: base and hops of rings over NVLink, by which "
           "the tuner ranks algorithms; not fitted; relative_error: measured "
           "on A100, H100 and B200 by 'scripts/calibrate DIR collectives'";
  std::string text = "fitted by 'scripts/calibrate DIR collectives' to " +
                     llvm::join(names, "; ") +
                     " (docs/collectives.md has the sources and errors)";
  if (!set.notes.empty())
    text += "; not measured: " + llvm::join(set.notes, ", ");
  text += "; network: NCCL 2.30, tuning.cc; relative_error: ";
  text += set.leftOut ? "each table predicted by a fit to the others"
                      : "octaves of sizes predicted by a fit to the others";
  return text;
}

static Error writeSet(const Set &set, StringRef output) {
  SmallString<128> path(output);
  sys::path::append(path, "communication");
  if (std::error_code error = sys::fs::create_directories(path))
    return createStringError("can't make " + path + ": " + error.message());
  sys::path::append(path, set.spec.name + ".json");
  return writeFileAtomically(path, [&](raw_ostream &os) {
    machine::printConstants(set.constants, sourceOf(set), os);
    return Error::success();
  });
}

Error proteus::calibrate::calibrateCollectives(StringRef tables,
                                               StringRef output) {
  std::string directory = (tables + "/comm/").str();
  std::vector<Set> sets;
  for (const SetSpec &spec : allSets()) {
    Expected<Set> set = readSet(spec, directory);
    if (!set)
      return set.takeError();
    sets.push_back(std::move(*set));
  }
  printHeader();
  for (Set &set : sets) {
    fitSet(set);
    judgeSet(set);
  }
  setErrors(sets);
  auto constantsOf = [&](StringRef name) -> const CollectiveConstants & {
    return llvm::find_if(sets,
                         [&](const Set &set) { return set.spec.name == name; })
        ->constants;
  };
  if (Error error = judgeSites(constantsOf("hopper-nvlink"),
                               constantsOf("blackwell-nvlink"), directory))
    return error;
  for (const Set &set : sets)
    if (Error error = writeSet(set, output))
      return error;
  return Error::success();
}
