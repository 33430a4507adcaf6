//===- Tensor.h - small dense tensors of doubles ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of the interpreter. All elements, including integers, are stored
// and computed in double precision, independently of the element type, because
// the interpreter compares programs and not number formats.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_TENSOR_H
#define PROTEUS_INTERP_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::interp {

/// Shape of a tensor, or index of an element.
using Shape = llvm::SmallVector<int64_t, 4>;

/// Returns the number of elements of a tensor of `shape`.
int64_t numElements(llvm::ArrayRef<int64_t> shape);

/// Returns the row-major position of `index` in a tensor of `shape`.
int64_t linearise(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);

/// Returns the index at a row-major position. Inverse of `linearise`.
Shape delinearise(llvm::ArrayRef<int64_t> shape, int64_t position);

/// Calls `visit` with every index of `shape`, the last dimension fastest.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// Returns `index` as text for diagnostics, such as `[1, 2]`.
std::string formatIndex(llvm::ArrayRef<int64_t> index);

/// A dense row-major tensor.
class Tensor {
public:
  /// Creates a scalar of value zero.
  Tensor() : values(1, 0.0) {}
  explicit Tensor(llvm::ArrayRef<int64_t> shape, double value = 0.0)
      : shape(shape), values(numElements(shape), value) {}
  Tensor(llvm::ArrayRef<int64_t> shape, std::vector<double> values);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  /// Returns the size of a dimension. A negative `dim` counts from the last
  /// dimension, which is -1.
  int64_t getDim(int64_t dim) const {
    return shape[dim < 0 ? dim + getRank() : dim];
  }
  int64_t size() const { return values.size(); }

  /// Returns the element at a row-major position.
  double &operator[](int64_t position) { return values[position]; }
  double operator[](int64_t position) const { return values[position]; }
  /// Returns the element at an index.
  double &at(llvm::ArrayRef<int64_t> index) {
    return values[linearise(shape, index)];
  }
  double at(llvm::ArrayRef<int64_t> index) const {
    return values[linearise(shape, index)];
  }

  /// Returns the block of `blockShape` that starts at `offset`.
  Tensor slice(llvm::ArrayRef<int64_t> offset,
               llvm::ArrayRef<int64_t> blockShape) const;
  /// Returns the block of the elements `first` to `first + count - 1` of
  /// dimension `dim`.
  Tensor slice(unsigned dim, int64_t first, int64_t count) const;
  /// Writes `block` at `offset`.
  void insert(const Tensor &block, llvm::ArrayRef<int64_t> offset);
  /// Returns slice `i` of the leading dimension, without that dimension.
  Tensor select(int64_t i) const;
  /// Returns a tensor of the same elements with another shape.
  Tensor reshaped(llvm::ArrayRef<int64_t> newShape) const;
  /// Returns the largest absolute value, or NaN if an element is NaN.
  double maxAbs() const;

  /// Returns the stack of tensors of equal shape along a new leading dimension.
  static Tensor stack(llvm::ArrayRef<Tensor> slices);
  /// Returns the concatenation of tensors along dimension `dim`.
  static Tensor concat(llvm::ArrayRef<const Tensor *> pieces, unsigned dim);

private:
  Shape shape;
  std::vector<double> values;
};

/// The elements in which two tensors of equal shape differ most.
struct Difference {
  /// Row-major position of the elements.
  int64_t position = 0;
  double first = 0;
  double second = 0;
  /// Absolute difference divided by the largest absolute value of both tensors,
  /// or by the smallest scale if that is larger. Infinite if one value is NaN.
  double relative = 0;
};

/// Returns the largest difference of two tensors of equal shape. It is relative
/// to the largest value of the tensors, because small values are often
/// differences of large ones.
Difference largestDifference(const Tensor &first, const Tensor &second,
                             double smallestScale = 0);

/// Returns the largest absolute value of the elements that are not NaN, or 0 if
/// there are none.
double largestValue(const Tensor &tensor);

/// Returns the `index`-th number of a random sequence, in [0, 1). It depends on
/// `seed` and `index` alone, so that the shards of a tensor get the same
/// numbers as the whole tensor.
double randomAt(uint64_t seed, uint64_t index);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_TENSOR_H
