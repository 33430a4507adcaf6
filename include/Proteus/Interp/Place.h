//===- Place.h - ranges of a block in its tensor ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank holds a block of a tensor. The block is dense, but the part of a
// dimension that it holds may consist of several ranges of the whole. Elements
// of a block have local indices, which `Place` maps to global indices.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_PLACE_H
#define PROTEUS_INTERP_PLACE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"
#include "Proteus/Interp/Tensor.h"

namespace proteus::interp {

/// Ranges of each dimension of a tensor that a block holds.
class Place {
public:
  Place() = default;
  explicit Place(llvm::ArrayRef<dist::Ranges> ranges)
      : ranges(ranges.begin(), ranges.end()) {}

  int64_t getRank() const { return ranges.size(); }
  llvm::ArrayRef<dist::Range> getRanges(unsigned dim) const {
    return ranges[dim];
  }
  /// Returns the local size of dimension `dim`.
  int64_t getSize(unsigned dim) const;
  /// Returns the global index of the local index `i` of dimension `dim`.
  int64_t toGlobal(unsigned dim, int64_t i) const;
  /// Returns the global index of the element with the local index `index`.
  Shape toGlobal(llvm::ArrayRef<int64_t> index) const;
  /// Returns the local index of the global index `i` of dimension `dim`, or
  /// nullopt if the block does not hold it.
  std::optional<int64_t> toLocal(unsigned dim, int64_t i) const;

  /// Returns the block of `whole` that these ranges select.
  Tensor cut(const Tensor &whole) const;
  /// Writes `block` to the elements of `whole` that these ranges select.
  void paste(const Tensor &block, Tensor &whole) const;

private:
  std::vector<dist::Ranges> ranges;
};

/// Returns `ranges` as text for diagnostics: `[0, 4)`, or `[0, 2) and [6, 8)`.
std::string formatRanges(llvm::ArrayRef<dist::Range> ranges);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_PLACE_H
