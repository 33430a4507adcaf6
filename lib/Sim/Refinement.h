//===- Refinement.h - the coarsest equitable partition ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Colour refinement of a graph, for Folding.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_REFINEMENT_H
#define PROTEUS_LIB_SIM_REFINEMENT_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::sim {

/// A weighted edge. `label` is its role: edges of different roles are counted
/// separately.
struct RefinementEdge {
  uint32_t from = 0, to = 0, label = 0;
  int64_t weight = 0;
};

/// Splits the classes in `colours` until, for every role and every class, all
/// vertices of a class have the same total weight of edges to it. Returns the
/// class of every vertex. Classes are numbered in the order of their first
/// vertices.
std::vector<uint32_t> refine(std::vector<uint32_t> colours,
                             llvm::ArrayRef<RefinementEdge> edges);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_REFINEMENT_H
