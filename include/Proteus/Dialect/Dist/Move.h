//===- Move.h - moves of tensors between meshes -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps change a layout on one mesh. A move brings a tensor to another mesh, or
// to other devices, by messages from device to device. The plan of a move lists
// the sender, the receiver and the region of every message. Only tests use
// moves so far.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_MOVE_H
#define PROTEUS_DIALECT_DIST_MOVE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include <vector>

namespace proteus::dist {

/// A box of elements of a tensor.
struct Region {
  llvm::SmallVector<int64_t> offset;
  llvm::SmallVector<int64_t> sizes;

  int64_t getNumElements() const;
  bool operator==(const Region &other) const {
    return offset == other.offset && sizes == other.sizes;
  }
};

/// One region that a device of the target mesh needs. `source` and
/// `destination` are device ids; they are equal if the device already holds the
/// region.
struct MovePiece {
  int64_t source;
  int64_t destination;
  Region region;
};

/// Links of a device: the number of devices that share a node, and the time in
/// picoseconds that one element takes within a node and between nodes.
struct MoveLinks {
  int64_t devicesPerNode = 8;
  int64_t inNode = 1;
  int64_t betweenNodes = 1;
};

/// The plan of a move.
struct Move {
  /// Regions, sorted by destination, then by offset of the region.
  std::vector<MovePiece> pieces;
  /// Time, in picoseconds, of the sending link that is busy longest. Each
  /// device has one link into its node and one out of it.
  int64_t time = 0;
};

/// Plans the messages that bring a tensor of `shape` from layout `from` on
/// `fromMesh` to layout `to` on `toMesh`. An element that a device already
/// holds is not sent to it; every other element that it needs is sent once. If
/// several replicas can send an element, the load is shared so that the busiest
/// sending link finishes as early as possible. Replicas in the node of the
/// destination are preferred as far as that allows. The load of receiving links
/// is not balanced, because the target layout determines it. Fails with a
/// reason if a layout is partial or uses the axis `micro`.
///
/// If the target replicates along an axis, each of these replicas receives all
/// elements. A cheaper plan moves to a layout in which that axis shards a
/// dimension, followed by an all-gather: every element then arrives once per
/// group.
llvm::FailureOr<Move> planMove(const Mesh &fromMesh, const Layout &from,
                               const Mesh &toMesh, const Layout &to,
                               llvm::ArrayRef<int64_t> shape,
                               const MoveLinks &links, std::string &reason);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_MOVE_H
