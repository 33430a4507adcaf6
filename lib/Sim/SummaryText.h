//===- SummaryText.h - texts that summaries share ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_SUMMARYTEXT_H
#define PROTEUS_LIB_SIM_SUMMARYTEXT_H

#include "Proteus/Sim/Simulation.h"
#include "Proteus/Support/JSON.h"
#include "Proteus/Support/Table.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace proteus::sim {

/// Formats bytes in units of 1e9 bytes.
std::string gigabytes(int64_t bytes, int digits = 2);
/// Formats bytes in units of 2^30 bytes.
std::string gibibytes(int64_t bytes, int digits = 2);
/// Returns two sizes in both units: "5.5 of 85.9 GB (5.2 of 80.0 GiB)". `word`
/// is between the sizes.
std::string inBothUnits(int64_t first, llvm::StringRef word, int64_t second);

/// Returns "fits (22.9 of 85.9 GB)" or "does not fit (101.2 of 85.9 GB)".
std::string fitText(const MemoryVerdict &verdict);

/// Adds a row for every class to `table`: its name, its number of ranks, and
/// the texts that `rowOf` returns for it. Neighbouring classes with the same
/// texts share a row.
void addClassRows(const Workload &workload,
                  llvm::function_ref<std::vector<std::string>(size_t)> rowOf,
                  Table &table);

/// Prints the interval of the memory, whether the job fits and, if it does not
/// fit, why and what would help.
void printVerdict(llvm::raw_ostream &os, const Workload &workload,
                  const SimulationResult &result, const MemoryVerdict &verdict);
/// Writes the verdict as an object.
void writeVerdict(json::Writer &json, const Workload &workload,
                  const SimulationResult &result, const MemoryVerdict &verdict);
/// Writes the member `memory_by_owner_bytes`.
void writeOwners(json::Writer &json, const BytesByOwner &bytes);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_SUMMARYTEXT_H
