//===- Refinement.h - the coarsest equitable partition ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_REFINEMENT_H
#define PROTEUS_LIB_SIM_REFINEMENT_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::sim {

/// `from` sees `weight` of `to`, in the role `label`.
struct RefinementEdge {
  uint32_t from = 0, to = 0, label = 0;
  int64_t weight = 0;
};

/// Splits the classes of `colours` until all vertices of a class see the same
/// weight of every class in every role. Classes are numbered by their first
/// vertex.
std::vector<uint32_t> refine(std::vector<uint32_t> colours,
                             llvm::ArrayRef<RefinementEdge> edges);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_REFINEMENT_H
