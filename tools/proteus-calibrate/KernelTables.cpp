//===- KernelTables.cpp - tables of measured kernels ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTables.h"

#include "Proteus/Support/CSV.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using proteus::cost::Convolution;
using proteus::cost::MatrixProduct;
using proteus::cost::Measurement;
using proteus::cost::Measurements;

KernelTable
KernelTable::filtered(function_ref<bool(const Measurement &)> keep) const {
  KernelTable table = *this;
  llvm::erase_if(table.rows,
                 [&](const Measurement &row) { return !keep(row); });
  return table;
}

static std::string groupOf(const Measurement &row, Grouping grouping) {
  switch (grouping) {
  case Grouping::Columns: {
    const MatrixProduct &p = *row.kernel.product;
    return formatv("{0} {1}", p.columns, p.inner);
  }
  case Grouping::Sizes: {
    const MatrixProduct &p = *row.kernel.product;
    double sizes[] = {p.rows, p.columns, p.inner};
    std::sort(std::begin(sizes), std::end(sizes));
    return formatv("{0} {1} {2}", sizes[0], sizes[1], sizes[2]);
  }
  case Grouping::Square: {
    const MatrixProduct &p = *row.kernel.product;
    double rows = p.rows / p.batch;
    return formatv("{0} {1} {2}", p.inner, std::min(rows, p.columns),
                   std::max(rows, p.columns));
  }
  case Grouping::Rows: {
    const MatrixProduct &p = *row.kernel.product;
    return formatv("{0} {1}", p.rows, p.inner);
  }
  case Grouping::Attention: {
    const cost::Attention &a = *row.kernel.attention;
    return formatv("{0} {1} {2} {3}", a.heads, a.keyDim, a.valueDim, a.queries);
  }
  case Grouping::Model:
    return StringRef(row.label).split(' ').first.str();
  case Grouping::Image: {
    const Convolution &c = *row.kernel.convolution;
    return formatv("{0} {1} {2} {3} {4} {5}", c.inChannels, c.outChannels,
                   c.height, c.width, c.kernelHeight, c.stride);
  }
  }
  llvm_unreachable("unknown grouping");
}

std::vector<unsigned> KernelTable::groups() const {
  std::map<std::string, unsigned> numbers;
  std::vector<unsigned> all;
  for (const Measurement &row : rows)
    all.push_back(numbers.try_emplace(groupOf(row, grouping), numbers.size())
                      .first->second);
  return all;
}

std::vector<double> KernelTable::seconds() const {
  std::vector<double> all;
  for (const Measurement &row : rows)
    all.push_back(row.seconds);
  return all;
}

KernelTable KernelTables::deepbench(StringRef file) const {
  for (const auto &[name, table] : sheets)
    if (name == file)
      return table;
  llvm_unreachable("unknown sheet");
}

/// Sheets of devices that have a device file.
static constexpr StringRef sheetFiles[] = {"V100__Results_FP16_ip_Mixed_math",
                                           "V100__Results_FP32",
                                           "T4__Results_FP16_ip_Mixed_math",
                                           "T4__Results_FP32",
                                           "P100__Results_FP32",
                                           "P100__Results_Psuedo_FP16",
                                           "TitanXp__FP32",
                                           "1080Ti__Results_FP32",
                                           "M40__Results_FP32"};

/// Reads `file` with `reader` into `table`.
static Error
readInto(KernelTable &table, StringRef directory, StringRef file,
         function_ref<Expected<Measurements>(StringRef, StringRef)> reader) {
  Expected<std::string> text = readInput((directory + "/op/" + file).str());
  if (!text)
    return text.takeError();
  Expected<Measurements> rows = reader(*text, file);
  if (!rows)
    return rows.takeError();
  table.rows = std::move(*rows);
  return Error::success();
}

/// Reads the highest rates of products from the table of "ML Engineering".
static Expected<std::vector<KernelTables::BestRate>>
readBestRates(StringRef directory) {
  Expected<CSV> csv = CSV::read(
      (directory + "/op/ml_engineering_max_achievable_matmul_tflops.csv")
          .str());
  if (!csv)
    return csv.takeError();
  std::vector<size_t> columns;
  for (StringRef name : {"precision", "accelerator", "measured_tflops"}) {
    Expected<size_t> column = csv->column(name);
    if (!column)
      return column.takeError();
    columns.push_back(*column);
  }
  std::vector<KernelTables::BestRate> rates;
  for (size_t i = 1; i < csv->size(); ++i) {
    ArrayRef<std::string> row = csv->row(i);
    if (row.size() <= *llvm::max_element(columns))
      return csv->errorAt(i, "expected as many values as columns");
    double rate = numberOf(row[columns[2]]);
    if (!(rate > 0))
      return csv->errorAt(i, "expected a positive rate");
    rates.push_back({row[columns[0]], row[columns[1]], rate});
  }
  return rates;
}

Expected<KernelTables> KernelTables::read(StringRef directory) {
  KernelTables all;
  all.vidur = {"vidur", {}, Grouping::Columns};
  all.vidurMemory = {"vidur", {}, Grouping::Model, 8, 0.10};
  all.simumaxA100 = {"simumax", {}, Grouping::Sizes};
  all.simumaxB200 = all.simumaxA100;
  // Efficiency falls from 0.64 to 0.48 for kernels that take longer than 0.5
  // ms.
  all.simumaxB200.isBursty = true;
  all.openxla = {"openxla", {}, Grouping::Square};
  auto memory = [&](StringRef text, StringRef source) {
    return cost::readVidurMemoryKernels(text, source, all.vidur.rows);
  };
  if (Error e = readInto(all.vidur, directory, "vidur_gemm_forward_times.csv",
                         cost::readVidurProducts))
    return std::move(e);
  if (Error e = readInto(all.vidurMemory, directory,
                         "vidur_other_op_times_ms.csv", memory))
    return std::move(e);
  if (Error e = readInto(all.simumaxA100, directory, "simumax_a100_pcie.json",
                         cost::readSimuMax))
    return std::move(e);
  if (Error e = readInto(all.simumaxB200, directory, "simumax_b200_bf16.json",
                         cost::readSimuMax))
    return std::move(e);
  if (Error e = readInto(all.openxla, directory,
                         "openxla_matmul_perf_table.csv", cost::readOpenXLA))
    return std::move(e);
  Expected<std::vector<BestRate>> rates = readBestRates(directory);
  if (!rates)
    return rates.takeError();
  all.bestRates = std::move(*rates);
  for (StringRef file : sheetFiles) {
    KernelTable table{"deepbench", {}, Grouping::Rows};
    if (Error e = readInto(table, directory,
                           ("deepbench/train_" + file + ".csv").str(),
                           cost::readDeepBench))
      return std::move(e);
    all.sheets.emplace_back(file.str(), std::move(table));
  }
  return all;
}
