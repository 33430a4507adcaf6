//===- KernelTables.h - measured kernels, table by table --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_KERNELTABLES_H
#define PROTEUS_CALIBRATE_KERNELTABLES_H

#include "Proteus/Cost/Measurements.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus::calibrate {

/// How rows are put into groups that are left out together.
enum class Grouping {
  Columns, ///< products of one (columns, inner): the layers of a model
  Sizes,   ///< of the same three sizes in any order: a layer and its gradients
  Square,  ///< of one inner size and {rows, columns}
  Rows,    ///< of one (rows, inner)
  Attention, ///< of one (heads, sizes, length)
  Model,     ///< of one model
  Image,     ///< convolutions of one layer, whatever the batch and the pass
};

/// Rows of one device and kind.
struct KernelTable {
  std::string name; ///< "vidur", "simumax"
  cost::Measurements rows;
  Grouping grouping = Grouping::Columns;
  unsigned folds = 4;
  double target = 0;    ///< that its cross-validated error should not exceed
  double sumTarget = 0; ///< the same of the sum of all times
  /// Whether short kernels ran faster than those that keep the device busy.
  bool isBursty = false;

  /// The rows for which `keep` holds.
  KernelTable
  filtered(llvm::function_ref<bool(const cost::Measurement &)> keep) const;
  /// A number per row, the same for rows of one group.
  std::vector<unsigned> groups() const;
  std::vector<double> seconds() const;
};

/// All tables.
struct KernelTables {
  KernelTable vidur;       ///< products, of several devices
  KernelTable vidurMemory; ///< memory-bound kernels, of several devices
  KernelTable simumaxA100, simumaxB200;
  KernelTable openxla;
  /// Sheets of DeepBench by the name of the file.
  KernelTable deepbench(llvm::StringRef file) const;

  /// Highest rate of products found on an accelerator, in TFLOP/s.
  struct BestRate {
    std::string precision, accelerator;
    double teraflops;
  };
  std::vector<BestRate> bestRates;

  static llvm::Expected<KernelTables> read(llvm::StringRef directory);

private:
  std::vector<std::pair<std::string, KernelTable>> sheets;
};

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_KERNELTABLES_H
