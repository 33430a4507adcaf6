//===- FlatOrder.h - order of communication in a flat program ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that move the communication of a flat program to the position at
// which frameworks issue it. Used by the flattener.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H
#define PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H

#include "FlatProgram.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace proteus {

/// Reorders the communication of layers in the last section of `list`, whose
/// tasks start at index `begin`. Repeated layers and layers that are written
/// out then have the same order.
///
/// A receive moves before the layer that reads its message, and thus before the
/// recomputation of that layer. Reductions of sharded gradients move to the end
/// of the backward pass of their layer, in the order in which the gradients are
/// computed, because frameworks that shard gradients reduce them layer by
/// layer.
///
/// Returns the new index of every task from `begin` on.
std::vector<uint32_t> placeByLayer(FlatList &list, size_t begin);

/// Tasks of buckets. The number of each is the index in FlatProgram::micro of
/// the task after which the bucket task is inserted.
using BucketTasks = std::vector<std::pair<uint32_t, FlatTask>>;

/// Inserts every bucket task into FlatProgram::micro, and renumbers the tasks
/// in all dependencies.
void placeBuckets(FlatProgram &flat, BucketTasks bucketTasks);

/// Moves the gathers and fetches of parameters to their prefetch point: before
/// the layer that runs `proteus.prefetch` layers ahead of the reader. They
/// start after the last kernel before that layer has ended. Consecutive kernels
/// outside of layers count as one layer.
void placePrefetches(FlatProgram &flat);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H
