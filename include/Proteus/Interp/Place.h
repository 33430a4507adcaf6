//===- Place.h - where a block lies in the whole tensor ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank holds a block of a tensor. It is dense, but what it holds of a
// dimension may be several ranges of the whole: the block knows its elements by
// local index, and the place says which global index that is.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_PLACE_H
#define PROTEUS_INTERP_PLACE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// The ranges of each dimension that a block holds.
class Place {
public:
  Place() = default;
  explicit Place(llvm::ArrayRef<dist::Ranges> ranges)
      : ranges(ranges.begin(), ranges.end()) {}

  int64_t getRank() const { return ranges.size(); }
  llvm::ArrayRef<dist::Range> getRanges(unsigned dim) const {
    return ranges[dim];
  }
  /// Number of elements of dimension `dim`.
  int64_t getSize(unsigned dim) const;
  /// Global index of the local index `i` of dimension `dim`.
  int64_t toGlobal(unsigned dim, int64_t i) const;
  Shape toGlobal(llvm::ArrayRef<int64_t> index) const;
  /// Local index of the global index `i` of dimension `dim`, if it is held.
  std::optional<int64_t> toLocal(unsigned dim, int64_t i) const;

  /// The block of `whole` that lies here.
  Tensor cut(const Tensor &whole) const;
  /// Writes `block`, which lies here, into `whole`.
  void paste(const Tensor &block, Tensor &whole) const;

private:
  std::vector<dist::Ranges> ranges;
};

/// `[0, 4)`, or `[0, 2) and [6, 8)`, for diagnostics.
std::string formatRanges(llvm::ArrayRef<dist::Range> ranges);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_PLACE_H
