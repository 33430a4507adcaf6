//===- CollectiveTables.cpp - published times of collectives --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveTables.h"

#include "Proteus/Support/CSV.h"
#include "Proteus/Support/File.h"

#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using cost::CollectiveKind;

StringRef proteus::calibrate::nameOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all-reduce";
  case CollectiveKind::AllGather:
    return "all-gather";
  case CollectiveKind::ReduceScatter:
    return "reduce-scatter";
  case CollectiveKind::AllToAll:
    return "all-to-all";
  case CollectiveKind::SendRecv:
    return "send";
  case CollectiveKind::Shift:
    return "shift";
  default:
    llvm_unreachable("no table has this collective");
  }
}

static std::optional<CollectiveKind> kindOf(StringRef name) {
  std::string plain = name.str();
  std::replace(plain.begin(), plain.end(), '_', '-');
  if (plain == "collective-permute")
    return CollectiveKind::Shift;
  if (plain == "send-recv" || plain == "sendrecv")
    return CollectiveKind::SendRecv;
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter, CollectiveKind::AllToAll})
    if (plain == calibrate::nameOf(kind))
      return kind;
  return std::nullopt;
}

namespace {
/// Fields of a row by the names of their columns.
class Row {
public:
  Row(ArrayRef<size_t> columns, ArrayRef<std::string> fields)
      : columns(columns), fields(fields) {}
  StringRef text(size_t i) const {
    return columns[i] < fields.size() ? StringRef(fields[columns[i]]) : "";
  }
  double number(size_t i) const { return numberOf(text(i)); }

private:
  ArrayRef<size_t> columns;
  ArrayRef<std::string> fields;
};
} // namespace

/// Calls `add` with every row after the header. `add` returns nullopt for rows
/// of other machines and fails for invalid rows.
static Expected<Samples>
readTable(StringRef path, ArrayRef<StringRef> names,
          function_ref<Expected<std::optional<Sample>>(const Row &)> add) {
  Expected<CSV> csv = CSV::read(path);
  if (!csv)
    return csv.takeError();
  std::vector<size_t> columns;
  for (StringRef name : names) {
    Expected<size_t> column = csv->column(name);
    if (!column)
      return createStringError(path + ": " + toString(column.takeError()));
    columns.push_back(*column);
  }
  Samples samples;
  for (size_t i = 1; i < csv->size(); ++i) {
    Expected<std::optional<Sample>> sample = add(Row(columns, csv->row(i)));
    if (!sample)
      return createStringError(path + ":" + Twine(i + 1) + ": " +
                               toString(sample.takeError()));
    if (!*sample)
      continue;
    const Sample &s = **sample;
    if (!(s.seconds > 0) || !std::isfinite(s.seconds) || s.bytes < 1 ||
        s.ranks < 2 || s.nodes < 1 || s.ranks % s.nodes != 0)
      return createStringError(path + ":" + Twine(i + 1) +
                               ": expected positive sizes and times, and "
                               "devices evenly on nodes");
    samples.push_back(s);
  }
  if (samples.empty())
    return createStringError(path + ": no rows of the wanted machine");
  return samples;
}

/// Returns the nearest whole number, or -1 if the value is out of range.
static int64_t whole(double value) {
  return value >= 0 && value < 9e15 ? std::llround(value) : -1;
}

Expected<Samples> proteus::calibrate::readVTrain(StringRef path) {
  return readTable(path, {"gpus", "size_bytes", "time_us_oop"},
                   [](const Row &row) -> Expected<std::optional<Sample>> {
                     return Sample{CollectiveKind::AllReduce,
                                   whole(row.number(0)), 1,
                                   whole(row.number(1)), row.number(2) * 1e-6};
                   });
}

Expected<Samples> proteus::calibrate::readVidur(StringRef path,
                                                StringRef system,
                                                int64_t fewest) {
  return readTable(path,
                   {"system", "collective", "num_workers", "devices_per_node",
                    "size_raw", "time_ms_median"},
                   [&](const Row &row) -> Expected<std::optional<Sample>> {
                     std::optional<CollectiveKind> kind = kindOf(row.text(1));
                     // Rows with several nodes are left out: these systems have
                     // slow networks.
                     if (row.text(0) != system || !kind ||
                         row.text(2) != row.text(3) || row.number(2) < fewest)
                       return std::nullopt;
                     return Sample{*kind, whole(row.number(2)), 1,
                                   whole(row.number(4)), row.number(5) * 1e-3};
                   });
}

Expected<Samples> proteus::calibrate::readOpenXLA(StringRef path,
                                                  StringRef gpu) {
  return readTable(path,
                   {"gpu", "op", "dtype", "result_dims", "devices_per_group",
                    "throughput_GBps"},
                   [&](const Row &row) -> Expected<std::optional<Sample>> {
                     std::optional<CollectiveKind> kind = kindOf(row.text(1));
                     if (row.text(0) != gpu || !kind)
                       return std::nullopt;
                     double bytes =
                         row.number(3) * (row.text(2) == "BF16" ? 2 : 4);
                     int64_t ranks = whole(row.number(4));
                     // Permutations run over all devices. The size
                     // distinguishes the two allocations of a rack.
                     if (*kind == CollectiveKind::Shift)
                       ranks = !gpu.starts_with("sm_100_GB") && gpu != "sm_103"
                                   ? 8
                               : whole(bytes) % 9 == 0 ? 72
                                                       : 64;
                     // The table has the size of the result. The result of a
                     // reduce-scatter is one shard of its input.
                     if (*kind == CollectiveKind::ReduceScatter)
                       bytes *= static_cast<double>(ranks);
                     return Sample{*kind, ranks, 1, whole(bytes),
                                   bytes / (row.number(5) * 1e9)};
                   });
}

/// Returns the bytes of a size such as "32KiB" or "65536B".
static double bytesOf(StringRef text) {
  for (auto [unit, factor] : {std::pair<StringRef, double>{"KiB", 1 << 10},
                              {"MiB", 1 << 20},
                              {"GiB", 1 << 30},
                              {"B", 1}})
    if (text.consume_back(unit))
      return numberOf(text) * factor;
  return numberOf(text);
}

Expected<Samples> proteus::calibrate::readBook(StringRef path, StringRef gpu,
                                               int64_t nodes) {
  return readTable(
      path,
      {"gpu", "nodes", "gpus", "collective", "payload", "busbw_GBps", "note"},
      [&](const Row &row) -> Expected<std::optional<Sample>> {
        std::optional<CollectiveKind> kind = kindOf(row.text(3));
        if (!row.text(0).starts_with(gpu) || row.number(1) != nodes || !kind ||
            row.text(6).contains("off") || row.number(5) < 0.1)
          return std::nullopt;
        double bytes = bytesOf(row.text(4)), ranks = row.number(2);
        double rounds = *kind == CollectiveKind::AllReduce ? 2 : 1;
        return Sample{*kind, whole(ranks), nodes, whole(bytes),
                      bytes * rounds * (ranks - 1) / ranks /
                          (row.number(5) * 1e9)};
      });
}

Expected<Samples> proteus::calibrate::readUltraScale(StringRef path) {
  Expected<std::string> text = readInput(path);
  if (!text)
    return text.takeError();
  Expected<json::Document> document = json::Document::parse(*text, path);
  if (!document)
    return document.takeError();
  Samples samples;
  for (auto [key, kind] :
       {std::pair("AllReduce", CollectiveKind::AllReduce),
        std::pair("AllGather", CollectiveKind::AllGather),
        std::pair("ReduceScatter", CollectiveKind::ReduceScatter)}) {
    double rounds = kind == CollectiveKind::AllReduce ? 2 : 1;
    int64_t nodes = 1;
    for (const json::Reader &value : document->root()[key].elements()) {
      double ranks = static_cast<double>(8 * nodes);
      Sample sample = {kind, 8 * nodes, nodes, 256 << 20, 0};
      sample.seconds = static_cast<double>(sample.bytes) * rounds *
                       (ranks - 1) / ranks / (value.positive(1e6) * 1e9);
      if (nodes > 1)
        samples.push_back(sample);
      nodes *= 2;
    }
  }
  if (Error error = document->takeError())
    return error;
  return samples;
}

Expected<Samples> proteus::calibrate::readRows(StringRef path) {
  Expected<CSV> csv = CSV::read(path);
  if (!csv)
    return csv.takeError();
  SmallVector<StringRef> names = {"collective", "gpus", "size_bytes",
                                  "time_us"};
  Expected<size_t> nodes = csv->column("nodes");
  bool hasNodes = static_cast<bool>(nodes);
  if (hasNodes)
    names.push_back("nodes");
  else
    consumeError(nodes.takeError());
  return readTable(
      path, names, [&](const Row &row) -> Expected<std::optional<Sample>> {
        std::optional<CollectiveKind> kind = kindOf(row.text(0));
        if (!kind)
          return createStringError(
              "unknown collective '" + row.text(0) +
              "'; known are all_reduce, all_gather, reduce_scatter, "
              "all_to_all, send_recv");
        return Sample{*kind, whole(row.number(1)),
                      hasNodes ? whole(row.number(4)) : 1, whole(row.number(2)),
                      row.number(3) * 1e-6};
      });
}
