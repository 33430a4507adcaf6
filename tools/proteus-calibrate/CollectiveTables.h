//===- CollectiveTables.h - published times of collectives ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sources count bytes and speeds differently. The readers convert all of
// them to the seconds of one collective.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_COLLECTIVETABLES_H
#define PROTEUS_CALIBRATE_COLLECTIVETABLES_H

#include "Proteus/Cost/CostModel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace proteus::calibrate {

/// A measured collective among `ranks` devices, evenly distributed over
/// `nodes`.
struct Sample {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t ranks = 2, nodes = 1;
  int64_t bytes = 0;
  double seconds = 0;
};
using Samples = std::vector<Sample>;

/// Reads vTrain's runs of nccl-tests: all-reduces in a node.
llvm::Expected<Samples> readVTrain(llvm::StringRef path);

/// Reads Vidur's times in one node of `system`: all-reduces among at least
/// `fewest` devices, and messages between two.
llvm::Expected<Samples> readVidur(llvm::StringRef path, llvm::StringRef system,
                                  int64_t fewest);

/// Reads the rows for `gpu` of the table that is part of OpenXLA.
llvm::Expected<Samples> readOpenXLA(llvm::StringRef path, llvm::StringRef gpu);

/// Reads the rows of the Machine Learning Engineering book for machines whose
/// name starts with `gpu`. Leaves out rows with a forced algorithm, and rows
/// whose bandwidth has less than two digits.
llvm::Expected<Samples> readBook(llvm::StringRef path, llvm::StringRef gpu,
                                 int64_t nodes);

/// Reads the mean bus bandwidths of the Ultra-Scale Playbook on 2, 4, ... nodes
/// of eight devices.
llvm::Expected<Samples> readUltraScale(llvm::StringRef path);

/// Reads measurements of a user: columns collective, gpus, size_bytes, time_us
/// and, for several nodes, nodes.
llvm::Expected<Samples> readRows(llvm::StringRef path);

/// Returns the name of a collective, such as "all-reduce".
llvm::StringRef nameOf(cost::CollectiveKind kind);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVETABLES_H
