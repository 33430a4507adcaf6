//===- Tensor.h - small dense tensors of numbers ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of the interpreter. All elements, including integers, are stored
// and computed as doubles, whatever the element type is, because the
// interpreter compares programs and not number formats. To get derivatives of a
// model, the interpreter executes it on dual numbers instead.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_TENSOR_H
#define PROTEUS_INTERP_TENSOR_H

#include "Proteus/Interp/Dual.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::interp {

/// Shape of a tensor, or index of an element with one number per dimension.
using Shape = llvm::SmallVector<int64_t, 4>;

/// Returns the number of elements of a tensor of `shape`.
int64_t numElements(llvm::ArrayRef<int64_t> shape);

/// Returns the row-major position of the element at `index` in a tensor of
/// `shape`.
int64_t linearise(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);

/// Returns the index of the element at a row-major position. Inverse of
/// `linearise`.
Shape delinearise(llvm::ArrayRef<int64_t> shape, int64_t position);

/// Calls `visit` with every index of a tensor of `shape`, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// Returns `index` as text for diagnostics, such as `[1, 2]`.
std::string formatIndex(llvm::ArrayRef<int64_t> index);

/// A dense row-major tensor of numbers of type `T`, double or Dual.
template <typename T> class TensorOf {
public:
  /// Creates a scalar of value zero.
  TensorOf() : values(1, T(0)) {}
  explicit TensorOf(llvm::ArrayRef<int64_t> shape, T value = 0)
      : shape(shape), values(numElements(shape), value) {}
  TensorOf(llvm::ArrayRef<int64_t> shape, std::vector<T> values);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  /// Returns the size of a dimension. A negative `dim` counts from the last
  /// dimension, which is -1.
  int64_t getDim(int64_t dim) const {
    return shape[dim < 0 ? dim + getRank() : dim];
  }
  int64_t size() const { return values.size(); }

  /// Returns the element at a row-major position.
  T &operator[](int64_t position) { return values[position]; }
  T operator[](int64_t position) const { return values[position]; }
  /// Returns the element at an index.
  T &at(llvm::ArrayRef<int64_t> index) {
    return values[linearise(shape, index)];
  }
  T at(llvm::ArrayRef<int64_t> index) const {
    return values[linearise(shape, index)];
  }

  /// Returns the block of shape `blockShape` that begins at the index `offset`.
  TensorOf slice(llvm::ArrayRef<int64_t> offset,
                 llvm::ArrayRef<int64_t> blockShape) const;
  /// Returns the block with the indices `first` to `first + count - 1` in
  /// dimension `dim`, and all indices in other dimensions.
  TensorOf slice(unsigned dim, int64_t first, int64_t count) const;
  /// Copies `block` into this tensor, with its first element at the index
  /// `offset`.
  void insert(const TensorOf &block, llvm::ArrayRef<int64_t> offset);
  /// Returns the tensor at index `i` of the leading dimension, without this
  /// dimension.
  TensorOf select(int64_t i) const;
  /// Returns a tensor with another shape that has the elements of this tensor
  /// in the same row-major order.
  TensorOf reshaped(llvm::ArrayRef<int64_t> newShape) const;
  /// Returns the largest absolute value, or NaN if an element is NaN.
  double maxAbs() const;

  /// Returns the stack of tensors of equal shape along a new leading dimension.
  static TensorOf stack(llvm::ArrayRef<TensorOf> slices);
  /// Returns the concatenation of tensors along dimension `dim`.
  static TensorOf concat(llvm::ArrayRef<const TensorOf *> pieces, unsigned dim);

private:
  Shape shape;
  std::vector<T> values;
};

using Tensor = TensorOf<double>;
/// A tensor and its derivative, which has one number per element.
using DualTensor = TensorOf<Dual>;

/// The position at which two tensors of equal shape differ most, and the two
/// elements at this position.
struct Difference {
  /// Row-major position of both elements.
  int64_t position = 0;
  double first = 0;
  double second = 0;
  /// Absolute difference of the elements divided by the scale. The scale is the
  /// largest absolute value in both tensors, or `smallestScale` if that is
  /// larger. Infinite if one of the two elements is NaN or infinite.
  double relative = 0;
};

/// Returns the largest difference of two tensors of equal shape. All
/// differences are divided by the same scale (see `Difference::relative`), not
/// by the elements, because a small element may be the difference of large
/// numbers and have their rounding errors.
Difference largestDifference(const Tensor &first, const Tensor &second,
                             double smallestScale = 0);

/// Returns the largest absolute value of the elements that are not NaN, or 0 if
/// all are NaN.
double largestValue(const Tensor &tensor);

/// Returns number `index` of the random sequence with the seed `seed`, in [0,
/// 1). The number depends only on `seed` and `index`, so a rank can generate
/// the numbers of its shard from global indices.
double randomAt(uint64_t seed, uint64_t index);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_TENSOR_H
