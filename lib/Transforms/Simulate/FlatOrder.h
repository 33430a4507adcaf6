//===- FlatOrder.h - order of communication in a flat program ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H

#include "FlatProgram.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace proteus {

/// Puts the communication of layers where it stands whether layers are repeated
/// or written out. A message is received in front of the layer that reads it,
/// before the layer is recomputed. Gradients that are stored in parts are
/// reduced when the backward pass of their layer has ended, in the order in
/// which they were computed: a layer is the unit in which frameworks that shard
/// gradients reduce them. `begin` is where the section begins whose tasks end
/// the list. Returns the new number of every task from there on.
std::vector<uint32_t> placeByLayer(FlatList &list, size_t begin);

/// Tasks that run right behind a task of the micro-list.
using BucketTasks = std::vector<std::pair<uint32_t, FlatTask>>;

/// Inserts the bucket tasks behind their last members and renumbers.
void placeBuckets(FlatProgram &flat, BucketTasks bucketTasks);

/// Puts what gathers or fetches parameters where the strategy says: in front of
/// the layer that runs so many layers before the one that reads them, and not
/// earlier: the last kernel in front of that layer must have ended. What runs
/// between layers counts as a layer.
void placePrefetches(FlatProgram &flat);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H
