//===- Place.h - ranges of a block in its tensor ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank holds a block of a tensor. The block is dense, but along a dimension
// it may hold several ranges of the whole tensor, such as [0, 2) and [6, 8).
// Elements of a block have local indices, which `Place` maps to global indices,
// that is, indices into the whole tensor.
//
// With a flat cut, the rank holds only a part of the block: a range of its
// elements in row-major order, with zeros at the end as padding.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_PLACE_H
#define PROTEUS_INTERP_PLACE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"

namespace proteus::interp {

/// The part of a block that a rank holds with a flat cut.
struct FlatPart {
  /// Number of leading dimensions that are not cut.
  unsigned leading = 0;
  /// Elements of the block, as one list without the leading dimensions.
  dist::Range range;
  /// Number of elements with padding.
  int64_t size = 0;

  bool operator==(const FlatPart &other) const {
    return leading == other.leading && range == other.range &&
           size == other.size;
  }
};

/// Ranges of global indices that a block holds in each dimension of its tensor.
class Place {
public:
  Place() = default;
  explicit Place(llvm::ArrayRef<dist::Ranges> ranges,
                 std::optional<FlatPart> flat = std::nullopt)
      : ranges(ranges.begin(), ranges.end()), flat(flat) {}
  /// Creates the place of the block of `type` at `coordinates`, which has one
  /// entry per axis, `micro` first.
  Place(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> coordinates);

  int64_t getRank() const { return ranges.size(); }
  /// Returns the part of the block that the rank holds, or nullopt if it holds
  /// the whole block.
  const std::optional<FlatPart> &getFlat() const { return flat; }
  llvm::ArrayRef<dist::Range> getRanges(unsigned dim) const {
    return ranges[dim];
  }
  /// Returns the size of the block in dimension `dim`.
  int64_t getSize(unsigned dim) const;
  /// Returns the global index for the local index `i` in dimension `dim`.
  int64_t toGlobal(unsigned dim, int64_t i) const;
  /// Returns the global index of the element with the local index `index`.
  Shape toGlobal(llvm::ArrayRef<int64_t> index) const;
  /// Returns the local index for the global index `i` in dimension `dim`, or
  /// nullopt if the block does not hold `i`.
  std::optional<int64_t> toLocal(unsigned dim, int64_t i) const;

  /// Returns the shard of `whole` at this `Place`.
  Tensor cut(const Tensor &whole) const;
  /// Copies `shard`, without its padding, to this `Place` in `whole`.
  void paste(const Tensor &shard, Tensor &whole) const;

private:
  Shape getBlockShape() const;

  std::vector<dist::Ranges> ranges;
  std::optional<FlatPart> flat;
};

/// Returns `ranges` as text for diagnostics: `[0, 4)`, or `[0, 2) and [6, 8)`.
std::string formatRanges(llvm::ArrayRef<dist::Range> ranges);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_PLACE_H
