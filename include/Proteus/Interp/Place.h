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
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_PLACE_H
#define PROTEUS_INTERP_PLACE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// Ranges of global indices that a block holds in each dimension of its tensor.
class Place {
public:
  Place() = default;
  explicit Place(llvm::ArrayRef<dist::Ranges> ranges)
      : ranges(ranges.begin(), ranges.end()) {}

  int64_t getRank() const { return ranges.size(); }
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

  /// Returns the block of `whole` with the ranges of this `Place`.
  Tensor cut(const Tensor &whole) const;
  /// Copies `block` to the ranges of this `Place` in `whole`.
  void paste(const Tensor &block, Tensor &whole) const;

private:
  std::vector<dist::Ranges> ranges;
};

/// Returns `ranges` as text for diagnostics: `[0, 4)`, or `[0, 2) and [6, 8)`.
std::string formatRanges(llvm::ArrayRef<dist::Range> ranges);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_PLACE_H
