//===- FlatOrder.h - order of communication in a flat program ---*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that move the communication of a flat program to the positions at
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

/// Orders the last section of `list`, and inserts a task that waits after every
/// task that blocks. Returns the new index of every task of the section.
///
/// With `byLayer`, the order of communication depends on the kernels and the
/// data flow only. It is then the same for layers in a repeat and for layers
/// that are written out:
///
/// - A receive moves before the layer that reads its message, and thus before
///   the recomputation of that layer.
/// - A value of an earlier layer, or of a message, is converted at the start of
///   the layer that reads it. A value of another section that is converted
///   before all layers is converted directly before the first kernel that reads
///   it, and so is a value that a repeat within a layer reads from outside.
///   Conversions at one place have the order of their readers.
///   A value from outside of a layer that is converted only to be saved is
///   converted at the start of the layer.
/// - A received value is offloaded before the layer that reads it. The results
/// of
///   one kernel are offloaded in their order.
/// - Frameworks that shard gradients reduce them layer by layer. Reductions of
///   sharded gradients therefore move to the end of the backward pass of their
///   layer, in the order in which the gradients are computed. All reductions
///   that move to the end of one layer then wait until the last of their
///   gradients is computed. The first kernel that follows them waits for the
///   reductions of the layer that is `reductions` - 1 such layers earlier, so
///   that no more than `reductions` layers have unreduced gradients.
std::vector<uint32_t> orderSection(FlatList &list, bool byLayer,
                                   int64_t reductions);

/// Tasks that reduce buckets, each with the index of the task of
/// FlatProgram::micro after which it is inserted.
using BucketTasks = std::vector<std::pair<uint32_t, FlatTask>>;

/// Inserts every bucket task into FlatProgram::micro, and renumbers the tasks
/// in all dependencies.
void placeBuckets(FlatProgram &flat, BucketTasks bucketTasks);

/// Moves every gather or fetch of a parameter to its prefetch point, which is
/// `proteus.prefetch` layers before the layer that reads the parameter. Example
/// for a prefetch of 1: the parameters of layer 5 are gathered while layer 4
/// runs, so their gathers wait for the last kernel of layer 3. Consecutive
/// kernels outside of layers count as one layer.
void placePrefetches(FlatProgram &flat);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_SIMULATE_FLATORDER_H
