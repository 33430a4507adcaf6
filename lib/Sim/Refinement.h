//===- Refinement.h - the coarsest equitable partition ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refines a partition of the vertices of a graph until it is equitable
// (Folding.h). The method is known as colour refinement.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_REFINEMENT_H
#define PROTEUS_LIB_SIM_REFINEMENT_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace proteus::sim {

/// A weighted edge. `label` is the role of the edge. Only weights of edges with
/// the same label are added.
struct RefinementEdge {
  uint32_t from = 0, to = 0, label = 0;
  int64_t weight = 0;
};

/// Refines a partition of the vertices. `colours` holds the initial class of
/// each vertex. Splits classes until all vertices of a class have equal totals:
/// for every label L and every class C, their edges with label L to vertices of
/// C have the same total weight. Returns the resulting class of each vertex.
/// Classes are numbered in the order of their first vertices.
std::vector<uint32_t> refine(std::vector<uint32_t> colours,
                             llvm::ArrayRef<RefinementEdge> edges);

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_REFINEMENT_H
