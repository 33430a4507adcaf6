//===- KernelTables.h - tables of measured kernels --------------*- C++ -*-===//
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

/// Key of the groups that cross-validation leaves out as a whole.
enum class Grouping {
  Columns, ///< columns and inner size of a product: the layers of a model
  Sizes,   ///< three sizes of a product in any order: a layer and its gradients
  Square,  ///< inner size and {rows, columns} of a product
  Rows,    ///< rows and inner size of a product
  Attention, ///< heads, head sizes and length
  Model,     ///< model
  Image,     ///< sizes of a convolution without batch and pass
};

/// Measured kernels of one source.
struct KernelTable {
  std::string name; ///< "vidur", "simumax"
  cost::Measurements rows;
  Grouping grouping = Grouping::Columns;
  unsigned folds = 4;
  double target = 0;    ///< upper bound for the cross-validated error
  double sumTarget = 0; ///< the same for the error of the sum of all times
  /// True if short kernels ran faster than kernels that keep the device busy.
  bool isBursty = false;

  /// Returns a table with the rows for which `keep` holds.
  KernelTable
  filtered(llvm::function_ref<bool(const cost::Measurement &)> keep) const;
  /// Returns the number of the group for each row.
  std::vector<unsigned> groups() const;
  std::vector<double> seconds() const;
};

/// All tables of measured kernels.
struct KernelTables {
  KernelTable vidur;       ///< products, of several devices
  KernelTable vidurMemory; ///< memory-bound kernels, of several devices
  KernelTable simumaxA100, simumaxB200;
  KernelTable openxla;
  /// Returns the sheet of DeepBench with this file name.
  KernelTable deepbench(llvm::StringRef file) const;

  /// Highest rate of products measured on an accelerator, in TFLOP/s.
  struct BestRate {
    std::string precision, accelerator;
    double teraflops;
  };
  std::vector<BestRate> bestRates;

  /// Reads the tables in `directory`/op.
  static llvm::Expected<KernelTables> read(llvm::StringRef directory);

private:
  std::vector<std::pair<std::string, KernelTable>> sheets;
};

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_KERNELTABLES_H
