//===- ScaledCluster.h - cluster files with other rates ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_SCALEDCLUSTER_H
#define PROTEUS_TOOLS_JOBFUZZ_SCALEDCLUSTER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace proteus {
namespace fuzz {

/// Writes the file of a preset cluster with `nodes` nodes into `directory` and
/// returns its path. If `rate` is not empty, the rates of that kind are
/// multiplied by `factor`: "compute" and "memory" of the devices, "nvlink",
/// "pcie", "network" and "host", or "links" for all four kinds of links.
/// The two links of planning keep their rates, so that the lowering chooses the
/// same collectives. Returns an empty path if the cluster has no such rate.
llvm::Expected<std::string> writeCluster(llvm::StringRef preset, int64_t nodes,
                                         llvm::StringRef rate, double factor,
                                         llvm::StringRef directory);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_SCALEDCLUSTER_H
