//===- Move.h - a tensor from one mesh to another ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps change a layout on one mesh. Between meshes, or other devices, blocks
// are sent from device to device. A move says who sends which region to whom.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_MOVE_H
#define PROTEUS_DIALECT_DIST_MOVE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include <vector>

namespace proteus::dist {

/// A box of elements.
struct Region {
  llvm::SmallVector<int64_t> offset;
  llvm::SmallVector<int64_t> sizes;

  int64_t getNumElements() const;
  bool operator==(const Region &other) const {
    return offset == other.offset && sizes == other.sizes;
  }
};

/// One region that a device of the target needs. `source` is `destination`
/// where the device holds it already.
struct MovePiece {
  int64_t source;
  int64_t destination;
  Region region;
};

/// The links of a device: how many devices share a node, and the time in
/// picoseconds that one element takes within a node and between nodes.
struct MoveLinks {
  int64_t devicesPerNode = 8;
  int64_t inNode = 1;
  int64_t betweenNodes = 1;
};

struct Move {
  /// By destination, then by region.
  std::vector<MovePiece> pieces;
  /// The time of the link that is busy longest; each device has one link into
  /// its node and one out of it.
  int64_t time = 0;
};

/// Who sends what so that a tensor of `shape`, which lies on `fromMesh` as
/// `from`, lies on `toMesh` as `to`. No element that a device holds is sent to
/// it; every other one that it needs is sent once. Among the replicas that can
/// send an element the load is shared such that the busiest sending link
/// finishes as early as is possible at all. Within that, a replica in the node
/// of the destination is asked first. What a device receives is given by what
/// it needs. Fails with a reason if a layout is partial or uses the time axis.
///
/// Replicas that share an axis of the target need not get everything each: move
/// to a layout in which the axis shards a dimension, and let an all-gather
/// distribute the rest; every element then arrives once per group.
llvm::FailureOr<Move> planMove(const Mesh &fromMesh, const Layout &from,
                               const Mesh &toMesh, const Layout &to,
                               llvm::ArrayRef<int64_t> shape,
                               const MoveLinks &links, std::string &reason);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_MOVE_H
